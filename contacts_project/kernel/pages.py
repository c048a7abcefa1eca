"""Rendering of HTML pages. All extend templates/page.html."""

from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse
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
