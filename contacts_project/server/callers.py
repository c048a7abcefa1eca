"""Who sent a request: what the server knows of it before the application has authenticated it."""

import binascii
import re
from base64 import b64decode
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.http import parse_cookie
from django.utils import timezone

from accounts.models.sign_in import SESSION_KEY_PATTERN
from accounts.services.sessions import owner_of_session
from accounts.services.token_use import owner_of_token
from contacts_project.kernel.client_address import address_behind_proxies, address_block
from contacts_project.server.environ import Scope

# The shape of API tokens. Anything else, and what is no key of a session, authenticates nobody.
_TOKEN = re.compile(rb"cnt_[0-9A-Za-z]{46}")


class Caller(NamedTuple):
    """The holder of a credential, or else everybody at an address. Callers with the same credential are one.

    The credential may be made up: whether it is known, only the application finds out.
    """

    kind: str
    value: bytes | str


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
