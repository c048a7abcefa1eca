"""Routes of exports: people as cards on the server, the whole address book as a file."""

from typing import Any

from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import excluded_from_batches, ignores_idempotency_key, in_own_transactions
from accounts.api.viewsets import ApiViewSet
from carddav.api.sync import report_schema, serialize_report
from carddav.services.connections import ConnectionBusyError
from carddav.services.exports import back_up_book, export_people
from carddav.services.server_checks import ServerError
from contacts_project.kernel.api.fields import OwnedIdsField
from contacts_project.kernel.api.schema import raises
from contacts_project.kernel.errors import MissingError


class ExportSerializer(serializers.Serializer[Any]):
    """Which people."""

    personIds = OwnedIdsField("people.Person")


class ExportViewSet(ApiViewSet[Any]):
    """Export of people, and backup of the book."""

    @extend_schema(
        operation_id="exportBulk",
        request=ExportSerializer,
        responses=report_schema("ExportBulkAnswer", "exported", "skipped"),
    )
    @action(detail=False, methods=["post"], url_path="export-bulk")
    @raises(MissingError, ConnectionBusyError)
    @in_own_transactions
    def export_bulk(self, request: Request) -> Response:
        """Write a card on the server for each of these people who has none."""
        report = export_people(owner=self.owner, person_ids=self.read_body(ExportSerializer)["personIds"])
        return Response(serialize_report(report, "exported"))

    @extend_schema(
        operation_id="backUpCardDavBook",
        request=None,
        responses={(200, "text/vcard"): OpenApiResponse(OpenApiTypes.STR, description="Every card of the book.")},
    )
    @action(detail=False, methods=["post"])
    @raises(MissingError, ServerError)
    @ignores_idempotency_key
    @excluded_from_batches
    def backup(self, request: Request) -> FileResponse:
        """Every contact on the server as one vCard file, group cards included; X-Contact-Count says how many."""
        made = back_up_book(owner=self.owner)
        name = f"contacts-{timezone.now():%Y-%m-%d}.vcf"
        response = FileResponse(made.file, as_attachment=True, filename=name, content_type="text/vcard; charset=utf-8")
        response["X-Contact-Count"] = str(made.cards)
        response["Cache-Control"] = "no-store"
        if made.unreadable:
            response["X-Unreadable-Count"] = str(made.unreadable)
        return response
