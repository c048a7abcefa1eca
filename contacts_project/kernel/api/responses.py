"""HTML pages, and the headers that every response has, unless its view sets them itself."""

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils import translation


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


def content_security_policy(tiles_url: str) -> str:
    """Images may also come from the origin of the map's tiles, if the operator has chosen one."""
    tiles = urlsplit(tiles_url)
    origin = f" {tiles.scheme}://{tiles.netloc}" if tiles_url else ""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:{origin}; "
        "font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )


class ResponseHeadersMiddleware:
    """Sets Content-Security-Policy and `Cache-Control: no-store` on every response that does not set them itself.

    A response may contain a token that is shown once, or personal data, so caches store it only if the view allows it.
    The policy is on every response, because a browser may be tricked into showing any of them as a page.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Cache-Control", "no-store")
        return response
