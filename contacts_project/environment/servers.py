"""The settings that name a server by URL. django-environ takes them apart; what it lets through unseen is refused."""

import re
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import environ

from contacts_project.environment.kinds import Kind, check, split_url

_MAIL = {"smtp", "smtps", "smtp+tls", "smtp+ssl"}


def _database(text: str) -> dict[str, Any]:
    parts = urlsplit(text)
    check(parts.scheme in {"postgres", "postgresql", "sqlite"} and parts.port != 0)
    check(not parts.netloc if parts.scheme == "sqlite" else parts.path.strip("/"))
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    ours = {name: query.pop(name) for name in ("pool", "pooler") if name in query}
    check(not ours or parts.scheme != "sqlite")
    config: dict[str, Any] = environ.Env.db_url_config(
        parts._replace(query=urlencode(query)).geturl() if ours else text
    )
    if "pool" in ours:
        config.setdefault("OPTIONS", {})["pool"] = _pool(ours["pool"])
    if "pooler" in ours:
        # A transaction at a time of somebody else's server connection: a cursor would be left behind on it.
        check(ours["pooler"] == "transaction")
        config["DISABLE_SERVER_SIDE_CURSORS"] = True
    return config


def _pool(text: str) -> dict[str, Any]:
    """`4..20`: connections that a process keeps open, and has at most. Who finds none free waits five seconds."""
    found = re.fullmatch(r"(\d{1,4})\.\.(\d{1,4})", text)
    check(found is not None and int(found[2]) >= max(1, int(found[1])))
    assert found  # noqa: S101 - as just checked
    return {"min_size": int(found[1]), "max_size": int(found[2]), "timeout": 5}


def _redis(text: str) -> str:
    parts = split_url(text)
    check(parts.scheme in {"redis", "rediss"})
    check(parts.path in {"", "/"} or parts.path[1:].isdecimal())
    return text


def _mail(text: str) -> dict[str, Any]:
    text = "consolemail://" if text == "console" else text
    if urlsplit(text).scheme in _MAIL:
        check(unquote(split_url(text).hostname or ""))
    else:
        check(text in {"consolemail://", "dummymail://"} or text.startswith("filemail:///"))
    config: dict[str, Any] = environ.Env.email_url_config(text)
    return config


def _object_store(text: str) -> dict[str, str]:
    parts = split_url(text)
    check(parts.scheme == "s3" and parts.username and parts.password and not parts.fragment)
    bucket = parts.path.strip("/")
    check(re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", bucket))
    query = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    check(query.keys() <= {"region", "scheme"} and query.get("scheme", "https") in {"http", "https"})
    return {
        "access_key": unquote(parts.username or ""),
        "secret_key": unquote(parts.password or ""),
        "host": parts.netloc.rpartition("@")[2].lower(),
        "bucket_name": bucket,
        "region_name": query.get("region") or "us-east-1",
        "scheme": query.get("scheme", ""),
    }


OBJECT_STORE = Kind(
    _object_store,
    "s3://key:secret@host:port/bucket?region=, over https, or plain http inside OUTBOUND_ALLOWED_NETWORKS (special "
    "characters percent-encoded)",
    unset=None,
)
DATABASE = Kind(
    _database,
    "postgres://user:password@host:port/name, with ?pool=4..20 and "
    "&pooler=transaction if need be (docs/scale.md), or sqlite:////path/of/a/file (special characters percent-encoded)",
    unset=None,
)
REDIS = Kind(_redis, "redis://host:port/0, or rediss:// for TLS")
MAIL = Kind(
    _mail,
    "console, smtp://host:port, smtp+tls://user:password@host:587 or smtp+ssl://user:password@host:465 "
    "(special characters percent-encoded)",
)
