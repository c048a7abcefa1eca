"""The kinds of values that settings have: how the text is parsed, and a description of what is allowed."""

import json
import re
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parseaddr
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit
from zoneinfo import available_timezones

from cryptography.fernet import Fernet

from accounts.oidc.app_redirects import MAX_REDIRECT_URI_LENGTH, is_redirect_uri
from contacts_project.kernel.text_forms import ascii_domain
from notifications.vapid import public_key_of

_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_BOOLEAN_WORDS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


@dataclass(frozen=True)
class Kind:
    """`parse` raises ValueError for a value that is not allowed. Without value and default the setting is `unset`."""

    parse: Callable[[str], Any]
    allowed: str
    unset: Any = ""


def require(condition: object) -> None:
    """Raise ValueError unless the condition holds."""
    if not condition:
        raise ValueError


def choice(*words: str) -> Kind:
    """Return the kind of a setting that is one of the words, in upper or lower case."""
    by_lower_case = {word.lower(): word for word in words}

    def parse(text: str) -> str:
        require(text.lower() in by_lower_case)
        return by_lower_case[text.lower()]

    return Kind(parse, f"{', '.join(words[:-1])} or {words[-1]}")


def whole_number(minimum: int, maximum: int | None = None) -> Kind:
    def parse(text: str) -> int:
        require(re.fullmatch(r"[0-9]{1,15}", text))
        number = int(text)
        require(minimum <= number and (maximum is None or number <= maximum))
        return number

    return Kind(parse, f"a whole number from {minimum} {f'to {maximum}' if maximum else 'on'}", unset=None)


def list_of(kind: Kind, allowed: str) -> Kind:
    """Return the kind of a list with at least one entry, separated by commas."""

    def parse(text: str) -> list[Any]:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        require(parts)
        return [kind.parse(part) for part in parts]

    return Kind(parse, f"{allowed}, separated by commas", unset=[])


def _parse_boolean(text: str) -> bool:
    require(text.lower() in _BOOLEAN_WORDS)
    return _BOOLEAN_WORDS[text.lower()]


def _parse_number(text: str) -> float:
    require(re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text))
    return float(text)


def split_url(text: str) -> SplitResult:
    """Split a URL. Raises ValueError if it has no host or an impossible port."""
    require(text.isprintable() and " " not in text)
    parts = urlsplit(text)
    require(parts.hostname and parts.port != 0)  # `.port` itself raises ValueError for other impossible ports
    return parts


def _parse_web_url(text: str) -> str:
    parts = split_url(text)
    require(parts.scheme in {"http", "https"} and _is_host(parts.hostname or ""))
    require("@" not in parts.netloc and not parts.query and not parts.fragment)
    return text


def _parse_origin(text: str) -> str:
    parts = urlsplit(_parse_web_url(text))
    require(parts.path in {"", "/"})
    return f"{parts.scheme}://{parts.netloc}"


def _parse_base_url(text: str) -> str:
    # Routes, static files and cookies are those of the whole host: below a path, links would lead nowhere.
    require(urlsplit(_parse_web_url(text)).path in {"", "/"})
    return text


def _parse_redirect_uri(text: str) -> str:
    require(is_redirect_uri(text))
    return text


def _parse_person_url(text: str) -> str:
    require("{id}" in text)
    # With a number in place of {id}, since braces are not allowed in a URL; the id must not decide the host.
    parts = split_url(text.replace("{id}", "0"))
    require(parts.scheme in {"http", "https"} and "@" not in parts.netloc)
    require("{" not in urlsplit(text).netloc)
    return text


def _parse_tiles_url(text: str) -> str:
    require(sorted(re.findall(r"\{[^}]*\}?", text)) == ["{x}", "{y}", "{z}"])
    # With numbers in place of {z}, {x} and {y}; the origin, which is in the policy of pages, must not depend on them.
    parts = split_url(re.sub(r"\{[xyz]\}", "0", text))
    require(parts.scheme in {"http", "https"} and _is_host(parts.hostname or ""))
    require("@" not in parts.netloc and not parts.fragment and "{" not in urlsplit(text).netloc)
    return text


