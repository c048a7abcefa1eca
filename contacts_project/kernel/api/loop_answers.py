"""Answers that an ASGI application gives on the web server's event loop, once a view has let the caller in.

    def create(self, request: Request) -> LoopAnswer:
        return LoopAnswer(serve)

    async def serve(scope: Scope, receive: Receive, send: Send, ask: Ask) -> None: ...

The view runs in a thread like any other. What it returns gets the request once more, as ASGI has it, and holds no
thread; what it wants of the service it asks for by `ask`, as one more request of the same caller.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from django.http import HttpResponse

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class InnerRequest(NamedTuple):
    """A request that the service makes of itself; `path` is percent-encoded, `body` is JSON or empty."""

    method: str
    path: str
    query: str
    body: bytes


class InnerAnswer(NamedTuple):
    """What it was answered."""

    status: int
    body: bytes


Ask = Callable[[InnerRequest], Awaitable[InnerAnswer]]


class LoopAnswer(HttpResponse):
    """What was let in; status and body are those that `serve` sends. Under a server other than ours it is empty."""

    def __init__(self, serve: Callable[[Scope, Receive, Send, Ask], Awaitable[None]]) -> None:
        super().__init__()
        self.serve = serve
