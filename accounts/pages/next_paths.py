"""Where a browser goes on to after it signed in."""

from django.utils.http import url_has_allowed_host_and_scheme


def own_path(wanted: str, default: str) -> str:
    """The path of this service that was asked for; anything else is not gone to."""
    is_own = wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, allowed_hosts=None)
    return wanted if is_own else default
