"""The viewer of a page: the account that is signed in in the browser. Pages accept no API tokens."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import User
from accounts.services.sessions import record_session_use
from contacts_project.kernel.api.responses import render_page
from contacts_project.kernel.languages import best_language

SIGN_IN_PATH = "/account/sign-in"
_P = ParamSpec("_P")


def viewer_of(request: HttpRequest) -> User | None:
    """The account that is signed in in this browser; updates the session's last use."""
    user, key = request.user, request.session.session_key
    if not user.is_authenticated or key is None:
        return None
    record_session_use(session_key=key, now=timezone.now())
    return user


def language_of(request: HttpRequest, viewer: User | None) -> str:
    """The account's language, or else the best match for the browser's."""
    return viewer.language if viewer else best_language(request.headers.get("Accept-Language", ""))


def same_site_redirect(request: HttpRequest, path: str) -> HttpResponse:
    """Send a browser that comes from another site on to `path`, with its session cookie."""
    # With SameSite=Strict, a redirect still counts as coming from the other site, and the browser withholds the cookie.
    # A page of this site that navigates on does not.
    if settings.SESSION_COOKIE_SAMESITE != "Strict":
        return redirect(path)
    return render_page(request, "account/continue_to.html", {"path": path}, language=language_of(request, None))


def sign_in_required(
    view: Callable[Concatenate[HttpRequest, User, _P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, _P], HttpResponse]:
    """Pass the signed-in account to the view; without one, redirect to the sign-in page, which leads back."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: _P.args, **kwargs: _P.kwargs) -> HttpResponse:
        viewer = viewer_of(request)
        # A link in a webmail is followed from another site, so the browser withholds a Strict session cookie (the
        # header is Fetch Metadata). The user may be signed in all the same.
        is_cross_site = request.headers.get("Sec-Fetch-Site") == "cross-site"
        if viewer is None and is_cross_site and settings.SESSION_COOKIE_SAMESITE == "Strict":
            return same_site_redirect(request, request.get_full_path())
        if viewer is None:
            return redirect(f"{SIGN_IN_PATH}?{urlencode({'next': request.get_full_path()})}")
        return view(request, viewer, *args, **kwargs)

    return guarded


def safe_next_path(path: str, default: str) -> str:
    """The requested path if it is on this service, else `default`: a sign-in must not redirect to another site."""
    is_own = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if is_own else default
