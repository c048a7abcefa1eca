"""POST /api/batch: many requests in one."""

import logging
from functools import partial
from typing import Any

from django.db import connection
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.batch_runner import ATOMIC_BATCHES, BatchRunner, Operation, has_writes
from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.errors import NOT_AN_OBJECT, InvalidError
from contacts_project.kernel.api.fields import StrictBooleanField, StrictCharField, StrictChoiceField
from contacts_project.kernel.api.json import SecretResponse, UnstoredResponse
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.ownership.account_lock import AccountGoneError
from contacts_project.kernel.texts import define_text

_BAD_HEADERS = define_text("batch_headers", "If-Match and Idempotency-Key must be printable ASCII text.")

log = logging.getLogger(__name__)
MAX_OPERATIONS = 100
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_HEADERS = {"if-match", "idempotency-key"}


@extend_schema_field(OpenApiTypes.ANY)
class AnyJsonField(serializers.Field[Any, Any, Any, Any]):
    """Any JSON value. The view of the operation validates it."""

    def to_internal_value(self, data: object) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
class HeadersField(serializers.Field[Any, Any, Any, Any]):
    """The headers `If-Match` and `Idempotency-Key`, their names folded to lower case; all others are ignored."""

    def to_internal_value(self, data: object) -> dict[str, str]:
        if not isinstance(data, dict):
            raise InvalidError(NOT_AN_OBJECT)
        known = {name.lower(): value for name, value in data.items() if name.lower() in _HEADERS}
        if not all(isinstance(value, str) and value.isascii() and value.isprintable() for value in known.values()):
            raise InvalidError(_BAD_HEADERS)
        return known


class OperationSerializer(serializers.Serializer[Any]):
    method = StrictChoiceField(_METHODS)
    path = StrictCharField(max_length=2000, help_text="With its query, from `/api/` on.")
    body = AnyJsonField(required=False, allow_null=True)
    headers = HeadersField(required=False, allow_null=True)


class BatchSerializer(serializers.Serializer[Any]):
    operations: serializers.ListSerializer[Any] = serializers.ListSerializer(
        child=OperationSerializer(), min_length=1, max_length=MAX_OPERATIONS
    )
    atomic = StrictBooleanField(required=False, default=False)


class OperationResultSerializer(serializers.Serializer[Any]):
    """What an operation would have been answered alone."""

    status = serializers.IntegerField()
    body = AnyJsonField(allow_null=True)


class BatchViewSet(ApiViewSet[Any]):
    """Many requests in one."""

    allowed_in_batches = False

    def commits_by_itself(self, handler: object) -> bool:
        return not self._is_atomic_write()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if connection.vendor == "sqlite" and request.method == "POST" and self._is_atomic_write():
            # Around the transaction that an Idempotency-Key opens: nothing may wait with the lock in hand.
            self.post = partial(self._run_alone, self.post)

    def _is_atomic_write(self) -> bool:
        """Whether the body, which may be malformed, is an atomic batch with an operation that writes."""
        body = self.request.data
        if not isinstance(body, dict) or body.get("atomic") is not True or not isinstance(body.get("operations"), list):
            return False
        return has_writes(str(item.get("method")) for item in body["operations"] if isinstance(item, dict))

    def _run_alone(self, handler: Any, request: Request, *args: Any, **kwargs: Any) -> Any:
        with ATOMIC_BATCHES.one_at_a_time(self.owner.pk):
            return handler(request, *args, **kwargs)

    @extend_schema(
        operation_id="runBatch",
        request=BatchSerializer,
        responses={200: envelope("BatchAnswer", results=OperationResultSerializer(many=True))},
    )
    @raises(AccountGoneError)
    def create(self, request: Request) -> Response:
        """Carry out up to 100 operations in their order; each answer is what it would have been alone.

        With `atomic` they are one transaction: the first failure keeps its status, undoes all, and the others answer
        424; if one of them writes, a GET is of one record. Uploads, streams, what answers no JSON, sign-in and batches
        are refused: 400 `not_in_batch` of their own.
        """
        data = self.read_body(BatchSerializer)
        operations = [
            Operation(item["method"], item["path"], item.get("body"), item.get("headers") or {})
            for item in data["operations"]
        ]
        batch = BatchRunner(request._request, self.owner, request.auth, operations, atomic=data["atomic"])
        batch.run()
        if batch.held_seconds:
            ATOMIC_BATCHES.pause(self.owner.pk, batch.held_seconds)
        statuses = [result["status"] for result in batch.results]
        failed = sum(status >= 400 for status in statuses)
        log.info("batch", extra={"operations": len(statuses), "failed": failed, "atomic": data["atomic"]})
        body = {"results": batch.results}
        if batch.contains_secret:
            return SecretResponse(body)
        has_written = any(operation.method != "GET" for operation in operations)
        if not has_written or (batch.is_rolled_back and any(status >= 500 or status == 429 for status in statuses)):
            # Nothing was written, so a repeat with the same Idempotency-Key should run instead of replaying this.
            return UnstoredResponse(body)
        return Response(body)
