"""Kinds of responses: a rendered page, and those that are not stored for an Idempotency-Key."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import translation
from rest_framework.response import Response


class UnstoredResponse(Response):
    """A response that is not stored for an Idempotency-Key: a repeat of the request runs again."""


class SecretResponse(UnstoredResponse):
    """A response that no cache stores, that is not stored for an Idempotency-Key, and that is not compressed.

    The length of a compressed response would reveal something of its content (BREACH).
    """

    def __init__(self, data: object, status: int = 200) -> None:
        # CompressionMiddleware also skips a response with no-store.
        super().__init__(data, status=status, headers={"Cache-Control": "no-store"})


def render_page(
    request: HttpRequest | None, template: str, context: Mapping[str, object], *, language: str, status: int = 200
) -> HttpResponse:
    """Render a page in `language`. Without a request it has no CSRF token and no signed-in user."""
    with translation.override(language):
        html = render_to_string(template, {"language": language, **context}, request=request)
    response = HttpResponse(html, status=status)
    # URLs of pages contain tokens, which other sites must not see. Not `no-referrer`: with it browsers post our forms
    # with `Origin: null`, which the CSRF check refuses.
    response["Referrer-Policy"] = "same-origin"
    return response
