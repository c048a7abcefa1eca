"""The map of the account's people."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from contacts_project.kernel.api.schema import envelope
from people.projection.map_markers import map_answer

# No class: `source` and `label` are attributes of every serializer.
_MARKER = envelope(
    "MapMarker",
    id=serializers.CharField(help_text="The id of the entry of addresses or locations."),
    source=serializers.ChoiceField(choices=["address", "location"]),
    personId=serializers.UUIDField(),
    personName=serializers.CharField(),
    latitude=serializers.FloatField(),
    longitude=serializers.FloatField(),
    label=serializers.CharField(),
    groupIds=serializers.ListField(child=serializers.UUIDField()),
)
_ANSWER = envelope(
    "MapAnswer",
    markers=serializers.ListField(child=_MARKER),
    pendingCount=serializers.IntegerField(),
    failedCount=serializers.IntegerField(),
    geocodingEnabled=serializers.BooleanField(),
)


class MapMarkersView(APIView):
    """The map."""

    @extend_schema(operation_id="listMapMarkers", responses=_ANSWER)
    def get(self, request: Request) -> Response:
        """Every location, and every address that has been geocoded, of the caller's people."""
        return Response(map_answer(caller(request)))
