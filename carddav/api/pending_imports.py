"""Routes of pending imports: what waits, how many, and the upload of a file of cards."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from carddav.models import PendingImport
from carddav.services.pending_imports import upload_cards
from contacts_project.kernel.api.json import timestamp
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.api.slots import IMPORTS
from people.api.vcard_files import FILE_BODY, PARSERS, RECEIPT, cards_of
from people.importing.receipts import receipt

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


class PendingImportsView(APIView):
    """Everything that waits."""

    @extend_schema(
        operation_id="listPendingImports",
        responses=envelope("PendingImports", pendingImports=_PENDING),
    )
    def get(self, request: Request) -> Response:
        """Contacts that are not imported yet, the latest found first."""
        rows = PendingImport.objects.owned_by(request.user).order_by("-discovered_at", "display_name", "id")
        answers = [
            {"id": str(key), "uid": uid, "displayName": name, "discoveredAt": timestamp(found_at)}
            for key, uid, name, found_at in rows.values_list("id", "uid", "display_name", "discovered_at")
        ]
        return Response({"pendingImports": answers})


class PendingCountView(APIView):
    """How many wait."""

    @extend_schema(
        operation_id="countPendingImports",
        responses=envelope("PendingCount", count=serializers.IntegerField()),
    )
    def get(self, request: Request) -> Response:
        """The number of contacts that are not imported yet."""
        return Response({"count": PendingImport.objects.owned_by(request.user).count()})


class UploadView(APIView):
    """A file of cards, to be looked at first."""

    parser_classes = PARSERS
    max_body_bytes = "MAX_VCARD_BYTES"

    @extend_schema(operation_id="uploadVCards", request=FILE_BODY, responses=RECEIPT)
    def post(self, request: Request) -> Response:
        """Keep the cards of a file as pending imports."""
        with IMPORTS.take():
            outcomes = upload_cards(owner=caller(request), cards=cards_of(request), now=timezone.now())
            return Response(receipt(outcomes))
