"""Routes of the network: orphans and graphs."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.queries import read_whole
from contacts_project.kernel.api.schema import envelope
from people.models import Person
from relationships.api.answers import GraphEdge, GraphNode, OrphanAnswer
from relationships.network.graphs import direct_graph, whole_graph
from relationships.network.loading import find_orphans
from relationships.projection import orphan_answers

GRAPH = envelope("Graph", nodes=GraphNode(many=True), edges=GraphEdge(many=True))


class OrphansView(APIView):
    @extend_schema(operation_id="listOrphans", responses=envelope("Orphans", orphans=OrphanAnswer(many=True)))
    def get(self, request: Request, person_id: str) -> Response:
        """People connected to the network only through this person, whole branches included, in name order."""
        person = Person.objects.find_active(caller(request), person_id)
        orphans = find_orphans(caller(request), [person.pk])
        return Response({"orphans": orphan_answers(caller(request), orphans)})


class PersonGraphView(APIView):
    @extend_schema(operation_id="getPersonGraph", responses=GRAPH)
    def get(self, request: Request, person_id: str) -> Response:
        """A person with their direct connections."""
        person = Person.objects.find_active(caller(request), person_id)
        return Response(direct_graph(caller(request), person))


class DashboardGraphView(APIView):
    @extend_schema(
        operation_id="getDashboardGraph",
        parameters=[
            OpenApiParameter("includeGroupIds", str, description="Comma-separated: only people in one of these."),
            OpenApiParameter("excludeGroupIds", str, description="Comma-separated: nobody in any of these."),
            OpenApiParameter("limit", int, description="At most so many people, those nearest to the user first."),
        ],
        responses=GRAPH,
    )
    def get(self, request: Request) -> Response:
        """The whole network, with the user as center."""
        query = request.query_params
        including = _ids(query.get("includeGroupIds", ""))
        graph = whole_graph(
            caller(request),
            including=including or None,
            excluding=_ids(query.get("excludeGroupIds", "")),
            limit=read_whole(query, "limit", default=None, low=1),
        )
        return Response(graph)


def _ids(text: str) -> set[str]:
    """The `UUID.hex` of each id in a comma-separated text; what is no id stays as it is, and is nobody's group."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    return {key.hex if (key := parse_id(part)) else part for part in parts}
