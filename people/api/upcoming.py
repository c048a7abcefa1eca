"""GET /api/upcoming."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.queries import integer_parameter, read_integer
from contacts_project.kernel.api.schema import envelope
from people.dates import schedule
from people.dates.upcoming import CONTACT, IMPORTANT_DATE, upcoming_events

MAX_DAYS = 366
DAYS = integer_parameter("days", low=1, high=MAX_DAYS, description="How far to look ahead.", default=30)
DEFAULT_LIMIT, MAX_LIMIT = 500, 1_000
LIMIT = integer_parameter(
    "limit",
    low=1,
    high=MAX_LIMIT,
    description="The nearest so many; `hasMore` says whether there are more.",
    default=DEFAULT_LIMIT,
)


class UpcomingEventSerializer(serializers.Serializer[object]):
    """One event."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField([IMPORTANT_DATE, CONTACT])
    personId = serializers.UUIDField()
    personName = serializers.CharField()
    type = serializers.CharField(allow_null=True)
    title = serializers.CharField(allow_null=True)
    date = serializers.DateField()
    daysUntil = serializers.IntegerField()
    yearUnknown = serializers.BooleanField()
    turns = serializers.IntegerField(allow_null=True)


def read_days(request: Request, default: int = 30) -> int:
    """The query parameter `days`. Raises FieldError."""
    return read_integer(request.query_params, "days", default=default, low=1, high=MAX_DAYS)


def read_limit(request: Request) -> int:
    """The query parameter `limit` of a list whose entries are computed. Raises FieldError."""
    return read_integer(request.query_params, "limit", default=DEFAULT_LIMIT, low=1, high=MAX_LIMIT)


class UpcomingViewSet(ApiViewSet[Any]):
    """Upcoming events of the caller's people."""

    @extend_schema(
        operation_id="listUpcoming",
        parameters=[DAYS, LIMIT],
        responses={
            200: envelope(
                "UpcomingAnswer", events=UpcomingEventSerializer(many=True), hasMore=serializers.BooleanField()
            )
        },
    )
    def list(self, request: Request) -> Response:
        """Important dates and people to get in touch with, in the coming days, the nearest first."""
        owner, days, limit = self.owner, read_days(request), read_limit(request)
        today = schedule.calendar_from_user(owner).today(timezone.now())
        found = upcoming_events(owner, start=today, days=days, limit=limit)
        return Response({"events": found.events, "hasMore": found.has_more})
