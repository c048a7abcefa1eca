"""What the sign-in keeps in a browser: cookies other than the session cookie, which scripts cannot read."""

from typing import Literal, TypeVar

from django.conf import settings
from django.http.response import HttpResponseBase

R = TypeVar("R", bound=HttpResponseBase)


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


def clear_site_data(response: R) -> R:
    """Have the browser remove the client's copy of the account, its drafts and its service worker.

    Browsers obey over https and from this machine only (W3C Clear Site Data).
    """
    response["Clear-Site-Data"] = '"storage", "cache"'
    return response


def _samesite() -> Literal["None", "Lax"]:
    # Never Strict, whatever SESSION_SAMESITE is: the browser has to send these cookies when the provider redirects it
    # back.
    return "None" if settings.SESSION_COOKIE_SAMESITE == "None" else "Lax"
