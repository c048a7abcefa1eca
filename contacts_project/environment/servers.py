"""The settings that are URLs of servers. django-environ parses them; mistakes that it would ignore are refused here."""

import re
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import environ

from contacts_project.environment.kinds import Kind, require, split_url

_SMTP_SCHEMES = {"smtp", "smtps", "smtp+tls", "smtp+ssl"}


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


OBJECT_STORE = Kind(
    _parse_object_store_url,
    "s3://key:secret@host:port/bucket?region=, over https, or plain http inside OUTBOUND_ALLOWED_NETWORKS (special "
    "characters percent-encoded)",
    unset=None,
)
DATABASE = Kind(
    _parse_database_url,
    "postgres://user:password@host:port/name, with ?pool=4..20 and "
    "&pooler=transaction if need be (docs/scale.md), or sqlite:////path/of/a/file (special characters percent-encoded)",
    unset=None,
)
REDIS = Kind(_parse_redis_url, "redis://host:port/0, or rediss:// for TLS")
MAIL = Kind(
    _parse_mail_url,
    "console, smtp://host:port, smtp+tls://user:password@host:587 or smtp+ssl://user:password@host:465 "
    "(special characters percent-encoded)",
)
