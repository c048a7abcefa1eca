"""The map of the account's people."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.schema import envelope
from people.projection.map_markers import build_map

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
_RESPONSE = envelope(
    "MapAnswer",
    markers=serializers.ListField(child=_MARKER),
    pendingCount=serializers.IntegerField(),
    failedCount=serializers.IntegerField(),
    geocodingEnabled=serializers.BooleanField(),
)


class MapViewSet(ApiViewSet[Any]):
    """The map of the caller's people."""

    @extend_schema(operation_id="listMapMarkers", responses=_RESPONSE)
    @action(detail=False)
    def markers(self, request: Request) -> Response:
        """Every location, and every address that has been geocoded, of the caller's people."""
        return Response(build_map(self.owner))
