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


class UpcomingViewSet(ApiViewSet[Any]):
    """Upcoming events of the caller's people."""

    @extend_schema(
        operation_id="listUpcoming",
        parameters=[DAYS],
        responses={200: envelope("UpcomingAnswer", events=UpcomingEventSerializer(many=True))},
    )
    def list(self, request: Request) -> Response:
        """Important dates and people to get in touch with, in the coming days."""
        owner, days = self.owner, read_days(request)
        today = schedule.calendar_from_user(owner).today(timezone.now())
        return Response({"events": upcoming_events(owner, start=today, days=days)})
