"""Many requests in one: each goes through the same routes and views as if it had come alone, but for the middleware and
for who calls, which were settled once for all of them."""

import io
import logging
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_to_bytes
from uuid import UUID

from django.core.handlers.wsgi import WSGIRequest
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from orjson import Fragment, JSONEncodeError
from rest_framework.exceptions import APIException, ParseError
from rest_framework.response import Response

from accounts.api.batch_rules import NotInBatchError, check_operation
from accounts.models import User
from accounts.services.profile import account_now
from contacts_project.kernel.api.compression import plain_tags
from contacts_project.kernel.api.errors import PayloadTooLargeError, refusal
from contacts_project.kernel.api.etags import WITHIN_WRITE
from contacts_project.kernel.api.json import dumps
from contacts_project.kernel.api.middleware import UNKNOWN, ids_of, method_of, route_of
from contacts_project.kernel.api.secrets import SecretResponse
from contacts_project.kernel.errors import DomainError, MissingError, UnavailableError
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from contacts_project.kernel.unavailable import is_unavailable

log = logging.getLogger(__name__)

# Of all answers together; the last may go beyond it where it tells of a write, which has happened by then.
MOST_BYTES = 8 * 1024 * 1024
# Where they are kept for a key, for a day.
MOST_KEPT_BYTES = 1024 * 1024
# No operation begins later. In one transaction all other writes of the account wait, on SQLite everybody's.
MOST_SECONDS, MOST_ATOMIC_SECONDS = 20.0, 5.0
_READS = {"GET"}
# What an operation has of the request that brought it: from where it came, and under which name it called this service.
_KEPT_META = ("REMOTE_ADDR", "SERVER_NAME", "SERVER_PORT", "HTTP_HOST", "HTTP_X_FORWARDED_FOR", "wsgi.url_scheme")


class BatchFailedError(DomainError):
    """Another operation of the same transaction failed."""

    message = "Another operation of this batch failed: nothing of it was kept."


@dataclass(frozen=True)
class Operation:
    """One request: `path` with its query, `body` any JSON or None, `headers` by their names in lower case."""

    method: str
    path: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class Batch:
    """Operations of one caller, carried out in their order."""

    def __init__(self, request: HttpRequest, user: User, auth: Any, operations: list[Operation], *, atomic: bool):
        self._request, self._auth, self._atomic = request, auth, atomic
        self._operations = operations
        self._user: User | None = user
        self._user_id: UUID = user.pk
        self._meta = {name: request.META[name] for name in _KEPT_META if name in request.META}
        self._room = MOST_KEPT_BYTES if "Idempotency-Key" in request.headers else MOST_BYTES
        self._ends_at = time.monotonic() + MOST_SECONDS
        self._target: dict[str, Any] = {}
        self.shows_secret = False
        self.results: list[dict[str, Any]] = []
        self.is_undone = False

    def run(self) -> None:
        """Carry them out. With `atomic` in one transaction, which the first failure ends and takes back."""
        if not self._atomic:
            self.results = [self._result(operation) for operation in self._operations]
            return
        with account_write(self._user):
            self._ends_at = time.monotonic() + MOST_ATOMIC_SECONDS  # it may have stood in line for longer than that
            for operation in self._operations:
                self.results.append(self._result(operation))
                if self.results[-1]["status"] >= 400:
                    self.is_undone = True
                    transaction.set_rollback(True)
                    break
        if self.is_undone:
            undone = refusal(BatchFailedError())
            other = {"status": undone.status_code, "body": undone.data}
            before, after = len(self.results) - 1, len(self._operations) - len(self.results)
            self.results = [other] * before + self.results[-1:] + [other] * after

    def _result(self, operation: Operation) -> dict[str, Any]:
        """Its status and body. What fails is an answer like any other."""
        response: HttpResponseBase
        start, self._target = time.perf_counter(), {"route": UNKNOWN, "ids": []}
        try:
            self._check_limits()
            response = self._response(operation)
            body = self._body(response, operation)
        except Exception as error:  # noqa: BLE001 - nothing of one operation keeps the others from theirs
            response = _failure(error)
            body = dumps(response.data)
        self._room -= len(body)
        self.shows_secret = self.shows_secret or isinstance(response, SecretResponse)
        if operation.method not in _READS and response.status_code < 400:
            self._user = account_now(self._user_id)
        milliseconds = round((time.perf_counter() - start) * 1000, 1)
        told = {"method": method_of(operation.method), **self._target, "status": response.status_code}
        log.info("operation of a batch", extra={**told, "milliseconds": milliseconds})
        return {"status": response.status_code, "body": Fragment(body)}

    def _response(self, operation: Operation) -> HttpResponseBase:
        """Raises MissingError, NotInBatchError, and what the view does not answer."""
        request = self._request_of(operation)
        try:
            match = resolve(request.path_info)
        except Resolver404:
            raise MissingError("There is nothing at this address.") from None
        request.resolver_match = match
        self._target = {"route": route_of(request), "ids": ids_of(request)}
        check_operation(match, operation.method, atomic=self._atomic)
        response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
        return response

    def _check_limits(self) -> None:
        if self._user is None:
            raise AccountGoneError
        if self._room <= 0:
            raise PayloadTooLargeError("The answers of this batch are too long: send the rest in another.")
        if time.monotonic() > self._ends_at:
            raise UnavailableError("The batch has taken too long by here. Nothing of this operation was done.")

    def _request_of(self, operation: Operation) -> HttpRequest:
        """The operation as a request that has been let in already."""
        path, _, query = operation.path.partition("?")
        try:
            body = b"" if operation.body is None else dumps(operation.body)
        except JSONEncodeError:  # it reads 300 levels, and writes 254
            raise ParseError("The body is nested too deeply.") from None
        conditions = {
            f"HTTP_{name.upper().replace('-', '_')}": operation.headers[name]
            for name in ("if-match", "idempotency-key")
            if name in operation.headers
        }
        if "HTTP_IF_MATCH" in conditions:  # as the middleware reads that of a request: tags of a compressed answer too
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
        if self._atomic:
            setattr(request, WITHIN_WRITE, True)
        request._force_auth_user, request._force_auth_token = self._user, self._auth
        return request  # type: ignore[no-any-return]

    def _body(self, response: HttpResponseBase, operation: Operation) -> bytes:
        """Its JSON. Raises NotInBatchError for what is none, PayloadTooLargeError where a read tells too much."""
        if isinstance(response, Response):
            body = dumps(response.data)
        elif not response.headers.get("Content-Type", "").startswith("application/json"):
            raise NotInBatchError
        else:
            body = _joined(response, self._room)
        if len(body) > self._room and operation.method in _READS:
            raise PayloadTooLargeError("The answer is too long for what is left of this batch: send it alone.")
        return body


def _failure(error: Exception) -> Response:
    if isinstance(error, DomainError | APIException):
        return refusal(error)
    if is_unavailable(error):
        return refusal(UnavailableError())
    log.error("An operation of a batch failed.", exc_info=error)
    return Response({"error": "Something went wrong on our side. The failure has been logged."}, status=500)


def _joined(response: Any, most: int) -> bytes:
    """What it answers, or the beginning of it that is longer than `most`.

    Never closed as a response: that tells Django that the request is over, and its connection to the database with it.
    """
    if isinstance(response, HttpResponse):
        return response.content
    body, pieces = bytearray(), iter(response.streaming_content)
    for piece in pieces:
        body += piece
        if len(body) > most:
            break
    return bytes(body)
