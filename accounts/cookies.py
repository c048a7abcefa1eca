"""Cookies of the sign-in other than the session cookie. Scripts cannot read them."""

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
    # Never Strict, whatever SESSION_SAMESITE is: the browser has to send these cookies when the provider redirects it
    # back.
    return "None" if settings.SESSION_COOKIE_SAMESITE == "None" else "Lax"
