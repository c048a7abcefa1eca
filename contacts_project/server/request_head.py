"""The head of a request: who sends it, how long its body is, and what a WSGI application gets of it."""

import binascii
import re
import sys
from base64 import b64decode
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes
from uuid import UUID

from django.conf import settings
from django.http import parse_cookie
from django.utils import timezone

from accounts.models.sign_in import SESSION_KEY_PATTERN
from accounts.services.sessions import owner_of_session
from accounts.services.tokens import owner_of_token
from contacts_project.kernel.api.asgi_responses import InternalRequest
from contacts_project.kernel.api.body_limit import max_kept_body_bytes
from contacts_project.kernel.api.request_log import RECEIVED_AT
from contacts_project.kernel.client_address import address_behind_proxies, address_block
from contacts_project.server.bodies import Body
from contacts_project.server.refusals import Headers, RefusedError

Scope = dict[str, Any]
Environ = dict[str, Any]
"""What a WSGI application is called with (PEP 3333)."""
# They describe how the body was sent; the application gets the body complete, and its length as CONTENT_LENGTH.
_FRAMING_HEADERS = {"content-length", "transfer-encoding", "expect"}
_ABSOLUTE_FORM = re.compile(rb"https?://([^/?#]+)(/.*)?", re.IGNORECASE | re.DOTALL)
MAX_HEADER_BYTES = 32 * 1024  # with the request target
# The shape of API tokens. Anything else, and what is no key of a session, authenticates nobody.
_TOKEN = re.compile(rb"cnt_[0-9A-Za-z]{46}")


class Caller(NamedTuple):
    """The holder of a credential, or else everybody at an address. Callers with the same credential are one.

    The credential may be made up: whether it is known, only the application finds out.
    """

    kind: str
    value: bytes | str


@dataclass(frozen=True, slots=True)
class QueueKey:
    """Requests with the same key are served in order: the same caller asks for the same resource."""

    caller: object
    path: bytes  # with the method
    query: bytes = b""
    address: str = ""  # empty if it is unknown, and then not limited


def caller_of(scope: Scope) -> Caller:
    """Identify the caller by API token or session, however the header is spelled, else by address."""
    headers = _join_headers(scope)
    scheme, _, text = headers.get(b"authorization", b"").partition(b" ")
    if token := _token_in(scheme.lower(), text.strip()):
        return Caller("token", token)
    if scheme.lower() == b"bearer":  # as the application reads it: with this header, the cookie is ignored
        return Caller("address", address_of(scope))
    key = parse_cookie(headers.get(b"cookie", b"").decode("latin1")).get(settings.SESSION_COOKIE_NAME, "")
    return Caller("session", key) if SESSION_KEY_PATTERN.fullmatch(key) else Caller("address", address_of(scope))


def find_account(caller: Caller) -> UUID | None:
    """The account whose credential it is; None if the service does not know it. Asks the database."""
    now, value = timezone.now(), caller.value
    if isinstance(value, bytes):
        return owner_of_token(text=value.decode(), now=now)
    return owner_of_session(session_key=value, now=now) if caller.kind == "session" else None


def address_of(scope: Scope) -> str:
    """The address that the request comes from behind trusted proxies (for IPv6 its /64); empty if it is unknown."""
    peer = (scope.get("client") or ("",))[0]
    forwarded = _join_headers(scope).get(b"x-forwarded-for", b"").decode("latin1")
    return address_block(address_behind_proxies(forwarded, peer))


def _token_in(scheme: bytes, text: bytes) -> bytes | None:
    """The API token of a Bearer header, or of a Basic one, where it is the password."""
    if scheme == b"basic":
        try:
            text = b64decode(text, validate=True).partition(b":")[2]
        except binascii.Error:
            return None
    elif scheme != b"bearer":
        return None
    return text if _TOKEN.fullmatch(text) else None


def _join_headers(scope: Scope) -> dict[bytes, bytes]:
    """The headers by name; repeated ones are joined as the application gets them."""
    found: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name, []).append(value)
    return {name: (b"; " if name == b"cookie" else b",").join(values) for name, values in found.items()}


def queue_key(scope: Scope) -> QueueKey:
    """The method is part of the path: a write does not wait for the caller's reads of the same path."""
    # Decoded, as the application resolves it: an escaped letter must not make another path.
    path = f"{scope['method']} {scope['path']}".encode()
    return QueueKey(caller_of(scope), path, scope["query_string"], address_of(scope))


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


def read_head(scope: Scope) -> tuple[int | None, int, bool]:
    """The length of the body (None if it is chunked), how much of it is kept, and whether its client waits for 100
    Continue. Raises RefusedError."""
    headers = dict(scope["headers"])
    target_bytes = len(scope["raw_path"]) + len(scope["query_string"])
    if target_bytes + sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
        raise RefusedError(431)
    declared, is_chunked = headers.get(b"content-length"), b"transfer-encoding" in headers
    # Request smuggling: a proxy may see one request where we see two, or the reverse (RFC 9112 6.1, 11.2).
    if is_chunked and (declared is not None or scope["http_version"] != "1.1"):
        raise RefusedError(400)
    length = None if is_chunked else int(declared or 0)
    limit = max_kept_body_bytes(scope["path"], headers.get(b"content-type", b"").decode("latin1")) if length != 0 else 0
    return length, limit, b"expect" in headers


def accept_language(scope: Scope) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"accept-language"), "")


# What authenticates and describes the caller. Not the cookie: an inner request is authenticated by its token alone.
_INNER_REQUEST_HEADERS = {
    b"authorization",
    b"host",
    b"user-agent",
    b"accept-language",
    b"x-forwarded-for",
    b"x-forwarded-proto",
}


def inner_scope(outer: Scope, headers: Headers, request: InternalRequest) -> Scope:
    """Return the scope of a request for the caller of `outer`, which is logged under the same request id."""
    ids = [(name, value) for name, value in headers if name == b"x-request-id"]
    kept = [(name, value) for name, value in outer["headers"] if name in _INNER_REQUEST_HEADERS]
    path = request.path.encode()
    return {
        **outer,
        "method": request.method,
        "path": request.path,
        "raw_path": path,
        "query_string": request.query.encode(),
        "headers": [*kept, *ids, (b"content-type", b"application/json")],
    }


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


def _add_header(meta: Environ, name: str, value: str) -> None:
    # WSGI turns hyphens into underscores. So X_Forwarded_For, which proxies let pass, would look like X-Forwarded-For,
    # which only proxies may set.
    if "_" in name or name in _FRAMING_HEADERS:
        return
    key = "CONTENT_TYPE" if name == "content-type" else f"HTTP_{name.upper().replace('-', '_')}"
    # Repeated fields are joined (RFC 9110 5.3), cookies by a semicolon (RFC 6265 4.2.1).
    separator = "; " if name == "cookie" else ","
    meta[key] = f"{meta[key]}{separator}{value}" if key in meta else value
