"""Endpoints of calendar feeds, and the iCalendar file that calendar programs read."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Model
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.decorators import if_match, ignores_idempotency_key, sends_etag
from accounts.api.viewsets import OwnedViewSet
from contacts_project.kernel.api.errors import plain_error_response
from contacts_project.kernel.api.etags import conditional_status, if_none_match_tags
from contacts_project.kernel.api.fields import (
    OwnedIdsField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictDateTimeField,
)
from contacts_project.kernel.api.json import SecretResponse, representation_response
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.json import JsonObject, Representation
from contacts_project.kernel.languages import CODES
from notifications.models import CalendarFeed
from notifications.models.destinations import FEED_KINDS
from notifications.services import calendar_feeds as services


class FeedGroupsField(OwnedIdsField):
    """Own, active groups, and those that the feed has already: one in the trash counts again when it is restored."""

    def find_rows(self, ids: list[UUID]) -> Mapping[UUID, Model | UUID]:
        kept = map(UUID, self.context["request"].parser_context["view"].kept_group_ids())
        return {**super().find_rows(ids), **{key: key for key in kept}}


class CalendarFeedBody(serializers.Serializer[Any]):
    name = StrictCharField(max_length=100)
    groupIds = FeedGroupsField("people.Group", required=False, max_items=100, help_text="Empty: all people.")
    kinds: serializers.ListField = serializers.ListField(
        child=StrictChoiceField(FEED_KINDS), required=False, allow_empty=False, min_length=1, max_length=len(FEED_KINDS)
    )
    alarms = StrictBooleanField(required=False)
    language = StrictChoiceField(CODES, required=False, allow_null=True, help_text="Null: the account's.")


class CalendarFeedSerializer(serializers.Serializer[Any]):
    """A feed as it is told: never with its address."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    groupIds = serializers.ListField(child=serializers.UUIDField())
    kinds = serializers.ListField(child=serializers.ChoiceField(FEED_KINDS))
    alarms = serializers.BooleanField()
    language = serializers.ChoiceField(CODES)
    lastReadAt = StrictDateTimeField(allow_null=True)
    createdAt = StrictDateTimeField()
    updatedAt = StrictDateTimeField()


class NewCalendarFeedSerializer(CalendarFeedSerializer):
    """A feed as answered once, when it has got its address."""

    url = serializers.CharField()


_RECORD = envelope("CalendarFeedAnswer", calendarFeed=CalendarFeedSerializer())
_NEW = envelope("NewCalendarFeedAnswer", calendarFeed=NewCalendarFeedSerializer())


class CalendarFeedViewSet(OwnedViewSet[CalendarFeed]):
    """The account's calendar feeds."""

    model = CalendarFeed
    lookup_url_kwarg = "feed_id"
    record_name, record_serializer = "calendarFeed", CalendarFeedSerializer

    def current_record(self) -> Representation:
        return _represent(self.get_object())

    def kept_group_ids(self) -> Sequence[str]:
        """The groups that an update may repeat though they are deleted, so that a client may send back what it read."""
        return self.get_object().group_ids if self.action == "update" else ()

    @extend_schema(
        operation_id="listCalendarFeeds",
        responses=envelope("CalendarFeeds", calendarFeeds=CalendarFeedSerializer(many=True)),
    )
    def list(self, request: Request) -> Response:
        """The feeds, oldest first, without their addresses."""
        rows: Any = self.get_queryset().select_related("owner").order_by("id")
        return Response({"calendarFeeds": [_represent(row).body for row in rows]})

    @extend_schema(operation_id="createCalendarFeed", request=CalendarFeedBody, responses={201: _NEW})
    @raises(services.TooManyFeedsError)
    @ignores_idempotency_key
    @sends_etag
    def create(self, request: Request) -> Response:
        """Make a feed. Its address is in this answer and never again: whoever has it reads the dates."""
        values = {"kinds": FEED_KINDS, **_columns_from_body(self.read_body(CalendarFeedBody))}
        return _response_with_url(*services.create_feed(owner=self.owner, values=values), status=201)

    @extend_schema(operation_id="getCalendarFeed", responses=_RECORD)
    @conditional_status
    def retrieve(self, request: Request, feed_id: UUID) -> Response:
        """One feed."""
        return representation_response("calendarFeed", self.current_record())

    @extend_schema(operation_id="updateCalendarFeed", request=CalendarFeedBody, responses=_RECORD)
    @sends_etag
    @if_match
    def update(self, request: Request, feed_id: UUID) -> Response:
        """Change what a feed tells of; what the body leaves out stays."""
        values = _columns_from_body(self.read_body(CalendarFeedBody, partial=True))
        return representation_response(
            "calendarFeed", _represent(services.update_feed(feed=self.get_object(), values=values))
        )

    @extend_schema(
        operation_id="deleteCalendarFeed",
        responses={200: envelope("DeletedCalendarFeed", success=serializers.BooleanField())},
    )
    @if_match
    def destroy(self, request: Request, feed_id: UUID) -> Response:
        """End a feed: its address is 404 from now on."""
        services.delete_feed(feed=self.get_object())
        return Response({"success": True})

    @extend_schema(operation_id="rotateCalendarFeed", request=None, responses=_NEW)
    @action(detail=True, methods=["post"])
    @ignores_idempotency_key
    @sends_etag
    @if_match
    def rotate(self, request: Request, feed_id: UUID) -> Response:
        """Give a feed another address, shown this once; the old one is 404 from now on."""
        return _response_with_url(*services.rotate_feed(feed=self.get_object()))


@require_safe
def calendar_file(request: HttpRequest, secret: str) -> HttpResponseBase:
    """GET /calendar/{secret}.ics: open to whoever has the address."""
    now = timezone.now()
    try:
        feed = services.feed_at(secret=secret, now=now)
    except MissingError as error:
        return plain_error_response(request, error)
    etag, known = services.feed_etag(feed, now), if_none_match_tags(request)
    response: HttpResponseBase
    if known & {etag, "*"}:
        response = HttpResponse(status=304)
    else:
        response = StreamingHttpResponse(services.feed_document(feed, now), content_type="text/calendar; charset=utf-8")
    response["ETag"], response["Cache-Control"] = etag, "private, no-cache"
    return response


_COLUMNS = {"name": "name", "kinds": "kinds", "alarms": "alarms"}


def _columns_from_body(data: JsonObject) -> JsonObject:
    """The columns that the body of a request sets."""
    values = {column: data[name] for name, column in _COLUMNS.items() if name in data}
    if "kinds" in values:
        # Without duplicates, and in one order.
        values["kinds"] = [kind for kind in FEED_KINDS if kind in values["kinds"]]
    if "groupIds" in data:
        values["group_ids"] = [str(key) for key in data["groupIds"]]
    if "language" in data:
        values["language"] = data["language"] or ""
    return values


def _represent(row: CalendarFeed) -> Representation:
    body = {
        "id": str(row.pk),
        "name": row.name,
        "groupIds": row.group_ids,
        "kinds": row.kinds,
        "alarms": row.alarms,
        "language": row.language or row.owner.language,
        "lastReadAt": row.last_read_at,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }
    return Representation(row.revision, body)


def _response_with_url(row: CalendarFeed, url: str, status: int = 200) -> Response:
    shown = _represent(row)
    response = SecretResponse({"calendarFeed": {**shown.body, "url": url}}, status=status)
    response["ETag"] = shown.etag
    return response
