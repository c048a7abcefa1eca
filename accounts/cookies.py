"""Cookies of the sign-in beside the session's own. Scripts cannot read them.

Never SameSite=Strict, whatever SESSION_SAMESITE says: a browser that comes back from a provider has to send them.
"""

from typing import Literal

from django.conf import settings
from django.http.response import HttpResponseBase


def set_cookie(response: HttpResponseBase, name: str, value: str, *, seconds: int, path: str) -> None:
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path=path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite=_samesite(),
    )


def drop_cookie(response: HttpResponseBase, name: str, *, path: str) -> None:
    response.delete_cookie(name, path=path, samesite=_samesite())


def _samesite() -> Literal["None", "Lax"]:
    return "None" if settings.SESSION_COOKIE_SAMESITE == "None" else "Lax"
