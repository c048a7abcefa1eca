"""Who looks at a page: the account that is signed in in the browser. Pages take no API tokens."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from accounts.languages import best_language
from accounts.models import User
from accounts.services.sessions import note_session_use

SIGN_IN_PATH = "/account/sign-in"
_P = ParamSpec("_P")


def reader_of(request: HttpRequest) -> User | None:
    """The account that is signed in in this browser; notes that its session was used."""
    user, key = request.user, request.session.session_key
    if not user.is_authenticated or key is None:
        return None
    note_session_use(session_key=key, now=timezone.now())
    return user


def language_of(request: HttpRequest, reader: User | None) -> str:
    """The account's language, else the best that the browser asks for."""
    return reader.language if reader else best_language(request.headers.get("Accept-Language", ""))


def sign_in_required(
    view: Callable[Concatenate[HttpRequest, User, _P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, _P], HttpResponse]:
    """Give the view its reader. Whoever is not signed in gets the sign-in page first, and comes back from there."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: _P.args, **kwargs: _P.kwargs) -> HttpResponse:
        reader = reader_of(request)
        if reader is None:
            return redirect(f"{SIGN_IN_PATH}?{urlencode({'next': request.get_full_path()})}")
        return view(request, reader, *args, **kwargs)

    return guarded
