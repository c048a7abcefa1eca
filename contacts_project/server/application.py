"""The ASGI application: receives complete requests, answers them in worker threads, and drives event streams."""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial

from django.conf import settings
from django.db import close_old_connections

from contacts_project.kernel.api.asgi_responses import EventStream, InternalRequest, InternalResponse
from contacts_project.kernel.api.request_log import count_refusal
from contacts_project.kernel.errors import is_unavailable
from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore
from contacts_project.server.bodies import (
    MIB,
    WINDOW_BYTES,
    Body,
    BodySpace,
    ClientDisconnectedError,
    Holder,
    Message,
    Receive,
    Space,
    receive_body,
)
from contacts_project.server.connection import CONNECTION, LINGER_SECONDS_OF_SLOW, HttpConnection, free_space
from contacts_project.server.refusals import Headers, RefusedError, refusal
from contacts_project.server.request_head import (
    Caller,
    Environ,
    QueueKey,
    Scope,
    accept_language,
    find_account,
    in_origin_form,
    inner_scope,
    make_environ,
    queue_key,
    read_head,
)
from contacts_project.server.responses import ResponseCutError, ResponseSpool, WsgiApplication, WsgiResponse
from contacts_project.server.thread_queues import ThreadQueue
from contacts_project.server.threads import MemoryReleaser, is_large

log = logging.getLogger(__name__)
Send = Callable[[Message], Awaitable[None]]

# Larger bodies are imports and pictures, which may take long: they have threads of their own, and delay nobody else.
LARGE_BODY_BYTES = 1024 * 1024
# "method path" of what has space of its own.
_CLIENT_FILES = re.compile(rb"(?:GET|HEAD) (?:/app(?:/.*)?|/static/.*)\Z", re.DOTALL)
_HEALTH = (b"GET /api/health", b"HEAD /api/health")


