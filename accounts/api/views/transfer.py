"""Export and import of the whole account as one document."""

from io import BytesIO
from typing import IO, Any

from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import excluded_from_batches, ignores_idempotency_key, in_own_transactions
from accounts.api.viewsets import ApiViewSet
from accounts.transfer.importer import import_document
from accounts.transfer.sections import export_document
from contacts_project.kernel.api.body_limit import IMPORT_LIMIT
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.json import JSONParser, UnreadableBodyError
from contacts_project.kernel.api.schema import RemarkSerializer
from contacts_project.kernel.json import MAX_DOCUMENT_VALUES, JsonMapping, has_too_many_values
from contacts_project.kernel.ownership.account_lock import IMPORTS
from contacts_project.kernel.texts import define_text

_TOO_MANY_VALUES = define_text("too_many_values", "The document has more than %(limit)s values: import it in parts.")


class DocumentParser(JSONParser):
    """JSON with at most MAX_DOCUMENT_VALUES values."""

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: JsonMapping | None = None) -> Any:
        body = stream.read()
        if has_too_many_values(body):
            raise UnreadableBodyError(_TOO_MANY_VALUES.format(limit=MAX_DOCUMENT_VALUES))
        return super().parse(BytesIO(body), media_type, parser_context)


class ResultSerializer(serializers.Serializer[Any]):
    optional = ("id", "newId", "reason", "code", "params", "remarks")

    section = serializers.CharField()
    index = serializers.IntegerField()
    id = serializers.UUIDField()
    status = serializers.ChoiceField(["imported", "updated", "skipped", "error"])
    newId = serializers.UUIDField()
    reason = serializers.CharField(help_text="The first remark, in the account's language.")
    code = serializers.CharField(help_text="Of the first remark.")
    params = serializers.DictField(help_text="The values in the first remark.")
    remarks = RemarkSerializer(many=True, help_text="All remarks, where there are several.")


class TransferReceiptSerializer(serializers.Serializer[Any]):
    """What became of each record of the document."""

    success = serializers.BooleanField()
    imported = serializers.IntegerField()
    updated = serializers.IntegerField()
    skipped = serializers.IntegerField()
    errors = serializers.IntegerField()  # type: ignore[assignment]  # the contract's name; DRF takes fields out
    errorMessages = serializers.ListField(child=serializers.CharField())
    results = ResultSerializer(many=True)


_DOCUMENT_OPTIONS: dict[str, Any] = {"parser_classes": [DocumentParser], "body_limit": IMPORT_LIMIT}


class TransferViewSet(ApiViewSet[Any]):
    """Export and import of the whole account."""

    @extend_schema(operation_id="exportAccount", responses={200: OpenApiTypes.OBJECT})
    @action(detail=False)
    @conditional
    @excluded_from_batches
    def export(self, request: Request) -> StreamingHttpResponse:
        """Everything the account owns as one JSON document, photos and settings included, secrets not."""
        today = timezone.now().date()
        response = StreamingHttpResponse(export_document(self.owner, today), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="contacts-{today}.json"'
        return response

    def list_state(self, request: Request) -> str:
        """The day (UTC), which the export names."""
        return timezone.now().date().isoformat()

    @extend_schema(
        operation_id="importAccount",
        request=OpenApiTypes.OBJECT,
        responses=TransferReceiptSerializer,
    )
    @action(detail=False, methods=["post"], url_path="import", **_DOCUMENT_OPTIONS)
    @excluded_from_batches
    @in_own_transactions
    def import_account(self, request: Request) -> Response:
        """Take an export into this account. What is there already stays; running it again changes nothing."""
        with IMPORTS.hold(self.owner.pk):
            return Response(import_document(owner=self.owner, document=request.data, now=timezone.now()))

    @extend_schema(
        operation_id="validateAccountImport",
        request=OpenApiTypes.OBJECT,
        responses=TransferReceiptSerializer,
    )
    @action(detail=False, methods=["post"], url_path="import/validate", **_DOCUMENT_OPTIONS)
    @excluded_from_batches
    @ignores_idempotency_key
    def validate_import(self, request: Request) -> Response:
        """Say what an import would do, and do nothing."""
        with IMPORTS.hold(self.owner.pk):
            receipt = import_document(owner=self.owner, document=request.data, now=timezone.now(), dry=True)
        return Response(receipt)
