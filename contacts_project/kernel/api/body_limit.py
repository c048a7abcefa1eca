"""The limits of request bodies: how much a view accepts, and how much the web server keeps of it."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve

from contacts_project.kernel.api.errors import too_large_response

# A multipart body may be this much longer than the limit of its file, for boundaries, headers and small fields.
ENVELOPE_BYTES = 64 * 1024


class BodyLimitMiddleware:
    """413 for a body longer than the view's `max_body_bytes` (the name of a setting; default MAX_JSON_BYTES).

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
        limit = max_body_bytes(view)
        length = request.META.get("CONTENT_LENGTH") or "0"
        # A Content-Length that is no number is refused as well: its body could have any size.
        if length.isdigit() and int(length) <= limit + _envelope_bytes(request.content_type or ""):
            return None
        # A view of another protocol says it in its own way.
        refuse = getattr(view, "refuse_body", too_large_response)
        refusal: HttpResponseBase = refuse(request, limit)
        return refusal


def max_body_bytes(view: object) -> int:
    """The longest body that the view accepts, in bytes."""
    of_class = getattr(getattr(view, "cls", view), "max_body_bytes", "MAX_JSON_BYTES")
    # DRF keeps the keyword arguments of an @action in `initkwargs`. They take precedence over the class.
    setting = getattr(view, "initkwargs", {}).get("max_body_bytes", of_class)
    limit: int = getattr(settings, setting)
    return limit


def max_kept_body_bytes(path: str, content_type: str) -> int:
    """How many bytes of a body the web server keeps for a request to `path`: none if no view would read them."""
    try:
        view = resolve(path).func
    except Resolver404:
        return 0
    return max_body_bytes(view) + _envelope_bytes(content_type)


def _envelope_bytes(content_type: str) -> int:
    return ENVELOPE_BYTES if content_type.lower().startswith("multipart/form-data") else 0
