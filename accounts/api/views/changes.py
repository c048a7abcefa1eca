"""The change feed for clients that keep a copy of the account, and the stream that announces changes."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.authentication import is_credential_valid
from accounts.api.decorators import excluded_from_batches
from accounts.api.viewsets import ApiViewSet
from accounts.feed.changes import feed_types, read_changes
from accounts.feed.cursor import CursorExpiredError
from accounts.feed.stream import revisions_of
from contacts_project.kernel.api.asgi_responses import EventStream
from contacts_project.kernel.api.queries import integer_parameter, read_integer
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.ownership.models import FeedModel
from contacts_project.kernel.texts import define_text

_NO_TYPE = define_text("no_such_feed_type", "There is no type “%(type)s”: use any of %(choices)s.")

_DEFAULT_LIMIT, _MAX_LIMIT = 500, 1000


class ChangeSerializer(serializers.Serializer[Any]):
    """One record that has changed; in the API description one schema for each type (`accounts.api.schema`)."""


RECORD_SERIALIZERS: dict[type[FeedModel], type[serializers.Serializer[Any]]] = {}
"""What describes a record of the feed in the API description."""


def describe_changes(described: Mapping[type[FeedModel], type[serializers.Serializer[Any]]]) -> None:
    """Called by the routes of each app whose records are in the feed."""
    RECORD_SERIALIZERS.update(described)


class ChangeViewSet(ApiViewSet[Any]):
    """What has changed in the account."""

    @extend_schema(
        operation_id="listChanges",
        parameters=[
            OpenApiParameter("cursor", OpenApiTypes.STR, description="Of the answer before; nothing: from nothing."),
            integer_parameter("limit", low=1, high=_MAX_LIMIT, description=f"{_DEFAULT_LIMIT} unless said."),
            OpenApiParameter("types", OpenApiTypes.STR, description="Kinds of records with commas between."),
        ],
        responses=envelope(
            "Changes",
            changes=ChangeSerializer(many=True),
            cursor=serializers.CharField(),
            hasMore=serializers.BooleanField(),
        ),
    )
    @raises(FieldError, CursorExpiredError)
    def list(self, request: Request) -> Response:
        """What changed after a cursor, in the order of revisions, each record once and as it is now."""
        query = request.query_params
        page = read_changes(
            owner=self.owner,
            cursor=query.get("cursor"),
            types=_read_types(query.get("types")),
            limit=read_integer(query, "limit", default=_DEFAULT_LIMIT, low=1, high=_MAX_LIMIT),
        )
        return Response({"changes": page.changes, "cursor": page.cursor, "hasMore": page.has_more})

    @extend_schema(
        operation_id="streamChanges",
        responses={
            (200, "text/event-stream"): OpenApiResponse(
                OpenApiTypes.STR,
                description="Server-Sent Events: `changed` with `{ revision }`, the revision as id as well; one on "
                "connecting, then after writes, at most one a second. A comment every 15 seconds.",
            )
        },
    )
    @action(detail=False)
    @excluded_from_batches
    def stream(self, request: Request) -> EventStream:
        """Tell of each new revision of the account, until the credential ends."""
        return EventStream(revisions_of(self.owner, may_read=partial(is_credential_valid, request)))


def _read_types(text: str | None) -> list[str]:
    if text is None:
        return []
    types, valid = text.split(","), feed_types()
    for name in types:
        if name not in valid:
            raise FieldError("types", _NO_TYPE.format(type=name[:50], choices=list(valid)))
    return types
