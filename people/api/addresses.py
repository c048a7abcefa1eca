"""The routes of addresses: their map, households for letters, who shares one, one for all who live there."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet, TrashViewSet
from contacts_project.kernel.api.etags import conditional
from contacts_project.kernel.api.fields import OwnedIdField, OwnedIdsField, StrictCharField
from contacts_project.kernel.api.schema import AnyField, envelope
from contacts_project.kernel.errors import FieldError
from contacts_project.kernel.text_forms import NOT_A_CHOICE
from people.api.person_entries import ENTRY_SERIALIZERS
from people.api.person_query import read_ids
from people.letters.households import find_households, households_csv
from people.letters.lines import FIELDS
from people.models import Person
from people.projection.map_markers import build_map
from people.services.shared_addresses import find_sharers, replace_address


class HouseholdAddressSerializer(serializers.Serializer[Any]):
    """The address of a household as it is stored."""

    def get_fields(self) -> dict[str, AnyField]:
        return {name: serializers.CharField(allow_null=True) for name in FIELDS}


class AddressSharerSerializer(serializers.Serializer[Any]):
    """Somebody who has the address."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    entryId = serializers.CharField(help_text="Of that person's addresses.")


_SHARED = envelope("AddressSharers", people=AddressSharerSerializer(many=True))
_AFFECTED = envelope(
    "AddressReplaced", affectedCount=serializers.IntegerField(help_text="People with the new address.")
)


class AddressOfPersonSerializer(serializers.Serializer[Any]):
    """One address of one person."""

    personId = OwnedIdField("people.Person")
    entryId = StrictCharField(max_length=36)


class AddressReplaceSerializer(serializers.Serializer[Any]):
    """An address, what it becomes, and who else has it and gets the new one."""

    to = ENTRY_SERIALIZERS["addresses"]()
    personIds = OwnedIdsField("people.Person")

    def get_fields(self) -> dict[str, AnyField]:
        return {"from": AddressOfPersonSerializer(), **super().get_fields()}


class SharedAddressViewSet(TrashViewSet[Person]):
    """Who shares an address of a person."""

    model = Person
    lookup_url_kwarg = "person_id"

    @extend_schema(operation_id="listAddressSharers", responses=_SHARED)
    @action(detail=True, url_path="addresses/<id:entry_id>/shared")
    def shared(self, request: Request, person_id: UUID, entry_id: UUID) -> Response:
        """The other people who have the same address."""
        found = find_sharers(owner=self.owner, person=self.get_object(), entry_id=str(entry_id))
        people = [
            {
                "id": str(sharer.person.pk),
                "name": sharer.person.display_name_for(self.owner),
                "entryId": sharer.entry_id,
            }
            for sharer in found
        ]
        return Response({"people": people})


class HouseholdSerializer(serializers.Serializer[Any]):
    """Who gets one letter together."""

    name = serializers.CharField()
    lines = serializers.ListField(child=serializers.CharField(), help_text="Without the name.")
    personIds = serializers.ListField(child=serializers.UUIDField())
    address = HouseholdAddressSerializer()


_FORMATS = ("json", "csv")
_LETTER_PARAMETERS = [
    OpenApiParameter("groupIds", OpenApiTypes.STR, description="Group ids with commas between; in at least one."),
    OpenApiParameter("personIds", OpenApiTypes.STR, description="Ids of people with commas between; only these."),
    OpenApiParameter("format", OpenApiTypes.STR, enum=_FORMATS, description="csv gives a file."),
]


class HouseholdViewSet(ApiViewSet[Any]):
    """Letters."""

    @extend_schema(
        operation_id="listHouseholds",
        parameters=_LETTER_PARAMETERS,
        responses={
            (200, "application/json"): envelope("Households", households=HouseholdSerializer(many=True)),
            (200, "text/csv"): OpenApiTypes.BINARY,
        },
    )
    @action(detail=False, url_path="addresses")
    @conditional
    def addresses(self, request: Request) -> HttpResponseBase:
        """The addresses for letters: one entry for all who live together, as their country writes it."""
        kind = request.query_params.get("format", "json")
        if kind not in _FORMATS:
            raise FieldError("format", NOT_A_CHOICE.format(choices=list(_FORMATS)))
        query = request.query_params
        households = find_households(self.owner, read_ids(query, "groupIds"), read_ids(query, "personIds"))
        if kind == "csv":
            headers = {"Content-Disposition": 'attachment; filename="addresses.csv"'}
            return HttpResponse(households_csv(households), content_type="text/csv; charset=utf-8", headers=headers)
        return Response({"households": [household.as_json() for household in households]})


class AddressViewSet(ApiViewSet[Any]):
    """Addresses of several people at once."""

    @extend_schema(operation_id="replaceAddress", request=AddressReplaceSerializer, responses={200: _AFFECTED})
    @action(detail=False, methods=["post"])
    def replace(self, request: Request) -> Response:
        """Give a person, and others who have the same address, a new one. Ids and types of the entries stay."""
        data = self.read_body(AddressReplaceSerializer)
        count = replace_address(
            owner=self.owner,
            person_id=data["from"]["personId"],
            entry_id=data["from"]["entryId"],
            address=data["to"],
            person_ids=data["personIds"],
            now=timezone.now(),
        )
        return Response({"affectedCount": count})


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
_MAP = envelope(
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

    @extend_schema(operation_id="listMapMarkers", responses=_MAP)
    @action(detail=False)
    def markers(self, request: Request) -> Response:
        """Every location of the caller's people, and every address that is geocoded or whose town is known."""
        return Response(build_map(self.owner))
