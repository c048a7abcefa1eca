"""Where a sign-in may lead back to an app: the redirect URIs of apps on a device or on the web (RFC 8252, section 7).

Registered are `http` on loopback by its address, where the port of a request does not count (section 7.3); a scheme of
the app's own, which is a domain name in reverse and so holds a period (7.1); and `https` (7.2). The last two are
compared as texts: what can be read in two ways leads somewhere else (RFC 9700, section 4.1.3).
"""

import re
from collections.abc import Collection

_LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::[0-9]{1,5})?(/.*)?")
_OWN_SCHEME = re.compile(r"[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:.+")
_HTTPS = re.compile(r"https://[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?(?:/.*)?")
# What stands in no URI (RFC 3986), or begins a fragment (forbidden by RFC 6749, section 3.1.2).
_FOREIGN = re.compile(r"[^\x21-\x7e]|[\"#<>\\^`{|}]")
MOST_CHARACTERS = 500


def is_redirect_uri(uri: str) -> bool:
    """Whether an operator may register it."""
    if len(uri) > MOST_CHARACTERS or _FOREIGN.search(uri):
        return False
    return any(pattern.fullmatch(uri) for pattern in (_LOOPBACK, _OWN_SCHEME, _HTTPS))


def is_registered(uri: str, registered: Collection[str]) -> bool:
    """Whether a sign-in may lead there."""
    return is_redirect_uri(uri) and _without_port(uri) in {_without_port(known) for known in registered}


def proves_its_app(uri: str) -> bool:
    """Whether only its owner's app is reached there; any app on a device can listen on loopback, or claim a scheme."""
    return uri.startswith("https://")


def _without_port(uri: str) -> str:
    found = _LOOPBACK.fullmatch(uri)
    return f"{found[1]}{found[2] or ''}" if found else uri
