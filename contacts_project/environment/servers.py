"""The settings that name a server by URL. django-environ takes them apart; what it lets through unseen is refused."""

from typing import Any
from urllib.parse import unquote, urlsplit

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
