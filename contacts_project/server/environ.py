"""A request of the event loop (ASGI's scope) as the WSGI application wants it (PEP 3333)."""

import sys
from typing import Any
from urllib.parse import unquote_to_bytes

from contacts_project.kernel.api.middleware import RECEIVED_AT
from contacts_project.server.bodies import Body

Scope = dict[str, Any]
# What they say is known already, and not true any more of a body that was received whole.
_FRAMING = {"content-length", "transfer-encoding", "expect"}


def caller_of(scope: Scope) -> object:
    """Who asks: by credential, else by address."""
    headers = dict(scope["headers"])
    return headers.get(b"authorization") or headers.get(b"cookie") or (scope.get("client") or ("",))[0]


def make_environ(scope: Scope, body: Body, received_at: float) -> dict[str, Any]:
    """The environ; REMOTE_ADDR is the peer's address, whatever the request says."""
    server, client = scope.get("server") or ("localhost", None), scope.get("client") or ("", 0)
    body.spool.file.seek(0)
    meta = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin1"),
        "QUERY_STRING": scope["query_string"].decode("latin1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or 80),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1]),
        "CONTENT_LENGTH": str(body.length),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body.spool.file,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        RECEIVED_AT: received_at,
    }
    for raw_name, raw_value in scope["headers"]:
        _add(meta, raw_name.decode("latin1"), raw_value.decode("latin1"))
    return meta


def _add(meta: dict[str, Any], name: str, value: str) -> None:
    # X_Forwarded_For would pass for X-Forwarded-For, which only proxies write.
    if "_" in name or name in _FRAMING:
        return
    key = "CONTENT_TYPE" if name == "content-type" else f"HTTP_{name.upper().replace('-', '_')}"
    separator = "; " if name == "cookie" else ","
    meta[key] = f"{meta[key]}{separator}{value}" if key in meta else value
