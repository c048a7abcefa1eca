"""Routes of pending imports: list, count, and upload of a file."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import excluded_from_batches, in_own_transactions, reads_one_record
from accounts.api.viewsets import ApiViewSet, OwnedViewSet
from carddav.models import PendingImport
from carddav.services.pending_imports import upload_cards
from contacts_project.kernel.api.body_limit import VCARD_LIMIT
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.json import format_timestamp
from contacts_project.kernel.ownership.batches import IMPORTS
from contacts_project.kernel.text_forms import fold
from people.api.vcard_files import FILE_BODY, PARSERS, RECEIPT, read_uploaded_cards
from people.importing.receipts import build_receipt

_PENDING = inline_serializer(
    "PendingImport",
    {
        "id": serializers.UUIDField(),
        "uid": serializers.CharField(allow_null=True),
        "displayName": serializers.CharField(),
        "discoveredAt": serializers.DateTimeField(),
    },
    many=True,
)


class PendingImportViewSet(OwnedViewSet[PendingImport]):
    """Cards that wait to be imported."""

    model = PendingImport

    @extend_schema(operation_id="listPendingImports", responses=envelope("PendingImports", pendingImports=_PENDING))
    @action(detail=False, url_path="pending-imports")
    def list_all(self, request: Request) -> Response:
        """Contacts that are not imported yet, the latest found first."""
        columns = ("id", "uid", "display_name", "discovered_at")
        # By name here, because databases collate text differently.
        rows = sorted(self.get_queryset().values_list(*columns), key=lambda row: (fold(row[2]), row[0]))
        rows.sort(key=lambda row: row[3], reverse=True)
        records = [
            {"id": str(key), "uid": uid, "displayName": name, "discoveredAt": format_timestamp(found_at)}
            for key, uid, name, found_at in rows
        ]
        return Response({"pendingImports": records})

    @extend_schema(
        operation_id="countPendingImports",
        responses=envelope("PendingCount", count=serializers.IntegerField()),
    )
    @action(detail=False, url_path="pending-count")
    @reads_one_record
    def count(self, request: Request) -> Response:
        """The number of contacts that are not imported yet."""
        return Response({"count": self.get_queryset().count()})


class UploadViewSet(ApiViewSet[Any]):
    """The upload of a vCard file whose cards are reviewed before they are imported."""

    parser_classes = PARSERS
    body_limit = VCARD_LIMIT

    @extend_schema(operation_id="uploadVCards", request=FILE_BODY, responses={200: RECEIPT})
    @excluded_from_batches
    @in_own_transactions
    def create(self, request: Request) -> Response:
        """Keep the cards of a file as pending imports."""
        with IMPORTS.hold(self.owner.pk):
            cards, _ = read_uploaded_cards(request)
            outcomes = upload_cards(owner=self.owner, cards=cards, now=timezone.now())
            return Response(build_receipt(outcomes))
