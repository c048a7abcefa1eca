"""GET /api/dashboard/stats. Here, because relationships are the highest of what it counts."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import IntegerField
from rest_framework.views import APIView

from accounts.api.callers import caller
from contacts_project.kernel.api.schema import envelope
from people.counts import PEOPLE, count_of
from people.dates import schedule
from people.dates.upcoming import count_upcoming
from people.models import Group
from relationships.counts import RELATIONSHIPS

DAYS = 30


class DashboardStatsView(APIView):
    @extend_schema(
        operation_id="getDashboardStats",
        responses=envelope(
            "DashboardStats",
            peopleCount=IntegerField(),
            groupsCount=IntegerField(),
            relationshipsCount=IntegerField(help_text="A pair, being two rows of the list, counts once."),
            upcomingEvents=IntegerField(
                help_text=f"Events of the coming {DAYS} days, as GET /api/upcoming lists them."
            ),
        ),
    )
    def get(self, request: Request) -> Response:
        """How many people, groups, relationships and upcoming events there are."""
        owner = caller(request)
        today = schedule.calendar_of(owner).today(timezone.now())
        return Response(
            {
                "peopleCount": count_of(owner.pk, PEOPLE),
                "groupsCount": Group.objects.owned_by(owner).active().count(),
                "relationshipsCount": count_of(owner.pk, RELATIONSHIPS) // 2,
                "upcomingEvents": count_upcoming(owner, start=today, days=DAYS),
            }
        )
