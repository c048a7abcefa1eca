"""SRV and TXT records of a domain: where its address books are (RFC 6764, section 3 and 4)."""

import logging
from dataclasses import dataclass
from typing import Any

from contacts_project.kernel.external_waits import external_wait

log = logging.getLogger(__name__)
SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Service:
    """A server that the domain names, always over https; `has_path` where the domain says the path, too."""

    url: str
    has_path: bool


def find_services(domain: str) -> list[Service]:
    """The servers, the best first; none where the domain names none, or where DNS does not answer in time.

    What is found is a URL like any other: whether it may be reached is for the outbound policy to say.
    """
    name = f"_carddavs._tcp.{domain}"
    records = sorted(_ask(name, "SRV"), key=lambda record: (record.priority, -record.weight))
    targets = [(str(record.target).rstrip("."), int(record.port)) for record in records]
    targets = [(host, port) for host, port in targets if host]  # a target of "." is a no
    path = next((text[len("path=") :] for text in _texts(name) if text.startswith("path=/")), "") if targets else ""
    return [Service(f"https://{host}:{port}{path or '/'}", bool(path)) for host, port in targets]


def _texts(name: str) -> list[str]:
    return [b"".join(record.strings).decode("utf-8", "replace") for record in _ask(name, "TXT")]


def _ask(name: str, kind: str) -> list[Any]:
    import dns.exception  # noqa: PLC0415 - a resolver of its own, which few processes ever ask
    import dns.resolver  # noqa: PLC0415 - as above

    try:
        with external_wait():
            return list(dns.resolver.resolve(name, kind, lifetime=SECONDS))
    except (dns.exception.DNSException, OSError, ValueError) as error:
        log.info("no service record", extra={"kind": kind, "reason": type(error).__name__})
        return []
