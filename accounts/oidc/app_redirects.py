"""Redirect URIs of apps, on a device or on the web (RFC 8252, section 7).

An operator may register `http` on a loopback address, where the port is ignored (section 7.3); a private-use scheme,
which is a reversed domain name and so contains a period (7.1); and `https` (7.2).
"""

import re
from collections.abc import Collection

_LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?(/.*)?")
_OWN_SCHEME = re.compile(r"[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:.+")
_HTTPS = re.compile(r"https://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?(?:/.*)?")
# Not allowed in a URI (RFC 3986), or the beginning of a fragment (not allowed by RFC 6749, section 3.1.2).
_FORBIDDEN_CHARACTERS = re.compile(r"[^\x21-\x7e]|[\"#<>\\^`{|}]")
MAX_REDIRECT_URI_LENGTH = 500


def is_redirect_uri(uri: str) -> bool:
    """Whether an operator may register the URI."""
    if len(uri) > MAX_REDIRECT_URI_LENGTH or _FORBIDDEN_CHARACTERS.search(uri):
        return False
    return any(pattern.fullmatch(uri) for pattern in (_LOOPBACK, _OWN_SCHEME, _HTTPS))


def is_registered(uri: str, registered: Collection[str]) -> bool:
    """Whether a sign-in may redirect to the URI."""
    # Compared as strings, without parsing: two parsers may disagree about what a URI means (RFC 9700, section 4.1.3).
    return is_redirect_uri(uri) and _without_port(uri) in {_without_port(known) for known in registered}


def identifies_app(uri: str) -> bool:
    """Whether only one app can receive the redirect. On a device, any app can listen on loopback or claim a scheme."""
    return uri.startswith("https://")


def _without_port(uri: str) -> str:
    match = _LOOPBACK.fullmatch(uri)
    return f"{match[1]}{match[2] or ''}" if match else uri
