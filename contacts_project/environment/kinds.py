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
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit
from zoneinfo import available_timezones

import environ
from cryptography.fernet import Fernet

from accounts.oidc.app_redirects import MAX_REDIRECT_URI_LENGTH, is_redirect_uri
from contacts_project.kernel.text_forms import ascii_domain
from notifications.vapid import public_key_of

_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_SMTP_SCHEMES = {"smtp", "smtps", "smtp+tls", "smtp+ssl"}
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
class SettingKind:
    """`parse` raises ValueError for a value that is not allowed. Without value and default the setting is `unset`."""

    parse: Callable[[str], Any]
    allowed: str
    unset: Any = ""


def require(condition: object) -> None:
    """Raise ValueError unless the condition holds."""
    if not condition:
        raise ValueError


def choice(*words: str) -> SettingKind:
    """Return the kind of a setting that is one of the words, in upper or lower case."""
    by_lower_case = {word.lower(): word for word in words}

    def parse(text: str) -> str:
        require(text.lower() in by_lower_case)
        return by_lower_case[text.lower()]

    return SettingKind(parse, f"{', '.join(words[:-1])} or {words[-1]}")


def whole_number(minimum: int, maximum: int | None = None) -> SettingKind:
    def parse(text: str) -> int:
        require(re.fullmatch(r"[0-9]{1,15}", text))
        number = int(text)
        require(minimum <= number and (maximum is None or number <= maximum))
        return number

    return SettingKind(parse, f"a whole number from {minimum} {f'to {maximum}' if maximum else 'on'}", unset=None)


def list_of(kind: SettingKind, allowed: str) -> SettingKind:
    """Return the kind of a list with at least one entry, separated by commas."""

    def parse(text: str) -> list[Any]:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        require(parts)
        return [kind.parse(part) for part in parts]

    return SettingKind(parse, f"{allowed}, separated by commas", unset=[])


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


# URLs of servers. django-environ parses them; mistakes that it would ignore are refused here.


def _parse_database_url(text: str) -> dict[str, Any]:
    parts = urlsplit(text)
    require(parts.scheme in {"postgres", "postgresql", "sqlite"} and parts.port != 0)
    require(not parts.netloc if parts.scheme == "sqlite" else parts.path.strip("/"))
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    # django-environ would pass them to the driver, which does not know them.
    own_options = {name: query.pop(name) for name in ("pool", "pooler") if name in query}
    require(not own_options or parts.scheme != "sqlite")
    config: dict[str, Any] = environ.Env.db_url_config(
        parts._replace(query=urlencode(query)).geturl() if own_options else text
    )
    if "pool" in own_options:
        config.setdefault("OPTIONS", {})["pool"] = _parse_pool(own_options["pool"])
    if "pooler" in own_options:
        # Each transaction may use another connection to the server: a server-side cursor would not be found again.
        require(own_options["pooler"] == "transaction")
        config["DISABLE_SERVER_SIDE_CURSORS"] = True
    return config


def _parse_pool(text: str) -> dict[str, object]:
    """Parse `4..20`: how many connections a process keeps at least and at most. A thread waits 5 s for a free one."""
    found = re.fullmatch(r"(\d{1,4})\.\.(\d{1,4})", text)
    if found is None or int(found[2]) < max(1, int(found[1])):
        raise ValueError
    return {"min_size": int(found[1]), "max_size": int(found[2]), "timeout": 5}


def _parse_redis_url(text: str) -> str:
    parts = split_url(text)
    require(parts.scheme in {"redis", "rediss"})
    require(parts.path in {"", "/"} or parts.path[1:].isdecimal())
    return text


def _parse_mail_url(text: str) -> dict[str, object]:
    text = "consolemail://" if text == "console" else text
    if urlsplit(text).scheme in _SMTP_SCHEMES:
        require(unquote(split_url(text).hostname or ""))
    else:
        require(text in {"consolemail://", "dummymail://"} or text.startswith("filemail:///"))
    config: dict[str, Any] = environ.Env.email_url_config(text)
    return config


