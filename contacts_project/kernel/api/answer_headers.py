"""What every answer tells browsers and caches, unless its view says otherwise."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class AnswerHeadersMiddleware:
    """Content-Security-Policy for whatever a browser may take for a page, and `no-store`: what an answer holds, a token
    that is shown once or somebody's address, is kept by a cache only where the view allows it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Cache-Control", "no-store")
        return response
