"""The routes of vCard: import a file, export all people."""

from typing import Any

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.route_marks import excluded_from_batches, in_own_transactions
from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.schema import raises
from contacts_project.kernel.errors import FieldError, PlanLimitError
from contacts_project.kernel.slots import IMPORT_SLOTS
from people.api.vcard_files import FILE_BODY, PARSERS, RECEIPT, read_uploaded_cards
from people.importing.receipts import build_receipt
from people.importing.vcards import PLAN_LIMIT, import_cards
from people.projection.vcard_export import export_cards
from people.services.plan_limits import limit_error
from people.vcard import VERSIONS


class VCardViewSet(ApiViewSet[Any]):
    """Import and export of vCard files."""

    @extend_schema(operation_id="importVCards", request=FILE_BODY, responses=RECEIPT)
    @action(detail=False, methods=["post"], url_path="import", parser_classes=PARSERS, max_body_bytes="MAX_VCARD_BYTES")
    @raises(PlanLimitError)
    @excluded_from_batches
    @in_own_transactions
    def import_file(self, request: Request) -> Response:
        """Import a vCard file (2.1, 3.0, 4.0). Running it again changes nothing."""
        with IMPORT_SLOTS.acquire():
            outcomes = list(import_cards(owner=self.owner, cards=read_uploaded_cards(request), now=timezone.now()))
        # If only some are refused, the receipt reports it for each of them.
        if all(outcome.code == PLAN_LIMIT for outcome in outcomes):
            raise limit_error(self.owner, "people")
        return Response(build_receipt(outcomes))

    @extend_schema(
        operation_id="exportVCards",
        parameters=[OpenApiParameter("version", str, enum=VERSIONS, description="4.0 when left out.")],
        responses={(200, "text/vcard"): OpenApiResponse(OpenApiTypes.STR, description="One card a person.")},
    )
    @action(detail=False)
    @conditional
    @excluded_from_batches
    def export(self, request: Request) -> HttpResponseBase:
        """All own people as vCard 4.0 or 3.0."""
        version = request.query_params.get("version", "4.0")
        if version not in VERSIONS:
            raise FieldError("version", f"This must be one of {', '.join(VERSIONS)}.")
        cards = export_cards(owner=self.owner, version=version)
        response = StreamingHttpResponse(cards, content_type="text/vcard; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="contacts.vcf"'
        return response
