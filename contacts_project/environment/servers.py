"""The settings that name a server by URL. django-environ takes them apart; what it lets through unseen is refused."""

import re
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import environ

from contacts_project.environment.kinds import Kind, check, split_url

_MAIL = {"smtp", "smtps", "smtp+tls", "smtp+ssl"}


def _database(text: str) -> dict[str, Any]:
    parts = urlsplit(text)
    check(parts.scheme in {"postgres", "postgresql", "sqlite"} and parts.port != 0)
    check(not parts.netloc if parts.scheme == "sqlite" else parts.path.strip("/"))
    config: dict[str, Any] = environ.Env.db_url_config(text)
    return config


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
    "postgres://user:password@host:port/name or sqlite:////path/of/a/file (special characters percent-encoded)",
    unset=None,
)
REDIS = Kind(_redis, "redis://host:port/0, or rediss:// for TLS")
MAIL = Kind(
    _mail,
    "console, smtp://host:port, smtp+tls://user:password@host:587 or smtp+ssl://user:password@host:465 "
    "(special characters percent-encoded)",
)
