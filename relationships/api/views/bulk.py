"""Routes that act on many people at once."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.fields import (
    OwnedField,
    OwnedIdsField,
    OwnedListField,
    StrictBooleanField,
    StrictChoiceField,
)
from contacts_project.kernel.api.schema import envelope
from people.extensions import EXTENSIONS
from relationships.api.response_serializers import OrphanSerializer
from relationships.network.loader import find_orphans
from relationships.projection import serialize_orphans
from relationships.services import bulk

DELETE, ADD_TO_GROUPS, SET_RELATIONSHIP = "delete", "addToGroups", "setRelationship"
_REQUIRED_FIELDS = {ADD_TO_GROUPS: "groupIds", SET_RELATIONSHIP: "relationshipTypeId"}


class BulkSerializer(serializers.Serializer[Any]):
    """One action, over the people of `personIds` or, with `selectAll`, over all."""

    action = StrictChoiceField([DELETE, ADD_TO_GROUPS, SET_RELATIONSHIP])
    personIds = OwnedIdsField("people.Person", source="person_ids", required=False, allow_empty=False)
    selectAll = StrictBooleanField(source="select_all", required=False)
    deleteOrphans = StrictBooleanField(source="delete_orphans", required=False)
    deleteFromCardDav = StrictBooleanField(source="delete_from_card_dav", required=False)
    groupIds = OwnedListField("people.Group", source="groups", required=False, allow_empty=False)
    relationshipTypeId = OwnedField("people.RelationshipType", source="relationship_type", required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("person_ids" in attrs) == attrs.get("select_all", False):
            raise serializers.ValidationError({"personIds": ["Give either personIds or selectAll: true."]})
        required = _REQUIRED_FIELDS.get(attrs["action"])
        if required and self.fields[required].source not in attrs:
            raise serializers.ValidationError({required: [f"The action {attrs['action']} needs this."]})
        return attrs


class BulkOrphansSerializer(serializers.Serializer[Any]):
    personIds = OwnedIdsField("people.Person", source="person_ids")


class BulkViewSet(ApiViewSet[Any]):
    """Routes below /api/people that act on many people at once."""

    @extend_schema(
        operation_id="changePeopleInBulk",
        request=BulkSerializer,
        responses={
            200: envelope("BulkDone", success=serializers.BooleanField(), affectedCount=serializers.IntegerField())
        },
    )
    def create(self, request: Request) -> Response:
        """Delete many people, add them to groups, or set what they are to the user: all or nothing."""
        return Response({"success": True, "affectedCount": self._run_action(self.read_body(BulkSerializer))})

    @extend_schema(
        operation_id="listBulkOrphans",
        request=BulkOrphansSerializer,
        responses=envelope(
            "BulkOrphans", orphans=OrphanSerializer(many=True), hasCardDavSync=serializers.BooleanField()
        ),
    )
    @action(detail=False, methods=["post"])
    def orphans(self, request: Request) -> Response:
        """Who would become an orphan if all these people were deleted.

        `hasCardDavSync` says whether any of them is on a CardDAV server.
        """
        person_ids = self.read_body(BulkOrphansSerializer)["person_ids"]
        orphans = find_orphans(self.owner, person_ids)
        return Response(
            {
                "orphans": serialize_orphans(self.owner, orphans),
                "hasCardDavSync": any(extension.is_mirrored(self.owner.pk, person_ids) for extension in EXTENSIONS),
            }
        )

    def _run_action(self, data: dict[str, Any]) -> int:
        # Without `personIds` the body has `selectAll`, and the services take None for all people.
        common: dict[str, Any] = {"owner": self.owner, "person_ids": data.get("person_ids"), "now": timezone.now()}
        if data["action"] == DELETE:
            return bulk.delete_people_in_bulk(**common, options=data)
        if data["action"] == ADD_TO_GROUPS:
            return bulk.add_to_groups(**common, groups=data["groups"])
        return bulk.set_relationship(**common, relationship_type=data["relationship_type"])
