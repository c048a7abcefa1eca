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


class TownSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    country = serializers.CharField()


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
    precision=serializers.ChoiceField(
        choices=["address", "town"],
        help_text="`town` where only the town of the address is known: the coordinates are the town's.",
    ),
    timezone=serializers.CharField(allow_null=True, help_text="IANA's name, of the nearest town."),
    town=TownSerializer(
        allow_null=True, help_text="`country` is ISO 3166-1, two letters. Towns are data of GeoNames (CC BY 4.0)."
    ),
    groupIds=serializers.ListField(child=serializers.UUIDField()),
)
_RESPONSE = envelope(
    "MapAnswer",
    markers=serializers.ListField(child=_MARKER),
    unknown=serializers.ListField(
        child=envelope("MapUnknownAddress", personId=serializers.UUIDField(), entryId=serializers.CharField()),
        help_text="Addresses of which no place and no town is known.",
    ),
    pendingCount=serializers.IntegerField(),
    failedCount=serializers.IntegerField(),
    geocodingEnabled=serializers.BooleanField(),
)


class MapViewSet(ApiViewSet[Any]):
    """The map of the caller's people."""

    @extend_schema(operation_id="listMapMarkers", responses=_RESPONSE)
    @action(detail=False)
    def markers(self, request: Request) -> Response:
        """Every location of the caller's people, and every address that has been geocoded or whose town is known."""
        return Response(build_map(self.owner))
