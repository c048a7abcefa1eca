"""Where a browser goes on to after it signed in."""

from django.utils.http import url_has_allowed_host_and_scheme


def local_path(path: str, default: str) -> str:
    """The path of this service that was asked for; anything else is not gone to."""
    is_own = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if is_own else default
