"""The kinds of values a setting may have: how the text is read, and in words what is allowed."""

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

from accounts.oidc.app_redirects import MOST_CHARACTERS, is_redirect_uri
from notifications.vapid import public_key_of

_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True)
class Kind:
    """`parse` raises ValueError for what is not allowed; `unset` is the value of a variable without a default."""

    parse: Callable[[str], Any]
    allowed: str
    unset: Any = ""


def check(fits: object) -> None:
    """Raise ValueError where the text does not fit."""
    if not fits:
        raise ValueError


def choice(*words: str) -> Kind:
    """One of the words, in any case."""
    spelled = {word.lower(): word for word in words}

    def parse(text: str) -> str:
        check(text.lower() in spelled)
        return spelled[text.lower()]

    return Kind(parse, f"{', '.join(words[:-1])} or {words[-1]}")


def whole_number(least: int, most: int | None = None) -> Kind:
    def parse(text: str) -> int:
        check(re.fullmatch(r"[0-9]{1,15}", text))
        number = int(text)
        check(least <= number and (most is None or number <= most))
        return number

    return Kind(parse, f"a whole number from {least} {f'to {most}' if most else 'on'}", unset=None)


def list_of(kind: Kind, allowed: str) -> Kind:
    """At least one, separated by commas."""

    def parse(text: str) -> list[Any]:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        check(parts)
        return [kind.parse(part) for part in parts]

    return Kind(parse, f"{allowed}, separated by commas", unset=[])


def _boolean(text: str) -> bool:
    check(text.lower() in _WORDS)
    return _WORDS[text.lower()]


def _number(text: str) -> float:
    check(re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text))
    return float(text)


def split_url(text: str) -> SplitResult:
    """Take a URL apart that has a host and, where it names a port, one that exists."""
    check(text.isprintable() and " " not in text)
    parts = urlsplit(text)
    check(parts.hostname and parts.port != 0)  # `.port` raises ValueError by itself for what is no port
    return parts


def _web_address(text: str) -> str:
    parts = split_url(text)
    check(parts.scheme in {"http", "https"} and _is_host(parts.hostname or ""))
    check("@" not in parts.netloc and not parts.query and not parts.fragment)
    return text


def _origin(text: str) -> str:
    parts = urlsplit(_web_address(text))
    check(parts.path in {"", "/"})
    return f"{parts.scheme}://{parts.netloc}"


def _redirect_uri(text: str) -> str:
    check(is_redirect_uri(text))
    return text


def _person_address(text: str) -> str:
    check("{id}" in text)
    parts = split_url(text.replace("{id}", "0"))
    check(parts.scheme in {"http", "https"} and "@" not in parts.netloc)
    check("{" not in urlsplit(text).netloc)
    return text


def _is_host(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return _HOST.fullmatch(text) is not None
    return True


def _host(text: str) -> str:
    check(_is_host(text))
    return text


def _allowed_host(text: str) -> str:
    bracketed = re.fullmatch(r"\[(.+)\]", text)
    check(text == "*" or (":" not in text and _is_host(text.removeprefix("."))) or bracketed)
    if bracketed:
        ip_address(bracketed[1])
    return text


def _folder(text: str) -> Path:
    return Path(text).expanduser().resolve()


def _authorities(text: str) -> str:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(text)
    except OSError as error:  # of the file, or of TLS: what stands in it is no certificate
        raise ValueError from error
    return text


def _encryption_key(text: str) -> str:
    Fernet(text)
    return text


def _network(text: str) -> str:
    ip_network(text, strict=False)
    return text


def _port(text: str) -> str:
    if text != "*":
        whole_number(1, 65535).parse(text)
    return text


def _zone(text: str) -> str:
    check(text == "UTC" or text in available_timezones() - {"Factory", "localtime"})
    return text


def _sender(text: str) -> str:
    address = parseaddr(text)[1]
    check(text.isprintable() and re.fullmatch(r"[^@\s]+@[^@\s]+", address))
    return text


def _contact(text: str) -> str:
    check((text.startswith("mailto:") and "@" in text) or split_url(text).scheme == "https")
    return text


def _vapid_private_key(text: str) -> str:
    public_key_of(text)
    return text


def _plan_limits(text: str) -> dict[str, dict[str, int | None]]:
    limits = json.loads(text)
    check(isinstance(limits, dict) and limits.keys() <= {"FREE", "PERSONAL", "PRO"})
    for plan in limits.values():
        check(isinstance(plan, dict) and plan.keys() <= {"people", "groups", "reminders", "templates"})
        check(all(limit is None or (type(limit) is int and limit >= 0) for limit in plan.values()))
    return dict(limits)


TEXT = Kind(str, "any text")
BOOLEAN = Kind(_boolean, "true or false (yes or no, on or off, 1 or 0)")
NUMBER = Kind(_number, "a number from 0 on")
HOST = Kind(_host, "a host name or an address, without scheme and port")
WEB_ADDRESS = Kind(_web_address, "an address that begins with http:// or https:// and a host")
PERSON_ADDRESS = Kind(_person_address, "an address that begins with http:// or https:// and holds {id}")
ALLOWED_HOSTS = list_of(
    Kind(_allowed_host, ""), "host names or addresses without scheme and port, .example.org for all below it, * for any"
)
ORIGINS = list_of(Kind(_origin, ""), "origins such as https://app.example.org")
REDIRECT_URIS = list_of(
    Kind(_redirect_uri, ""),
    "redirect URIs of apps, without fragment: http://127.0.0.1/path or http://[::1]/path, a scheme with a period such "
    f"as com.example.app:/path, or https://host/path, each of at most {MOST_CHARACTERS} characters",
)
FOLDER = Kind(_folder, "a folder that can be made and written")
AUTHORITIES = Kind(_authorities, "a file with certificates in PEM form")
ENCRYPTION_KEYS = list_of(
    Kind(_encryption_key, ""), "Fernet keys (docs/running.md shows how to make one), newest first"
)
FERNET_KEY = Kind(_encryption_key, "a Fernet key (docs/running.md shows how to make one)")
NETWORKS = list_of(Kind(_network, ""), "networks such as 127.0.0.0/8")
PORTS = list_of(Kind(_port, ""), "port numbers, or * for any")
TIME_ZONE = Kind(_zone, "the name of an IANA time zone, such as Europe/Oslo")
SENDER = Kind(_sender, "an address of mail, also with a name before it: Contacts <contacts@example.org>")
CONTACT = Kind(_contact, "a mailto: or https: address")
VAPID_PUBLIC_KEY = Kind(str, "the public half of VAPID_PRIVATE_KEY, or neither of the two")
VAPID_PRIVATE_KEY = Kind(_vapid_private_key, "a P-256 key: base64url of the number or of DER, or PEM")
PLAN_LIMITS = Kind(
    _plan_limits,
    "a JSON object of FREE, PERSONAL, PRO, each an object of people, groups, reminders, templates: "
    "a whole number from 0 on, or null for no limit",
)
