"""Routes of pending imports: upload of a file, list, count, import as people."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field, inline_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import excluded_from_batches, in_own_transactions, reads_one_record
from accounts.api.viewsets import ApiViewSet, OwnedViewSet
from carddav.api.sync import report_schema, serialize_report
from carddav.models import PendingImport
from carddav.services.connections import ConnectionBusyError
from carddav.services.imports import import_pending
from carddav.services.pending_imports import upload_cards
from contacts_project.kernel.api.body_limit import VCARD_LIMIT
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import NOT_A_LIST_OF_IDS, OwnedIdsField, OwnedListField
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import NO_SUCH_RECORD
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import format_timestamp
from contacts_project.kernel.ownership.account_lock import IMPORTS
from contacts_project.kernel.text_forms import fold
from contacts_project.kernel.texts import define_text
from people.api.vcard import FILE_BODY, PARSERS, RECEIPT, read_uploaded_cards
from people.importing.receipts import build_receipt

_NOT_GROUP_LISTS = define_text("not_group_lists", "This must be an object of lists of group ids.")
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


@extend_schema_field(
    {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string", "format": "uuid"}}}
)
class _GroupsOfField(serializers.Field[Any, Any, Any, Any]):
    """Group ids by the id of a pending import; the validated value has the rows."""

    def to_internal_value(self, data: object) -> dict[UUID, list[object]]:
        if not isinstance(data, dict):
            raise InvalidError(_NOT_GROUP_LISTS)
        requested = [item for ids in data.values() if isinstance(ids, list) for item in ids if isinstance(item, str)]
        field = OwnedListField("people.Group")
        field.bind("perContactGroups", self.parent)
        groups_by_id = {}
        rows = {
            str(row.pk): row for row in field.rows().in_bulk([key for key in map(parse_id, requested) if key]).values()
        }
        for key, ids in data.items():
            if not isinstance(ids, list):
                raise InvalidError({key: [NOT_A_LIST_OF_IDS]})
            keys = [str(parse_id(item)) for item in ids]
            if unknown := {str(index): [NO_SUCH_RECORD] for index, item in enumerate(keys) if item not in rows}:
                raise InvalidError({key: unknown})
            if (row_id := parse_id(key)) is None:
                raise InvalidError({key: [NO_SUCH_RECORD]})
            groups_by_id[row_id] = [rows[item] for item in keys]
        # The id of another account's row gets the same error as an unknown one.
        pending = PendingImport.objects.owned_by(self.context["request"].user).filter(pk__in=set(groups_by_id))
        if unknown_ids := groups_by_id.keys() - set(pending.values_list("pk", flat=True)):
            raise InvalidError({str(key): [NO_SUCH_RECORD] for key in unknown_ids})
        return groups_by_id

    def to_representation(self, value: Any) -> Any:
        return value


class ImportSerializer(serializers.Serializer[Any]):
    """Which pending imports, and the groups they are put into."""

    importIds = OwnedIdsField("carddav.PendingImport", allow_empty=False)
    globalGroupIds = OwnedListField("people.Group", required=False, default=list)
    perContactGroups = _GroupsOfField(required=False, default=dict)


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

    @extend_schema(
        operation_id="importPending",
        request=ImportSerializer,
        responses=report_schema("ImportPendingAnswer", "imported", "skipped"),
    )
    @action(detail=False, methods=["post"], url_path="import")
    @raises(ConnectionBusyError)
    @in_own_transactions
    def import_pending(self, request: Request) -> Response:
        """Import chosen contacts, with groups for all or for each; a failure of one never stops the rest.

        After 45 seconds the rest still waits, as one error that says how many they are.
        """
        data = self.read_body(ImportSerializer)
        report = import_pending(
            owner=self.owner,
            row_ids=data["importIds"],
            groups=data["globalGroupIds"],
            groups_of=data["perContactGroups"],
            now=timezone.now(),
        )
        return Response(serialize_report(report, "imported"))


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