def _parse_object_store_url(text: str) -> dict[str, str]:
    parts = split_url(text)
    require(parts.scheme == "s3" and parts.username and parts.password and not parts.fragment)
    bucket = parts.path.strip("/")
    require(re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", bucket))
    query = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    require(query.keys() <= {"region", "scheme"} and query.get("scheme", "https") in {"http", "https"})
    return {
        "access_key": unquote(parts.username or ""),
        "secret_key": unquote(parts.password or ""),
        "host": parts.netloc.rpartition("@")[2].lower(),
        "bucket_name": bucket,
        "region_name": query.get("region") or "us-east-1",
        "scheme": query.get("scheme", ""),
    }


TEXT = SettingKind(str, "any text")
BOOLEAN = SettingKind(_parse_boolean, "true or false (yes or no, on or off, 1 or 0)")
NUMBER = SettingKind(_parse_number, "a number from 0 on")
HOST = SettingKind(_parse_host, "a host name or an address, without scheme and port")
WEB_URL = SettingKind(_parse_web_url, "an address that begins with http:// or https:// and a host")
BASE_URL = SettingKind(_parse_base_url, "an address that begins with http:// or https:// and a host, without a path")
PERSON_URL = SettingKind(_parse_person_url, "an address that begins with http:// or https:// and holds {id}")
TILES_URL = SettingKind(
    _parse_tiles_url, "an address that begins with http:// or https:// and holds {z}, {x} and {y} behind its host"
)
ALLOWED_HOSTS = list_of(
    SettingKind(_parse_allowed_host, ""),
    "host names or addresses without scheme and port, .example.org for all below it, * for any",
)
ORIGINS = list_of(SettingKind(_parse_origin, ""), "origins such as https://app.example.org")
REDIRECT_URIS = list_of(
    SettingKind(_parse_redirect_uri, ""),
    "redirect URIs of apps, without fragment: http://127.0.0.1/path or http://[::1]/path, a scheme with a period such "
    f"as com.example.app:/path, or https://host/path, each of at most {MAX_REDIRECT_URI_LENGTH} characters",
)
FOLDER = SettingKind(_parse_folder, "a folder that can be made and written")
CA_FILE = SettingKind(_parse_ca_file, "a file with certificates in PEM form")
ENCRYPTION_KEYS = list_of(
    SettingKind(_parse_encryption_key, ""), "Fernet keys (docs/running.md shows how to make one), newest first"
)
FERNET_KEY = SettingKind(_parse_encryption_key, "a Fernet key (docs/running.md shows how to make one)")
NETWORKS = list_of(SettingKind(_parse_network, ""), "networks such as 127.0.0.0/8")
PORTS = list_of(SettingKind(_parse_port, ""), "port numbers, or * for any")
TIME_ZONE = SettingKind(_parse_time_zone, "the name of an IANA time zone, such as Europe/Oslo")
SENDER = SettingKind(_parse_sender, "an address of mail, also with a name before it: Contacts <contacts@example.org>")
CONTACT_URL = SettingKind(_parse_contact_url, "a mailto: or https: address")
VAPID_PUBLIC_KEY = SettingKind(str, "the public half of VAPID_PRIVATE_KEY, or neither of the two")
VAPID_PRIVATE_KEY = SettingKind(_parse_vapid_private_key, "a P-256 key: base64url of the number or of DER, or PEM")
PLAN_LIMITS = SettingKind(
    _parse_plan_limits,
    "a JSON object of FREE, PERSONAL, PRO, each an object of people, groups, reminders, templates: "
    "a whole number from 0 on, or null for no limit",
)
OBJECT_STORE = SettingKind(
    _parse_object_store_url,
    "s3://key:secret@host:port/bucket?region=, over https, or plain http inside OUTBOUND_ALLOWED_NETWORKS (special "
    "characters percent-encoded)",
    unset=None,
)
DATABASE = SettingKind(
    _parse_database_url,
    "postgres://user:password@host:port/name, with ?pool=4..20 and "
    "&pooler=transaction if need be (docs/scale.md), or sqlite:////path/of/a/file (special characters percent-encoded)",
    unset=None,
)
REDIS = SettingKind(_parse_redis_url, "redis://host:port/0, or rediss:// for TLS")
MAIL = SettingKind(
    _parse_mail_url,
    "console, smtp://host:port, smtp+tls://user:password@host:587 or smtp+ssl://user:password@host:465 "
    "(special characters percent-encoded)",
)