class Application:
    """Answers requests by calling `wsgi` in `threads` worker threads; large uploads have two threads of their own.

    `find_account` looks up the credential of a caller, in one of the threads.
    """

    def __init__(
        self, wsgi: WsgiApplication, threads: int = 8, find_account: Callable[[Caller], object | None] = find_account
    ) -> None:
        self.wsgi, self.find_account = wsgi, find_account
        # One request must have room, whatever its limit is set to.
        of_bodies = max(settings.SPOOL_BYTES_PER_CALLER // 4, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        self.stranger_bodies = BodySpace(64 * MIB, 4 * MIB)
        self.bodies = BodySpace(max(384 * MIB, 2 * of_bodies), of_bodies)
        self.windows, self.page_windows, self.health_windows = Space(128 * MIB), Space(31 * MIB), Space(MIB)
        self.responses = Space(448 * MIB, settings.SPOOL_BYTES_PER_CALLER * 3 // 4)
        self.requests = ThreadQueue("request", threads)
        self.uploads = ThreadQueue("upload", 2)
        self.streams = FairSemaphore[tuple[str, object]](LIMITS["event streams"], _refuse)
        self.streams_of_addresses = FairSemaphore[str | None](LIMITS["event streams of an address"], _refuse)
        self.stopping = asyncio.Event()
        self.memory_releaser = MemoryReleaser(self.requests, self.uploads)

    def stop(self) -> None:
        """End all event streams, also those that are opened from now on."""
        self.stopping.set()

    def close(self) -> None:
        """Wait for the requests that are running, then end the threads."""
        for queue in (self.requests, self.uploads):
            queue.pool.end()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError("This server speaks HTTP alone.")
        scope = in_origin_form(scope)
        key, connection = queue_key(scope), scope["state"][CONNECTION]
        # Until the account is known, its address alone: a credential may be made up.
        stranger = Holder(Caller("address", key.address), key.address)
        body = Body(stranger, self.stranger_bodies, connection)
        response = WsgiResponse(self._make_spool(key))
        try:
            await self._receive(scope, receive, key, body)
            await self._serve(scope, send, key, body, response)
        except RefusedError as refused:
            count_refusal(scope["method"], refused.status)
            if refused.status == 408:
                connection.linger_seconds = LINGER_SECONDS_OF_SLOW
            await send_refusal(send, refused.status, accept_language(scope))
        except ClientDisconnectedError:
            return
        finally:
            body.close()
            response.spool.close()

    def _make_spool(self, key: QueueKey, *, whole: bool = False) -> ResponseSpool:
        # The files of the client have that of others, too, where theirs is full: strangers may never read large ones.
        windows = self.windows
        if key.path in _HEALTH:
            windows = self.health_windows
        elif _CLIENT_FILES.match(key.path) and self.page_windows.used + WINDOW_BYTES <= self.page_windows.total:
            windows = self.page_windows
        return ResponseSpool(windows, self.responses, Holder(key.caller, key.address), whole=whole)

    async def _receive(self, scope: Scope, receive: Receive, key: QueueKey, body: Body) -> None:
        """Check the headers and receive the body. Raises RefusedError, ClientDisconnectedError."""
        length, limit, expects_continue = read_head(scope)
        identify = partial(self._identify, key)
        await receive_body(
            receive,
            body,
            content_length=length,
            limit=limit,
            expects_continue=expects_continue,
            identify=identify,
            accounts=self.bodies,
        )

    async def _identify(self, key: QueueKey) -> Holder | None:
        """Who is counted for a body that is larger than those of strangers; None for a stranger. Raises RefusedError.

        The look-up takes its turn like a request of the caller.
        """
        caller, accounts = key.caller, list[object]()
        if not isinstance(caller, Caller) or caller.kind == "address":
            return None
        asking = QueueKey(caller, b"credential", b"", key.address)

        def ask() -> None:
            close_old_connections()
            try:
                accounts.append(self.find_account(caller))
            except Exception as error:
                log.exception("A credential could not be looked up")
                raise RefusedError(503 if is_unavailable(error) else 500) from error

        await self.requests.acquire(asking)
        try:
            await self.requests.run(asking, ask)
        finally:
            self.requests.release(asking)
        return None if accounts[0] is None else Holder(accounts[0], key.address)

    async def _serve(self, scope: Scope, send: Send, key: QueueKey, body: Body, response: WsgiResponse) -> None:
        queue = self.uploads if body.length > LARGE_BODY_BYTES else self.requests
        received_at, body_bytes = time.perf_counter(), body.spool.size
        disconnected: asyncio.Future[Message] = scope["state"][CONNECTION].disconnected
        await queue.acquire(key)
        try:
            # Before one more response has to be kept.
            free_space(self.windows)
            environ = make_environ(scope, body, received_at)
            await self._make_and_send(queue, key, scope, send, environ, body, response)
        finally:
            self._release(queue, key, body_bytes, response)
        # Not in progress any more: a stream may take hours, and has a limit of its own.
        if response.event_stream is not None:
            # The headers alone answer a HEAD; its stream would never end.
            events = response.event_stream if scope["method"] != "HEAD" else None
            # Each holds a connection, and a process has not many.
            with self.streams.hold((key.address, key.caller)), self.streams_of_addresses.hold(key.address or None):
                await self._send_events(send, response, events, disconnected)
        elif response.asgi_response is not None:
            ask = partial(self._answer_inner_request, scope, response.headers, disconnected)
            await response.asgi_response.serve(
                scope, replay_body(body, disconnected), add_headers(send, response.headers), ask
            )

    async def _make_and_send(
        self,
        queue: ThreadQueue,
        key: QueueKey,
        scope: Scope,
        send: Send,
        environ: Environ,
        body: Body,
        response: WsgiResponse,
    ) -> None:
        """Make the response in the acquired thread, and send it meanwhile if it is long. Raises RefusedError."""
        connection: HttpConnection = scope["state"][CONNECTION]
        disconnected, spool = connection.disconnected, response.spool
        spool.discards, spool.disconnect = scope["method"] == "HEAD", connection.abort
        spool.while_waiting = partial(queue.reader_wait, asyncio.get_running_loop(), key, spool)
        making = queue.start(key, partial(self._run_wsgi, environ, response, disconnected))
        # What is sent from then on may take hours, and the application has read the body.
        making.add_done_callback(lambda _: body.close() if response.asgi_response is None else None)
        try:
            await spool.wait_until_long(making)
            if making.done():
                making.result()
            if response.event_stream is None and response.asgi_response is None:
                await send_response(send, body, response, disconnected)
        except ResponseCutError:
            # What was sent must not look complete. The reason was logged.
            connection.abort()
        finally:
            if not making.done():
                spool.close()
                await asyncio.wait({making})
            if not making.cancelled():
                making.exception()

    def _release(self, queue: ThreadQueue, key: QueueKey, body_bytes: int, response: WsgiResponse) -> None:
        """Let the next request in, and after a large one return its memory."""
        was_large = is_large(body_bytes + response.spool.size, response.cpu_seconds)
        queue.release(key, was_large=was_large)
        if was_large:
            self.memory_releaser.schedule()

    def _run_wsgi(self, environ: Environ, response: WsgiResponse, disconnected: "asyncio.Future[Message]") -> None:
        """Produce the response. Must be called in a worker thread."""
        if disconnected.done():
            response.spool.end()
            return  # the client went away while the request waited for a thread
        try:
            response.produce(self.wsgi, environ)
        except RefusedError:
            log.warning("There is no room to keep an answer")
            raise
        except Exception as error:
            log.exception("An answer could not be made")
            raise RefusedError(503 if is_unavailable(error) else 500) from error

    async def _answer_inner_request(
        self, outer: Scope, headers: Headers, disconnected: "asyncio.Future[Message]", request: InternalRequest
    ) -> InternalResponse:
        """Answer a request that the service makes for the caller of `outer`, whose response has these headers."""
        scope = inner_scope(outer, headers, request)
        key, received_at = queue_key(scope), time.perf_counter()
        body = Body(Holder(key.caller, key.address), self.bodies, length=len(request.body))
        response = WsgiResponse(self._make_spool(key, whole=True))
        try:
            body.spool.write(request.body)
            await self.requests.acquire(key)
            try:
                free_space(self.windows)
                environ = make_environ(scope, body, received_at)
                await self.requests.run(key, partial(self._run_wsgi, environ, response, disconnected))
            finally:
                self._release(self.requests, key, len(request.body), response)
            return InternalResponse(response.status, response.spool.read_whole())
        except RefusedError as refused:
            return InternalResponse(refused.status, refusal(refused.status, accept_language(scope))[1])
        finally:
            body.close()
            response.spool.close()

    async def _send_events(
        self, send: Send, response: WsgiResponse, stream: EventStream | None, disconnected: "asyncio.Future[Message]"
    ) -> None:
        """Send events and keep-alive comments until the stream ends, the client disconnects, or the server stops."""
        await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
        if stream is None:
            await send({"type": "http.response.body", "body": b""})
            return
        stopping = asyncio.ensure_future(self.stopping.wait())
        try:
            async with aclosing(stream.pieces(disconnected, stopping)) as chunks:
                async for chunk in chunks:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
        finally:
            stopping.cancel()
        await send({"type": "http.response.body", "body": b""})


def replay_body(body: Body, disconnected: "asyncio.Future[Message]") -> Receive:
    """Return a `receive` that returns the received body, then waits until the client disconnects."""
    is_read = False

    async def receive() -> Message:
        nonlocal is_read
        if is_read:
            # shield(): a caller that stops waiting must not cancel the future that others look at.
            await asyncio.shield(disconnected)
            return {"type": "http.disconnect"}
        is_read, data = True, body.file.read()
        body.close()
        return {"type": "http.request", "body": data, "more_body": False}

    return receive


def add_headers(send: Send, headers: Headers) -> Send:
    """Return a `send` that adds the headers of the view's response, unless the ASGI response has them itself."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            response_names = {name for name, _ in message["headers"]} | {b"content-type", b"content-length"}
            added = [(name, value) for name, value in headers if name not in response_names]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return send_with_headers


async def send_response(
    send: Send, body: Body, response: WsgiResponse, disconnected: "asyncio.Future[Message]"
) -> None:
    """Send the response as fast as the client reads it."""
    # The unread rest of an incomplete body would be parsed as the next request of a kept connection.
    closing = [] if body.is_complete else [(b"connection", b"close")]
    await send({"type": "http.response.start", "status": response.status, "headers": [*response.headers, *closing]})
    async for chunk in response.spool.chunks():
        if disconnected.done():
            return
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _refuse(key: object) -> RefusedError:
    return RefusedError(429)


async def send_refusal(send: Send, status: int, accept_language: str = "") -> None:
    """Send an error response without calling the application."""
    headers, body = refusal(status, accept_language)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
