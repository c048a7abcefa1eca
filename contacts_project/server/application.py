"""The ASGI application: receives requests whole, has threads answer them, and drives streams of events."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from functools import partial
from typing import Any

from contacts_project.kernel.api.event_streams import EventStream
from contacts_project.kernel.api.loop_answers import InnerAnswer, InnerRequest
from contacts_project.kernel.api.middleware import count_refusal, kept_bytes
from contacts_project.kernel.unavailable import is_unavailable
from contacts_project.server import answers
from contacts_project.server.answers import Answer
from contacts_project.server.bodies import Body, ClientGoneError, Receive, receive_body
from contacts_project.server.environ import Scope, caller_of, make_environ
from contacts_project.server.memory import Release, is_large
from contacts_project.server.refusals import Headers, RefusedError, refusal
from contacts_project.server.spool import Spool
from contacts_project.server.stalled import make_room
from contacts_project.server.thread_queues import Kind, ThreadQueue

log = logging.getLogger(__name__)
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

# Bodies from here on are imports and pictures, which may take long: they leave the other threads to the others.
LARGE_BODY = 1024 * 1024
MOST_HEAD_BYTES = 32 * 1024


class Application:
    """Answers by `wsgi`, which is called in `threads` threads; large uploads have two of their own."""

    def __init__(self, wsgi: answers.Application, threads: int = 8) -> None:
        self.wsgi = wsgi
        self.requests = ThreadQueue("request", threads)
        self.uploads = ThreadQueue("upload", 2)
        self.stopping = asyncio.Event()
        self.release = Release()

    def stop(self) -> None:
        """End the streams that are open, and those that would begin."""
        self.stopping.set()

    def close(self) -> None:
        """End the threads, once they have done what they do."""
        for queue in (self.requests, self.uploads):
            queue.pool.shutdown()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError("This server speaks HTTP alone.")
        body, answer = Body(Spool()), Answer()
        try:
            await receive_request(scope, receive, body)
            await self._serve(scope, receive, send, body, answer)
        except RefusedError as refused:
            count_refusal(scope["method"], refused.status)
            await refuse(send, refused.status)
        except ClientGoneError:
            return
        finally:
            body.spool.close()
            answer.spool.close()

    async def _serve(self, scope: Scope, receive: Receive, send: Send, body: Body, answer: Answer) -> None:
        queue = self.uploads if body.length > LARGE_BODY else self.requests
        kind, received_at = kind_of(scope), time.perf_counter()
        # Of a whole request nothing more comes but the news that its client is gone.
        gone = asyncio.ensure_future(receive()) if body.is_whole else asyncio.get_running_loop().create_future()
        try:
            await queue.enter(kind)
            try:
                # Before another answer has to be kept.
                make_room()
                await queue.call(kind, partial(self._ask, make_environ(scope, body, received_at), answer, gone))
                if answer.events is None and answer.on_loop is None:
                    await deliver(send, body, answer, gone)
            finally:
                self._leave(queue, kind, body, answer)
            if answer.events is not None:
                await self._stream(send, answer, answer.events, gone)
            elif answer.on_loop is not None:
                asked = partial(self._ask_again, scope, answer.headers, gone)
                await answer.on_loop.serve(scope, replayed(body, gone), with_headers(send, answer.headers), asked)
        finally:
            gone.cancel()

    def _leave(self, queue: ThreadQueue, kind: Kind, body: Body, answer: Answer) -> None:
        """The request has its answer: let the next one in, and have the memory back of a large one."""
        was_large = is_large(body.spool.size + answer.spool.size, answer.cpu_seconds)
        queue.leave(kind, was_large=was_large)
        if was_large:
            self.release.note()

    def _ask(self, environ: dict[str, Any], answer: Answer, gone: "asyncio.Future[Any]") -> None:
        """In a thread: have the application answer."""
        if gone.done():
            return  # it waited for this thread longer than its client did
        try:
            answer.ask(self.wsgi, environ)
        except RefusedError:
            log.warning("There is no room to keep an answer")
            raise
        except Exception as error:
            log.exception("An answer could not be made")
            raise RefusedError(503 if is_unavailable(error) else 500) from error

    async def _ask_again(
        self, outer: Scope, headers: Headers, gone: "asyncio.Future[Any]", request: InnerRequest
    ) -> InnerAnswer:
        """Answer one more request of the caller of `outer`, whose answer has these headers."""
        scope = inner_scope(outer, headers, request)
        body, answer = Body(Spool(), len(request.body)), Answer()
        try:
            body.spool.write(request.body)
            kind, received_at = kind_of(scope), time.perf_counter()
            await self.requests.enter(kind)
            try:
                make_room()
                await self.requests.call(kind, partial(self._ask, make_environ(scope, body, received_at), answer, gone))
            finally:
                self._leave(self.requests, kind, body, answer)
            return InnerAnswer(answer.status, b"".join(answer.spool.pieces()))
        except RefusedError as refused:
            return InnerAnswer(refused.status, refusal(refused.status)[1])
        finally:
            body.spool.close()
            answer.spool.close()

    async def _stream(self, send: Send, answer: Answer, events: EventStream, gone: "asyncio.Future[Any]") -> None:
        """Send events as they come, a comment where none comes, until they end, the client is gone or we stop."""
        stopping = asyncio.ensure_future(self.stopping.wait())
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        try:
            async with aclosing(events.pieces(gone, stopping)) as pieces:
                async for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        finally:
            stopping.cancel()
        await send({"type": "http.response.body", "body": b""})


_OF_THE_CALLER = {
    b"authorization",
    b"host",
    b"user-agent",
    b"accept-language",
    b"x-forwarded-for",
    b"x-forwarded-proto",
}


def inner_scope(outer: Scope, headers: Headers, request: InnerRequest) -> Scope:
    """A request of the caller of `outer`, under the id that the outer one has in the log."""
    ids = [(name, value) for name, value in headers if name == b"x-request-id"]
    kept = [(name, value) for name, value in outer["headers"] if name in _OF_THE_CALLER]
    path = request.path.encode()
    return {
        **outer,
        "method": request.method,
        "path": request.path,
        "raw_path": path,
        "query_string": request.query.encode(),
        "headers": [*kept, *ids, (b"content-type", b"application/json")],
    }


def replayed(body: Body, gone: "asyncio.Future[Any]") -> Receive:
    """The body that was received already, and then that the client is gone."""
    parts = [body.spool]

    async def receive() -> Mapping[str, Any]:
        if not parts:
            await asyncio.shield(gone)
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": b"".join(parts.pop().pieces()), "more_body": False}

    return receive


def with_headers(send: Send, headers: Headers) -> Send:
    """`send`, which adds what the view's answer had in its head, unless the answer itself says it."""

    async def send_with_headers(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in message["headers"]} | {b"content-type", b"content-length"}
            more = [(name, value) for name, value in headers if name not in own]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return send_with_headers


