"""GET /api/deleted: the records of one kind in the trash."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from orjson import Fragment
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet
from accounts.models import User
from contacts_project.kernel.api.queries import PaginationSerializer, page_parameters, pagination, read_page
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.json import dumps, format_timestamp
from contacts_project.kernel.ownership.models import retention_cutoff
from contacts_project.kernel.text_forms import NOT_A_CHOICE
from people.trash import TrashKind, find_deleters, id_of_record, trash_kinds

KINDS = [
    "people",
    "groups",
    "relationships",
    "relationshipTypes",
    "importantDates",
    "customFieldTemplates",
    "interactions",
]


_row_serializers: dict[str, type["serializers.Serializer[Any]"]] = {}


def describe_deleted(described: Mapping[str, type["serializers.Serializer[Any]"]]) -> None:
    """Set what describes the rows of these kinds in the API description. Called by the routes of their app."""
    _row_serializers.update(described)


class DeletedAnswer(serializers.Serializer[Any]):
    """Replaced in the API description by one of `response_shapes` (people.api.schema)."""


class DeleterSerializer(serializers.Serializer[Any]):
    """The device that deleted a record: its app password, and the name of it."""

    tokenId = serializers.UUIDField()
    name = serializers.CharField()


def _with_deleter(row: type["serializers.Serializer[Any]"]) -> type["serializers.Serializer[Any]"]:
    """The serializer of a row with the device that deleted it."""
    name = row.__name__ if row.__name__.startswith("Deleted") else f"Deleted{row.__name__}"

    def get_fields(self: Any) -> dict[str, Any]:
        deleter = DeleterSerializer(allow_null=True, help_text="Null: no device.")
        return {**row.get_fields(self), "deletedBy": deleter}

    return type(name, (row,), {"get_fields": get_fields, "__doc__": row.__doc__})


def response_shapes() -> list["serializers.Serializer[Any]"]:
    """The response schema of each kind."""
    return [
        envelope(
            f"Deleted{name[0].upper()}{name[1:]}",
            optional=("pagination",),
            deleted=_with_deleter(_row_serializers[name])(many=True),
            retentionDays=serializers.IntegerField(),
            cutoffDate=serializers.DateTimeField(help_text="What was deleted before this can no longer be restored."),
            pagination=PaginationSerializer(help_text="With `limit` only."),
        )
        for name in KINDS
    ]


def _serialize(kind: TrashKind, owner: User, page: Any) -> list[Fragment]:
    """The rows as their kind shows them, each with the device that deleted it."""
    deleted = dict(page.values_list("pk", "deleted_at"))
    deleters = find_deleters(owner, kind.name, deleted)
    records = [dumps(row) for row in kind.serialize(owner, page)]
    return [
        Fragment(record[:-1] + b"," + dumps({"deletedBy": deleters.get(id_of_record(record))})[1:])
        for record in records
    ]


class DeletedViewSet(ApiViewSet[Any]):
    """The trash of the caller."""

    @extend_schema(
        operation_id="listDeleted",
        parameters=[OpenApiParameter("type", str, required=True, enum=KINDS), *page_parameters(default="all")],
        responses=DeletedAnswer,
    )
    def list(self, request: Request) -> Response:
        """The deleted records of one kind that can still be restored."""
        kind = trash_kinds().get(request.query_params.get("type", ""))
        if kind is None:
            raise FieldError("type", NOT_A_CHOICE.format(choices=list(KINDS)))
        limit, offset = read_page(request.query_params, default=None)
        owner, now = self.owner, timezone.now()
        rows = kind.rows(owner, now)
        page = rows if limit is None and not offset else rows[offset : offset + limit if limit else None]
        body = {
            "deleted": _serialize(kind, owner, page),
            "retentionDays": settings.RETENTION_DAYS,
            "cutoffDate": format_timestamp(retention_cutoff(now)),
        }
        if limit is not None:
            body["pagination"] = pagination(total=rows.count(), limit=limit, offset=offset)
        return Response(body)
