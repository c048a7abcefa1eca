"""Runs the operations of POST /api/batch. Each passes the URL resolver and its view like a request of its own;
middleware and authentication ran once, for the batch.

A batch may run any operation that the caller could send alone, except those that do not respond with plain JSON, take a
file, or concern signing in. In an atomic batch, an operation must neither commit by itself nor wait for other machines;
in one that writes, a GET is of one record.
"""

import io
import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes
from uuid import UUID

from django.core.handlers.wsgi import WSGIRequest
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, ResolverMatch, resolve
from orjson import Fragment, JSONEncodeError
from rest_framework.exceptions import APIException
from rest_framework.response import Response

from accounts.api.authentication import SessionOnly
from accounts.api.decorators import is_allowed_in_atomic_batch, is_allowed_in_batch, is_of_one_record
from accounts.api.viewsets import ApiViewSet
from accounts.models import User
from accounts.services.profile import reload_account
from contacts_project.kernel.api.compression import plain_tags
from contacts_project.kernel.api.errors import INTERNAL, PayloadTooLargeError, error_response
from contacts_project.kernel.api.etags import WITHIN_WRITE
from contacts_project.kernel.api.json import NESTED_TOO_DEEPLY, SecretResponse, UnreadableBodyError
from contacts_project.kernel.api.request_log import UNKNOWN, ids_of, method_of, route_of
from contacts_project.kernel.errors import NO_SUCH_ADDRESS, DomainError, MissingError, UnavailableError, is_unavailable
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore
from contacts_project.kernel.json import JsonObject, dumps
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from contacts_project.kernel.ownership.larger_work import LargerWork
from contacts_project.kernel.texts import define_text

_ANSWERS_TOO_LONG = define_text(
    "batch_answers_too_long", "The answers of this batch are too long: send the rest in another."
)
_ANSWER_TOO_LONG = define_text(
    "batch_answer_too_long", "The answer is too long for what is left of this batch: send it alone."
)
_OUT_OF_TIME = define_text(
    "batch_out_of_time", "The batch has taken too long by here. Nothing of this operation was done."
)
_BATCHES_UNDER_WAY = define_text(
    "batches_under_way",
    "Other batches of yours are under way. Nothing of this one was done: try again in a few seconds.",
)

log = logging.getLogger(__name__)

# All response bodies of a batch together. The response to a write may exceed it: the write is already done by then.
MAX_RESPONSE_BYTES = 8 * 1024 * 1024
# The same with an Idempotency-Key, since the response is then stored for a day.
MAX_STORED_RESPONSE_BYTES = 1024 * 1024
# No operation starts after this time. An atomic batch holds the account lock (on SQLite the write lock of the whole
# database), so that other writes wait for it.
MAX_SECONDS, MAX_ATOMIC_SECONDS = 20.0, 5.0
_READ_METHODS = {"GET"}
_MAX_PAUSES = 1_000


class BatchFailedError(DomainError):
    """The operation was rolled back or not started because another one in the same atomic batch failed."""

    message = define_text("batch_failed", "Another operation of this batch failed: nothing of it was kept.")


class NotInBatchError(DomainError):
    """No batch may contain the operation."""

    message = define_text("not_in_batch", "This operation cannot be part of a batch: send it alone.")


class NotInAtomicBatchError(NotInBatchError):
    """The operation commits by itself or waits for other machines, so it cannot be rolled back with the others."""

    message = define_text(
        "not_in_atomic_batch", "This operation cannot be undone with others: send it in a batch that is not atomic."
    )


class LongReadInBatchError(NotInBatchError):
    """The operation reads more than one record, which would keep others from writing for as long as it takes."""

    message = define_text(
        "long_read_in_batch",
        "An atomic batch that writes reads single records only: send lists, searches and exports in another batch.",
    )


def has_writes(methods: Iterable[str]) -> bool:
    """Whether any of the operations' methods may write."""
    return not _READ_METHODS.issuperset(methods)


class AtomicBatches:
    """Atomic batches of one account run one after the other, with a pause between them.

    On SQLite such a batch holds the write lock of the whole database. The account's next one waits for as long as the
    last one held the lock, so that others have it at least half of the time. Counted in each process; an instance on
    SQLite has one web process (docs/fairness.md).
    """

    def __init__(self) -> None:
        self._places = FairSemaphore[UUID](
            LIMITS["atomic batches on SQLite"], lambda _: UnavailableError(_BATCHES_UNDER_WAY)
        )
        self._next_at: dict[UUID, float] = {}

    @contextmanager
    def one_at_a_time(self, account: UUID) -> Iterator[None]:
        """Run the block when the account has no other batch under way, and its pause is over.

        Raises UnavailableError if too many of its batches wait, or for too long.
        """
        if not self._places.try_acquire(account):
            with external_wait():
                self._places.acquire(account)
        try:
            seconds = self._next_at.get(account, 0.0) - time.monotonic()
            if seconds > 0:
                with external_wait():
                    time.sleep(seconds)
            yield
        finally:
            self._places.release(account)

    def pause(self, account: UUID, seconds: float) -> None:
        """Let the account's next batch wait for so long from now on."""
        now = time.monotonic()
        self._next_at[account] = now + seconds
        if len(self._next_at) > _MAX_PAUSES:
            for other, next_at in list(self._next_at.items()):
                if next_at <= now:
                    self._next_at.pop(other, None)