def kind_of(scope: Scope) -> Kind:
    """Who asks what; a write does not wait behind who reads at the same path."""
    path = b"%b %b" % (scope["method"].encode(), scope["raw_path"])
    return Kind(caller_of(scope), path, scope["query_string"])


async def receive_request(scope: Scope, receive: Receive, body: Body) -> None:
    """Receive the rest of a request whose head is here. Raises RefusedError, ClientGoneError."""
    headers = dict(scope["headers"])
    address = len(scope["raw_path"]) + len(scope["query_string"])
    if address + sum(len(name) + len(value) for name, value in scope["headers"]) > MOST_HEAD_BYTES:
        raise RefusedError(431)
    declared, is_chunked = headers.get(b"content-length"), b"transfer-encoding" in headers
    # What some proxy took for one request and we for two, or the other way round (RFC 9112 6.1, 11.2).
    if is_chunked and (declared is not None or scope["http_version"] != "1.1"):
        raise RefusedError(400)
    length = None if is_chunked else int(declared or 0)
    kept = kept_bytes(scope["path"], headers.get(b"content-type", b"").decode("latin1")) if length != 0 else 0
    await receive_body(receive, body, declared=length, keep=kept, waits=b"expect" in headers)


async def deliver(send: Send, body: Body, answer: Answer, gone: "asyncio.Future[Any]") -> None:
    """Send the answer as fast as its client reads."""
    ends = [] if body.is_whole else [(b"connection", b"close")]
    await send({"type": "http.response.start", "status": answer.status, "headers": [*answer.headers, *ends]})
    for piece in answer.spool.pieces():
        if gone.done():
            return
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def refuse(send: Send, status: int) -> None:
    """Answer without the application."""
    headers, body = refusal(status)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
