"""The limits of request bodies: how much a view accepts, and how much the web server keeps of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve

from contacts_project.kernel.api.errors import too_large_response

# A multipart body may be this much longer than the limit of its file, for boundaries, headers and small fields.
ENVELOPE_BYTES = 64 * 1024


@dataclass(frozen=True)
class BodyLimit:
    """How long the body of a request to a view may be, and how a longer one is refused.

    `max_bytes` is asked at each request: it reads a setting.
    """

    max_bytes: Callable[[], int]
    refuse: Callable[[HttpRequest, int], HttpResponseBase] = too_large_response


JSON_LIMIT = BodyLimit(lambda: settings.MAX_JSON_BYTES)
IMPORT_LIMIT = BodyLimit(lambda: settings.MAX_IMPORT_BYTES)
VCARD_LIMIT = BodyLimit(lambda: settings.MAX_VCARD_BYTES)
PHOTO_LIMIT = BodyLimit(lambda: settings.MAX_PHOTO_BYTES)

_limits_of_functions: dict[Callable[..., Any], BodyLimit] = {}


class BodyLimited:
    """Base of viewsets: the class has a `body_limit`, and so may an action, `@action(body_limit=...)`."""

    body_limit = JSON_LIMIT


def limit_body(view: Callable[..., Any], limit: BodyLimit) -> None:
    """Set the limit of a view that is a function."""
    _limits_of_functions[view] = limit


def limit_of(view: Any) -> BodyLimit:
    """The limit of a view as the URLs name it."""
    cls = getattr(view, "cls", None)  # of DRF
    if isinstance(cls, type) and issubclass(cls, BodyLimited):
        # DRF keeps the keyword arguments of an @action in `initkwargs`.
        limit: BodyLimit = view.initkwargs.get("body_limit", cls.body_limit)
        return limit
    return _limits_of_functions.get(view, JSON_LIMIT)


class BodyLimitMiddleware:
    """413 for a body longer than the limit of its view (`limit_of`).

    It checks CONTENT_LENGTH. The web server stores at most `max_kept_body_bytes` of a body, but passes its full length.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        view: object,
        args: tuple[str, ...],
        kwargs: dict[str, object],
    ) -> HttpResponseBase | None:
        limit = limit_of(view)
        max_bytes = limit.max_bytes()
        length = request.META.get("CONTENT_LENGTH") or "0"
        # A Content-Length that is no number is refused as well: its body could have any size.
        if length.isdigit() and int(length) <= max_bytes + _envelope_bytes(request.content_type or ""):
            return None
        return limit.refuse(request, max_bytes)


def max_kept_body_bytes(path: str, content_type: str) -> int:
    """How many bytes of a body the web server keeps for a request to `path`: none if no view would read them."""
    try:
        view = resolve(path).func
    except Resolver404:
        return 0
    return limit_of(view).max_bytes() + _envelope_bytes(content_type)


def _envelope_bytes(content_type: str) -> int:
    return ENVELOPE_BYTES if content_type.lower().startswith("multipart/form-data") else 0
