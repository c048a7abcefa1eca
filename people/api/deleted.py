"""GET /api/deleted: the records of one kind in the trash."""

from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.json import format_timestamp
from contacts_project.kernel.api.paging import PaginationSerializer, page_parameters, pagination, read_page
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ownership.models import retention_cutoff
from people.trash.registry import trash_kinds

KINDS = [
    "people",
    "groups",
    "relationships",
    "relationshipTypes",
    "importantDates",
    "customFieldTemplates",
    "interactions",
]


class DeletedAnswer(serializers.Serializer[Any]):
    """Replaced in the API description by one of `response_shapes` (people.api.schema)."""


def response_shapes() -> list["serializers.Serializer[Any]"]:
    """The response schema of each kind."""
    return [
        envelope(
            f"Deleted{name[0].upper()}{name[1:]}",
            optional=("pagination",),
            deleted=import_string(trash_kinds()[name].serializer_path)(many=True),
            retentionDays=serializers.IntegerField(),
            cutoffDate=serializers.DateTimeField(help_text="What was deleted before this can no longer be restored."),
            pagination=PaginationSerializer(help_text="With `limit` only."),
        )
        for name in KINDS
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
            raise FieldError("type", f"This must be one of {', '.join(KINDS)}.")
        limit, offset = read_page(request.query_params, default=None)
        owner, now = self.owner, timezone.now()
        rows = kind.rows(owner, now)
        page = rows if limit is None and not offset else rows[offset : offset + limit if limit else None]
        body = {
            "deleted": kind.serialize(owner, page),
            "retentionDays": settings.RETENTION_DAYS,
            "cutoffDate": format_timestamp(retention_cutoff(now)),
        }
        if limit is not None:
            body["pagination"] = pagination(total=rows.count(), limit=limit, offset=offset)
        return Response(body)
