"""The path to redirect a browser to after sign-in."""

from django.utils.http import url_has_allowed_host_and_scheme


def safe_next_path(path: str, default: str) -> str:
    """The requested path if it is on this service, else `default`: a sign-in must not redirect to another site."""
    is_own = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if is_own else default