def _is_host(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return _HOST_NAME.fullmatch(text) is not None
    return True


def _parse_host(text: str) -> str:
    require(_is_host(text))
    return text


def _parse_allowed_host(text: str) -> str:
    bracketed = re.fullmatch(r"\[(.+)\]", text)
    require(text == "*" or (":" not in text and _is_host(text.removeprefix("."))) or bracketed)
    if bracketed:
        ip_address(bracketed[1])
    return text


def _parse_folder(text: str) -> Path:
    return Path(text).expanduser().resolve()


def _parse_ca_file(text: str) -> str:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(text)
    except OSError as error:  # unreadable, or (ssl.SSLError) without a certificate
        raise ValueError from error
    return text


def _parse_encryption_key(text: str) -> str:
    Fernet(text)
    return text


def _parse_network(text: str) -> str:
    ip_network(text, strict=False)
    return text


def _parse_port(text: str) -> str:
    if text != "*":
        whole_number(1, 65535).parse(text)
    return text


def _parse_time_zone(text: str) -> str:
    require(text == "UTC" or text in available_timezones() - {"Factory", "localtime"})
    return text


def _parse_sender(text: str) -> str:
    address = parseaddr(text)[1]
    require(text.isprintable() and re.fullmatch(r"[^@\s]+@[^@\s]+", address))
    domain = address.rpartition("@")[2]
    # Django would encode the domain by IDNA 2003, which makes another one of some.
    return text.replace(f"@{domain}", f"@{ascii_domain(domain)}")


def _parse_contact_url(text: str) -> str:
    require((text.startswith("mailto:") and "@" in text) or split_url(text).scheme == "https")
    return text


def _parse_vapid_private_key(text: str) -> str:
    public_key_of(text)
    return text


def _parse_plan_limits(text: str) -> dict[str, dict[str, int | None]]:
    limits = json.loads(text)
    require(isinstance(limits, dict) and limits.keys() <= {"FREE", "PERSONAL", "PRO"})
    for plan in limits.values():
        require(isinstance(plan, dict) and plan.keys() <= {"people", "groups", "reminders", "templates"})
        require(all(limit is None or (type(limit) is int and limit >= 0) for limit in plan.values()))
    return dict(limits)


TEXT = Kind(str, "any text")
BOOLEAN = Kind(_parse_boolean, "true or false (yes or no, on or off, 1 or 0)")
NUMBER = Kind(_parse_number, "a number from 0 on")
HOST = Kind(_parse_host, "a host name or an address, without scheme and port")
WEB_URL = Kind(_parse_web_url, "an address that begins with http:// or https:// and a host")
BASE_URL = Kind(_parse_base_url, "an address that begins with http:// or https:// and a host, without a path")
PERSON_URL = Kind(_parse_person_url, "an address that begins with http:// or https:// and holds {id}")
TILES_URL = Kind(
    _parse_tiles_url, "an address that begins with http:// or https:// and holds {z}, {x} and {y} behind its host"
)
ALLOWED_HOSTS = list_of(
    Kind(_parse_allowed_host, ""),
    "host names or addresses without scheme and port, .example.org for all below it, * for any",
)
ORIGINS = list_of(Kind(_parse_origin, ""), "origins such as https://app.example.org")
REDIRECT_URIS = list_of(
    Kind(_parse_redirect_uri, ""),
    "redirect URIs of apps, without fragment: http://127.0.0.1/path or http://[::1]/path, a scheme with a period such "
    f"as com.example.app:/path, or https://host/path, each of at most {MAX_REDIRECT_URI_LENGTH} characters",
)
FOLDER = Kind(_parse_folder, "a folder that can be made and written")
CA_FILE = Kind(_parse_ca_file, "a file with certificates in PEM form")
ENCRYPTION_KEYS = list_of(
    Kind(_parse_encryption_key, ""), "Fernet keys (docs/running.md shows how to make one), newest first"
)
FERNET_KEY = Kind(_parse_encryption_key, "a Fernet key (docs/running.md shows how to make one)")
NETWORKS = list_of(Kind(_parse_network, ""), "networks such as 127.0.0.0/8")
PORTS = list_of(Kind(_parse_port, ""), "port numbers, or * for any")
TIME_ZONE = Kind(_parse_time_zone, "the name of an IANA time zone, such as Europe/Oslo")
SENDER = Kind(_parse_sender, "an address of mail, also with a name before it: Contacts <contacts@example.org>")
CONTACT_URL = Kind(_parse_contact_url, "a mailto: or https: address")
VAPID_PUBLIC_KEY = Kind(str, "the public half of VAPID_PRIVATE_KEY, or neither of the two")
VAPID_PRIVATE_KEY = Kind(_parse_vapid_private_key, "a P-256 key: base64url of the number or of DER, or PEM")
PLAN_LIMITS = Kind(
    _parse_plan_limits,
    "a JSON object of FREE, PERSONAL, PRO, each an object of people, groups, reminders, templates: "
    "a whole number from 0 on, or null for no limit",
)