ATOMIC_BATCHES = AtomicBatches()


# Copied from the batch request to each operation: the client's address, and the host name it used for this service.
_COPIED_META = ("REMOTE_ADDR", "SERVER_NAME", "SERVER_PORT", "HTTP_HOST", "HTTP_X_FORWARDED_FOR", "wsgi.url_scheme")


@dataclass(frozen=True)
class Operation:
    """One request. `path` includes the query string, `body` is any JSON or None, names of `headers` are lower case."""

    method: str
    path: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class BatchRunner:
    """Operations of one caller, run in order. After `run`, `results` has the status and body of each."""

    def __init__(self, request: HttpRequest, user: User, auth: Any, operations: list[Operation], *, atomic: bool):
        self._request, self._auth, self._atomic = request, auth, atomic
        self._is_write = atomic and has_writes(operation.method for operation in operations)
        self._operations = operations
        self._user: User | None = user
        self._user_id: UUID = user.pk
        self._meta = {name: request.META[name] for name in _COPIED_META if name in request.META}
        self._remaining_bytes = (
            MAX_STORED_RESPONSE_BYTES if "Idempotency-Key" in request.headers else MAX_RESPONSE_BYTES
        )
        self._deadline = time.monotonic() + MAX_SECONDS
        self._log_fields: dict[str, Any] = {}
        self.contains_secret = False
        self.results: list[dict[str, Any]] = []
        self.is_rolled_back = False
        self.held_seconds = 0.0  # for how long an atomic batch has held the account lock

    def run(self) -> None:
        """Run the operations. If `atomic`, in one transaction: the first failure stops the batch and rolls it back.

        A batch of reads alone opens none, atomic or not: there is nothing to roll back, and on SQLite a transaction
        would keep everybody from writing.
        """
        if not self._atomic:
            work = LargerWork(self._user_id, "batch")
            with work.part():
                self.results = [self._run_operation(operation) for operation in self._operations]
            work.end()
            return
        if self._is_write:
            with account_write(self._user or self._user_id):
                self._run_until_failure()
                if self.is_rolled_back:
                    transaction.set_rollback(True)
        else:
            self._run_until_failure()
        if self.is_rolled_back:
            undone = error_response(BatchFailedError())
            other = {"status": undone.status_code, "body": undone.data}
            before, after = len(self.results) - 1, len(self._operations) - len(self.results)
            self.results = [other] * before + self.results[-1:] + [other] * after

    def _run_until_failure(self) -> None:
        # Counted from here: waiting for the account lock may have taken longer than that.
        started = time.monotonic()
        self._deadline = started + MAX_ATOMIC_SECONDS
        for operation in self._operations:
            self.results.append(self._run_operation(operation))
            if self.results[-1]["status"] >= 400:
                self.is_rolled_back = True
                break
        self.held_seconds = time.monotonic() - started if self._is_write else 0.0

    def _run_operation(self, operation: Operation) -> JsonObject:
        """The status and body of one operation. An exception becomes an error response."""
        response: HttpResponseBase
        start, self._log_fields = time.perf_counter(), {"route": UNKNOWN, "ids": []}
        try:
            self._check_limits()
            response = self._dispatch(operation)
            body = self._read_body(response, operation)
        except Exception as error:  # noqa: BLE001 - one operation must not stop the others
            response = _error_response(error)
            body = dumps(response.data)
        self._remaining_bytes -= len(body)
        self.contains_secret = self.contains_secret or isinstance(response, SecretResponse)
        if operation.method not in _READ_METHODS and response.status_code < 400:
            # The next operation must see the account as a request of its own would: its revision (for ETags) and
            # preferences have changed, or it is deleted.
            self._user = reload_account(self._user_id)
        milliseconds = round((time.perf_counter() - start) * 1000, 1)
        fields = {"method": method_of(operation.method), **self._log_fields, "status": response.status_code}
        log.info("operation of a batch", extra={**fields, "milliseconds": milliseconds})
        return {"status": response.status_code, "body": Fragment(body)}

    def _dispatch(self, operation: Operation) -> HttpResponseBase:
        """Call the view. Raises MissingError, NotInBatchError, and exceptions that the view does not handle."""
        request = self._build_request(operation)
        try:
            match = resolve(request.path_info)
        except Resolver404:
            raise MissingError(NO_SUCH_ADDRESS) from None
        request.resolver_match = match
        self._log_fields = {"route": route_of(request), "ids": ids_of(request)}
        check_operation(match, operation.method, atomic=self._atomic, within_write=self._is_write)
        response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
        return response

    def _check_limits(self) -> None:
        if self._user is None:
            raise AccountGoneError
        if self._remaining_bytes <= 0:
            raise PayloadTooLargeError(_ANSWERS_TOO_LONG)
        if time.monotonic() > self._deadline:
            raise UnavailableError(_OUT_OF_TIME)

    def _build_request(self, operation: Operation) -> HttpRequest:
        """The operation as an already authenticated request."""
        path, _, query = operation.path.partition("?")
        try:
            body = b"" if operation.body is None else dumps(operation.body)
        except JSONEncodeError:  # orjson parses up to 300 levels of nesting but writes only 254
            raise UnreadableBodyError(NESTED_TOO_DEEPLY) from None
        conditions = {
            f"HTTP_{name.upper().replace('-', '_')}": operation.headers[name]
            for name in ("if-match", "idempotency-key")
            if name in operation.headers
        }
        if "HTTP_IF_MATCH" in conditions:
            # The middleware does this for a single request: the tag of a compressed response has a suffix.
            conditions["HTTP_IF_MATCH"] = plain_tags(conditions["HTTP_IF_MATCH"])
        request: Any = WSGIRequest(
            {
                **self._meta,
                **conditions,
                "REQUEST_METHOD": operation.method,
                "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
                "QUERY_STRING": query.encode().decode("latin-1"),
                "CONTENT_TYPE": "application/json",
                "CONTENT_LENGTH": str(len(body)),
                "wsgi.input": io.BytesIO(body),
            }
        )
        request.session = self._request.session
        if self._is_write:
            # A read in this transaction may see rows that are rolled back later: its ETag must not be cached.
            setattr(request, WITHIN_WRITE, True)
        # DRF skips authentication and its CSRF check for these; both were done for the batch.
        request._force_auth_user, request._force_auth_token = self._user, self._auth
        return request  # type: ignore[no-any-return]

    def _read_body(self, response: HttpResponseBase, operation: Operation) -> bytes:
        """The JSON of a response. Raises NotInBatchError if it is not JSON, PayloadTooLargeError for a long read."""
        if isinstance(response, Response):
            body = dumps(response.data)
        elif not response.headers.get("Content-Type", "").startswith("application/json"):
            raise NotInBatchError
        else:
            body = _read_content(response, self._remaining_bytes)
        if len(body) > self._remaining_bytes and operation.method in _READ_METHODS:
            raise PayloadTooLargeError(_ANSWER_TOO_LONG)
        return body


