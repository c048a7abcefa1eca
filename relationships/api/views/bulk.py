"""Routes that act on many people at once."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.callers import caller
from contacts_project.kernel.api.fields import (
    OwnedField,
    OwnedIdsField,
    OwnedListField,
    StrictBooleanField,
    StrictChoiceField,
)
from contacts_project.kernel.api.schema import envelope
from people.extensions import extensions
from relationships.api.answers import OrphanAnswer
from relationships.network.loading import find_orphans
from relationships.projection import orphan_answers
from relationships.services import bulk

DELETE, ADD_TO_GROUPS, SET_RELATIONSHIP = "delete", "addToGroups", "setRelationship"
_NEEDED = {ADD_TO_GROUPS: "groupIds", SET_RELATIONSHIP: "relationshipTypeId"}


class BulkSerializer(serializers.Serializer[Any]):
    """One action, over the people of `personIds` or, with `selectAll`, over all."""

    action = StrictChoiceField([DELETE, ADD_TO_GROUPS, SET_RELATIONSHIP])
    personIds = OwnedIdsField("people.Person", source="person_ids", required=False, allow_empty=False)
    selectAll = StrictBooleanField(source="select_all", required=False)
    deleteOrphans = StrictBooleanField(source="delete_orphans", required=False)
    deleteFromCardDav = StrictBooleanField(source="delete_from_card_dav", required=False)
    groupIds = OwnedListField("people.Group", source="groups", required=False, allow_empty=False)
    relationshipTypeId = OwnedField("relationships.RelationshipType", source="relationship_type", required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("person_ids" in attrs) == attrs.get("select_all", False):
            raise serializers.ValidationError({"personIds": ["Give either personIds or selectAll: true."]})
        needed = _NEEDED.get(attrs["action"])
        if needed and self.fields[needed].source not in attrs:
            raise serializers.ValidationError({needed: [f"The action {attrs['action']} needs this."]})
        return attrs


class BulkOrphansSerializer(serializers.Serializer[Any]):
    personIds = OwnedIdsField("people.Person", source="person_ids")


class BulkView(APIView):
    @extend_schema(
        operation_id="changePeopleInBulk",
        request=BulkSerializer,
        responses=envelope("BulkDone", success=serializers.BooleanField(), affectedCount=serializers.IntegerField()),
    )
    def post(self, request: Request) -> Response:
        """Delete many people, add them to groups, or set what they are to the user: all or nothing."""
        body = BulkSerializer(data=request.data, context={"request": request})
        body.is_valid(raise_exception=True)
        return Response({"success": True, "affectedCount": _act(request, body.validated_data)})


def _act(request: Request, data: dict[str, Any]) -> int:
    whom: dict[str, Any] = {"owner": caller(request), "person_ids": data.get("person_ids"), "now": timezone.now()}
    if data["action"] == DELETE:
        return bulk.delete_many(**whom, options=data)
    if data["action"] == ADD_TO_GROUPS:
        return bulk.add_to_groups(**whom, groups=data["groups"])
    return bulk.set_relationship(**whom, relationship_type=data["relationship_type"])


class BulkOrphansView(APIView):
    @extend_schema(
        operation_id="listBulkOrphans",
        request=BulkOrphansSerializer,
        responses=envelope("BulkOrphans", orphans=OrphanAnswer(many=True), hasCardDavSync=serializers.BooleanField()),
    )
    def post(self, request: Request) -> Response:
        """Who would become an orphan if all these people were deleted.

        `hasCardDavSync` says whether any of them is on a CardDAV server.
        """
        body = BulkOrphansSerializer(data=request.data, context={"request": request})
        body.is_valid(raise_exception=True)
        user, person_ids = caller(request), body.validated_data["person_ids"]
        orphans = find_orphans(user, person_ids)
        return Response(
            {
                "orphans": orphan_answers(user, orphans),
                "hasCardDavSync": any(extension.is_mirrored(user.pk, person_ids) for extension in extensions()),
            }
        )
