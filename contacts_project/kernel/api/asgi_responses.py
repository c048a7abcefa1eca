"""Responses that an ASGI application sends on the web server's event loop, after a view has admitted the caller.

    def create(self, request: Request) -> AsgiResponse:
        return AsgiResponse(serve)

    async def serve(scope: Scope, receive: Receive, send: Send, ask: Ask) -> None: ...

The view runs in a thread like any other view, so authentication, permissions and rate limits apply. `serve` then gets
the same request as ASGI events and holds no thread. To use the service itself it calls `ask`, which runs one more
request with the credentials of the same caller.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from django.http import HttpResponse

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class InternalRequest(NamedTuple):
    """A request that the service sends to itself. `path` is percent-encoded, `body` is JSON or empty."""

    method: str
    path: str
    query: str
    body: bytes


class InternalResponse(NamedTuple):
    """The response to an InternalRequest."""

    status: int
    body: bytes


Ask = Callable[[InternalRequest], Awaitable[InternalResponse]]


class AsgiResponse(HttpResponse):
    """A response whose status and body `serve` sends. Under a web server other than this project's it is empty."""

    def __init__(self, serve: Callable[[Scope, Receive, Send, Ask], Awaitable[None]]) -> None:
        super().__init__()
        self.serve = serve