def check_operation(match: ResolverMatch, method: str, *, atomic: bool, within_write: bool) -> None:
    """Raises MissingError for a URL outside the API, NotInBatchError or a subclass for a refused action.

    `within_write`: the batch is atomic, and other operations of it write.
    """
    view: Any = match.func
    cls = getattr(view, "cls", None)
    if not (isinstance(cls, type) and issubclass(cls, ApiViewSet)):
        raise MissingError(NO_SUCH_ADDRESS)
    handler = getattr(cls, view.actions.get(method.lower(), ""), None)
    # `@action(permission_classes=...)` passes its own to the view, in place of those of the class.
    permissions = view.initkwargs.get("permission_classes", view.cls.permission_classes)
    is_session_only = any(issubclass(permission, SessionOnly) for permission in permissions)
    if not (cls.allowed_in_batches and is_allowed_in_batch(handler)) or is_session_only:
        raise NotInBatchError
    if atomic and not is_allowed_in_atomic_batch(handler):
        raise NotInAtomicBatchError
    if within_write and method == "GET" and not is_of_one_record(handler):
        raise LongReadInBatchError


def _error_response(error: Exception) -> Response:
    if isinstance(error, DomainError | APIException):
        return error_response(error)
    if is_unavailable(error):
        return error_response(UnavailableError())
    log.error("An operation of a batch failed.", exc_info=error)
    return Response({"error": str(INTERNAL), "code": INTERNAL.code}, status=500)


def _read_content(response: Any, max_bytes: int) -> bytes:
    """The content of a response; of a streamed one, reading stops soon after `max_bytes`."""
    # The response is never closed: `close` sends request_finished, on which Django closes the database connection.
    if isinstance(response, HttpResponse):
        return response.content
    body, pieces = bytearray(), iter(response.streaming_content)
    for piece in pieces:
        body += piece
        if len(body) > max_bytes:
            break
    return bytes(body)
