"""Converts a request from ASGI (the scope) to WSGI (the environ, PEP 3333)."""

import re
import sys
from typing import Any
from urllib.parse import unquote_to_bytes

from contacts_project.kernel.api.request_log import RECEIVED_AT
from contacts_project.server.bodies import Body

Scope = dict[str, Any]
Environ = dict[str, Any]
"""What a WSGI application is called with (PEP 3333)."""
# They describe how the body was sent; the application gets the body complete, and its length as CONTENT_LENGTH.
_FRAMING_HEADERS = {"content-length", "transfer-encoding", "expect"}
_ABSOLUTE_FORM = re.compile(rb"https?://([^/?#]+)(/.*)?", re.IGNORECASE | re.DOTALL)


def make_environ(scope: Scope, body: Body, received_at: float) -> Environ:
    """Return the environ. REMOTE_ADDR is the address of the peer; no header changes it."""
    server, client = scope.get("server") or ("localhost", None), scope.get("client") or ("", 0)
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
        "wsgi.input": body.file,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        RECEIVED_AT: received_at,
    }
    for raw_name, raw_value in scope["headers"]:
        _add_header(meta, raw_name.decode("latin1"), raw_value.decode("latin1"))
    return meta


def in_origin_form(scope: Scope) -> Scope:
    """The scope of a request whose target is a path. A client may also send a URL (`GET http://host/path`), as to a
    proxy: then its host stands, not that of the header (RFC 9112, 3.2.2)."""
    found = _ABSOLUTE_FORM.fullmatch(scope["raw_path"])
    if found is None:
        return scope
    host, raw_path = found[1], found[2] or b"/"
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    path = unquote_to_bytes(raw_path).decode("utf-8", "replace")
    return {**scope, "path": path, "raw_path": raw_path, "headers": [(b"host", host), *headers]}


def _add_header(meta: Environ, name: str, value: str) -> None:
    # WSGI turns hyphens into underscores. So X_Forwarded_For, which proxies let pass, would look like X-Forwarded-For,
    # which only proxies may set.
    if "_" in name or name in _FRAMING_HEADERS:
        return
    key = "CONTENT_TYPE" if name == "content-type" else f"HTTP_{name.upper().replace('-', '_')}"
    # Repeated fields are joined (RFC 9110 5.3), cookies by a semicolon (RFC 6265 4.2.1).
    separator = "; " if name == "cookie" else ","
    meta[key] = f"{meta[key]}{separator}{value}" if key in meta else value
