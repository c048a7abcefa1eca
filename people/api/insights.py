"""GET /api/insights."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.schema import envelope
from people.dates import schedule
from people.insights import drifting_people, incomplete_people, milestones


class InsightSerializer(serializers.Serializer[Any]):
    """One person, and why."""

    personId = serializers.UUIDField()
    personName = serializers.CharField()
    code = serializers.CharField(help_text="The reason in a word: contact_interval, own_rhythm, birthday ...")
    reason = serializers.CharField()
    params = serializers.DictField(help_text="The values in the reason.")
    since = serializers.DateField(allow_null=True, help_text="Of the drifting: the day of the last contact.")


_RESPONSE = envelope(
    "InsightsAnswer",
    drifting=InsightSerializer(many=True),
    incomplete=InsightSerializer(many=True),
    milestones=InsightSerializer(many=True),
)


class InsightViewSet(ApiViewSet[Any]):
    """Insights into the caller's people."""

    @extend_schema(operation_id="listInsights", responses={200: _RESPONSE})
    def list(self, request: Request) -> Response:
        """Who drifts away, whom nothing would reach, and which round days come; at most 20 of each."""
        owner = self.owner
        calendar = schedule.calendar_from_user(owner)
        today = calendar.today(timezone.now())
        found = {
            "drifting": drifting_people(owner, calendar, today),
            "incomplete": incomplete_people(owner),
            "milestones": milestones(owner, calendar, today),
        }
        return Response({kind: [insight.to_json() for insight in insights] for kind, insights in found.items()})
