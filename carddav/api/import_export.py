"""Routes that import pending imports as people, and export people as cards."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import in_own_transactions
from accounts.api.viewsets import ApiViewSet
from carddav.api.sync_responses import receipt_schema, serialize_receipt
from carddav.models import PendingImport
from carddav.services.connections import ConnectionBusyError
from carddav.services.exports import export_people
from carddav.services.imports import import_pending
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import NOT_A_LIST_OF_IDS, OwnedIdsField, OwnedListField
from contacts_project.kernel.api.schema import raises
from contacts_project.kernel.errors import NO_SUCH_RECORD, MissingError
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.texts import define_text

_NOT_GROUP_LISTS = define_text("not_group_lists", "This must be an object of lists of group ids.")


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


class ExportSerializer(serializers.Serializer[Any]):
    """Which people."""

    personIds = OwnedIdsField("people.Person")


class ImportExportViewSet(ApiViewSet[Any]):
    """Import of pending imports, export of people."""

    @extend_schema(
        operation_id="importPending",
        request=ImportSerializer,
        responses=receipt_schema("ImportPendingAnswer", "imported", "skipped"),
    )
    @action(detail=False, methods=["post"], url_path="import")
    @raises(ConnectionBusyError)
    @in_own_transactions
    def import_pending(self, request: Request) -> Response:
        """Import chosen contacts, with groups for all or for each; a failure of one never stops the rest.

        After 45 seconds the rest still waits, as one error that says how many they are.
        """
        data = self.read_body(ImportSerializer)
        receipt = import_pending(
            owner=self.owner,
            row_ids=data["importIds"],
            groups=data["globalGroupIds"],
            groups_of=data["perContactGroups"],
            now=timezone.now(),
        )
        return Response(serialize_receipt(receipt, "imported"))

    @extend_schema(
        operation_id="exportBulk",
        request=ExportSerializer,
        responses=receipt_schema("ExportBulkAnswer", "exported", "skipped"),
    )
    @action(detail=False, methods=["post"], url_path="export-bulk")
    @raises(MissingError, ConnectionBusyError)
    @in_own_transactions
    def export_bulk(self, request: Request) -> Response:
        """Write a card on the server for each of these people who has none."""
        receipt = export_people(owner=self.owner, person_ids=self.read_body(ExportSerializer)["personIds"])
        return Response(serialize_receipt(receipt, "exported"))
