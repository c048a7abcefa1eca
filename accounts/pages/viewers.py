"""Who looks at a page, the viewer: the account that is signed in in the browser. Pages take no API tokens."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from accounts.languages import best_language
from accounts.models import User
from accounts.services.sessions import note_session_use
from contacts_project.kernel.pages import render_page

SIGN_IN_PATH = "/account/sign-in"
_P = ParamSpec("_P")


def viewer_of(request: HttpRequest) -> User | None:
    """The account that is signed in in this browser; notes that its session was used."""
    user, key = request.user, request.session.session_key
    if not user.is_authenticated or key is None:
        return None
    note_session_use(session_key=key, now=timezone.now())
    return user


def language_of(request: HttpRequest, viewer: User | None) -> str:
    """The account's language, else the best that the browser asks for."""
    return viewer.language if viewer else best_language(request.headers.get("Accept-Language", ""))


def continue_to(request: HttpRequest, path: str) -> HttpResponse:
    """Lead a browser that comes from another site to `path`.

    With SameSite=Strict a redirect would not do: the browser takes it for the other site's, and holds the session's
    cookie back. From a page of ours it is our own.
    """
    if settings.SESSION_COOKIE_SAMESITE != "Strict":
        return redirect(path)
    return render_page(request, "account/continue_to.html", {"path": path}, language=language_of(request, None))


def sign_in_required(
    view: Callable[Concatenate[HttpRequest, User, _P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, _P], HttpResponse]:
    """Give the view the signed-in account; who is not signed in gets the sign-in page first and comes back."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: _P.args, **kwargs: _P.kwargs) -> HttpResponse:
        viewer = viewer_of(request)
        if viewer is None and _may_be_signed_in(request):
            return continue_to(request, request.get_full_path())
        if viewer is None:
            return redirect(f"{SIGN_IN_PATH}?{urlencode({'next': request.get_full_path()})}")
        return view(request, viewer, *args, **kwargs)

    return guarded


def _may_be_signed_in(request: HttpRequest) -> bool:
    """Whether a Strict session's cookie is held back, since a webmail's link was followed (Fetch Metadata)."""
    return settings.SESSION_COOKIE_SAMESITE == "Strict" and request.headers.get("Sec-Fetch-Site") == "cross-site"
