"""SRV and TXT records of a domain that name its CardDAV servers (RFC 6764, sections 3 and 4)."""

import logging
from dataclasses import dataclass
from typing import Any

from contacts_project.kernel.external_waits import external_wait

log = logging.getLogger(__name__)
DNS_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Service:
    """A server named by the domain, always over https; `has_path` if a TXT record has its path."""

    url: str
    has_path: bool


def find_services(domain: str) -> list[Service]:
    """The servers by priority; empty if the domain names none or DNS does not answer in time.

    The URLs are untrusted input: the outbound policy decides whether they may be reached.
    """
    name = f"_carddavs._tcp.{domain}"
    records = sorted(_query(name, "SRV"), key=lambda record: (record.priority, -record.weight))
    targets = [(str(record.target).rstrip("."), int(record.port)) for record in records]
    targets = [(host, port) for host, port in targets if host]  # a target of "." means: no such service (RFC 2782)
    path = ""
    if targets:
        texts = [b"".join(record.strings).decode("utf-8", "replace") for record in _query(name, "TXT")]
        path = next((text.removeprefix("path=") for text in texts if text.startswith("path=/")), "")
    return [Service(f"https://{host}:{port}{path or '/'}", bool(path)) for host, port in targets]


def _query(name: str, kind: str) -> list[Any]:
    import dns.exception  # noqa: PLC0415 - few processes ever need a resolver
    import dns.resolver  # noqa: PLC0415 - as above

    try:
        with external_wait():
            return list(dns.resolver.resolve(name, kind, lifetime=DNS_SECONDS))
    except (dns.exception.DNSException, OSError, ValueError) as error:
        log.info("no service record", extra={"kind": kind, "reason": type(error).__name__})
        return []
