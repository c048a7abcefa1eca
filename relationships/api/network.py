"""Routes of the network, orphans and graphs, and the figures of the dashboard."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import IntegerField

from accounts.api.viewsets import ApiViewSet, TrashViewSet
from contacts_project.kernel.api.queries import integer_parameter, read_integer
from contacts_project.kernel.api.schema import envelope
from contacts_project.kernel.ids import parse_id
from people.counts import PEOPLE, count_of, last_search
from people.dates import schedule
from people.dates.upcoming import count_upcoming
from people.extensions import EXTENSIONS
from people.models import Group, Person
from relationships.api.serializers import GraphEdgeSerializer, GraphNodeSerializer, OrphanSerializer
from relationships.graphs import load_network_graph, load_person_graph
from relationships.models import RELATIONSHIPS
from relationships.orphans import find_orphans
from relationships.projection import serialize_orphans

UPCOMING_DAYS = 30
GRAPH = envelope("Graph", nodes=GraphNodeSerializer(many=True), edges=GraphEdgeSerializer(many=True))


class NetworkViewSet(TrashViewSet[Person]):
    """Routes below /api/people about the network around one person."""

    model = Person
    lookup_url_kwarg = "person_id"

    @extend_schema(operation_id="listOrphans", responses=envelope("Orphans", orphans=OrphanSerializer(many=True)))
    @action(detail=True)
    def orphans(self, request: Request, person_id: UUID) -> Response:
        """People connected to the network only through this person, whole branches included, in name order."""
        person = Person.objects.find_active(self.owner, person_id)
        orphans = find_orphans(self.owner, [person.pk])
        return Response({"orphans": serialize_orphans(self.owner, orphans)})

    @extend_schema(operation_id="getPersonGraph", responses=GRAPH)
    @action(detail=True)
    def graph(self, request: Request, person_id: UUID) -> Response:
        """A person with their direct connections."""
        return Response(load_person_graph(self.owner, Person.objects.find_active(self.owner, person_id)))


class DashboardViewSet(ApiViewSet[Any]):
    """The network and the figures of the whole account.

    It is in this app because this is the lowest one that may import everything that it counts.
    """

    @extend_schema(
        operation_id="getDashboardStats",
        responses=envelope(
            "DashboardStats",
            peopleCount=IntegerField(),
            groupsCount=IntegerField(),
            relationshipsCount=IntegerField(help_text="A pair, being two rows of the list, counts once."),
            upcomingEvents=IntegerField(
                help_text=f"Events of the coming {UPCOMING_DAYS} days, as GET /api/upcoming lists them."
            ),
            duplicates=IntegerField(
                allow_null=True, help_text="Groups that the last search of a day has found, or null."
            ),
            suggestions=IntegerField(allow_null=True, help_text="What the last search of a day has found, or null."),
            pendingImports=IntegerField(help_text="Contacts of a server that wait for an answer."),
            conflicts=IntegerField(help_text="Open conflicts with a server."),
        ),
    )
    @action(detail=False)
    def stats(self, request: Request) -> Response:
        """How many people, groups, relationships and upcoming events there are, and what waits."""
        today = schedule.calendar_from_user(self.owner).today(timezone.now())
        figures: dict[str, int | None] = {**last_search(self.owner.pk)}
        for extension in EXTENSIONS:
            figures |= extension.figures(self.owner)
        return Response(
            {
                "peopleCount": count_of(self.owner.pk, PEOPLE),
                "groupsCount": Group.objects.owned_by(self.owner).active().count(),
                # The stored count is of rows, and a relationship is a pair of rows.
                "relationshipsCount": count_of(self.owner.pk, RELATIONSHIPS) // 2,
                "upcomingEvents": count_upcoming(self.owner, start=today, days=UPCOMING_DAYS),
                **figures,
            }
        )

    @extend_schema(
        operation_id="getDashboardGraph",
        parameters=[
            OpenApiParameter("includeGroupIds", str, description="Comma-separated: only people in one of these."),
            OpenApiParameter("excludeGroupIds", str, description="Comma-separated: nobody in any of these."),
            integer_parameter("limit", low=1, description="At most so many people, those nearest to the user first."),
        ],
        responses=GRAPH,
    )
    @action(detail=False)
    def graph(self, request: Request) -> Response:
        """The whole network, with the user as center."""
        query = request.query_params
        including = _parse_group_ids(query.get("includeGroupIds", ""))
        graph = load_network_graph(
            self.owner,
            including=including or None,
            excluding=_parse_group_ids(query.get("excludeGroupIds", "")),
            limit=read_integer(query, "limit", default=None, low=1),
        )
        return Response(graph)


def _parse_group_ids(text: str) -> set[str]:
    """The `UUID.hex` of each id in a comma-separated text."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    # A malformed id is kept as it is: like the id of an unknown group, it matches nobody. If it were dropped, a filter
    # of malformed ids alone would be empty, and the graph would show everybody.
    return {key.hex if (key := parse_id(part)) else part for part in parts}
