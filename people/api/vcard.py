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

from accounts.api.decorators import excluded_from_batches, in_own_transactions
from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.body_limit import VCARD_LIMIT
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.schema import raises
from contacts_project.kernel.errors import FieldError, PlanLimitError
from contacts_project.kernel.ownership.batches import IMPORTS
from contacts_project.kernel.text_forms import NOT_A_CHOICE
from people.api.uploads import JOINED_GROUPS, read_joined_groups
from people.api.vcard_files import IMPORT_BODY, IMPORT_RECEIPT, PARSERS, read_uploaded_cards
from people.contents.contact import export_cards
from people.importing.runs import VCardImport
from people.services.plan_limits import limit_error
from people.vcard import VERSIONS


class VCardViewSet(ApiViewSet[Any]):
    """Import and export of vCard files."""

    @extend_schema(
        operation_id="importVCards", parameters=[JOINED_GROUPS], request=IMPORT_BODY, responses=IMPORT_RECEIPT
    )
    @action(detail=False, methods=["post"], url_path="import", parser_classes=PARSERS, body_limit=VCARD_LIMIT)
    @raises(PlanLimitError)
    @excluded_from_batches
    @in_own_transactions
    def import_file(self, request: Request) -> Response:
        """Import a vCard file (2.1, 3.0, 4.0). Running it again changes nothing; `importId` undoes it."""
        with IMPORTS.hold(self.owner.pk):
            cards, file_name = read_uploaded_cards(request)
            group_ids = read_joined_groups(request, self.owner)
            run = VCardImport(owner=self.owner, file_name=file_name, now=timezone.now(), group_ids=group_ids)
            outcomes = list(run.run(cards))
        # If only some are refused, the receipt reports it for each of them.
        if run.is_refused_by_plan:
            raise limit_error(self.owner, "people")
        return Response(run.receipt(outcomes))

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
            raise FieldError("version", NOT_A_CHOICE.format(choices=list(VERSIONS)))
        cards = export_cards(owner=self.owner, version=version)
        response = StreamingHttpResponse(cards, content_type="text/vcard; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="contacts.vcf"'
        return response
