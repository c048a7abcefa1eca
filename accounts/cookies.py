"""Cookies of the sign-in beside the session's own."""

from django.conf import settings
from django.http.response import HttpResponseBase


def set_cookie(response: HttpResponseBase, name: str, value: str, *, seconds: int, path: str) -> None:
    """Set a cookie that scripts cannot read.

    Never SameSite=Strict, whatever SESSION_SAMESITE says: a browser that comes back from a provider has to send it.
    """
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path=path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="None" if settings.SESSION_COOKIE_SAMESITE == "None" else "Lax",
    )
