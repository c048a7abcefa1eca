"""Routes that act on many people at once."""

from collections.abc import Callable
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.viewsets import ApiViewSet
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import (
    OwnedField,
    OwnedIdsField,
    OwnedListField,
    StrictBooleanField,
    StrictChoiceField,
    StrictIntegerField,
)
from contacts_project.kernel.api.schema import envelope, raises
from contacts_project.kernel.errors import PlanLimitError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from people.extensions import EXTENSIONS
from people.services import bulk as people_bulk
from people.vocabularies import DateType, Unit
from relationships.api.serializers import OrphanSerializer
from relationships.orphans import find_orphans
from relationships.projection import serialize_orphans
from relationships.services import bulk

_WHO = define_text("people_or_all", "Give either personIds or selectAll: true.")
_NEEDED = define_text("needed_by_action", "The action %(action)s needs this.")

DELETE, ADD_TO_GROUPS, SET_RELATIONSHIP = "delete", "addToGroups", "setRelationship"
REMOVE_FROM_GROUPS, SET_FAVOURITE, SET_QUIET = "removeFromGroups", "setFavourite", "setQuiet"
SET_CONTACT_REMINDER, SET_DATE_REMINDERS = "setContactReminder", "setDateReminders"
_REQUIRED_FIELDS: dict[str, tuple[str, ...]] = {
    DELETE: (),
    ADD_TO_GROUPS: ("groupIds",),
    REMOVE_FROM_GROUPS: ("groupIds",),
    SET_RELATIONSHIP: ("relationshipTypeId",),
    SET_FAVOURITE: ("value",),
    SET_QUIET: ("value",),
    SET_CONTACT_REMINDER: ("enabled",),
    SET_DATE_REMINDERS: ("type", "enabled"),
}
_CONTACT_REMINDER = {
    "enabled": "contact_reminder_enabled",
    "interval": "contact_reminder_interval",
    "unit": "contact_reminder_interval_unit",
}


class BulkSerializer(serializers.Serializer[Any]):
    """One action, over the people of `personIds` or, with `selectAll`, over all."""

    action = StrictChoiceField(list(_REQUIRED_FIELDS))
    personIds = OwnedIdsField("people.Person", source="person_ids", required=False, allow_empty=False)
    selectAll = StrictBooleanField(source="select_all", required=False)
    deleteOrphans = StrictBooleanField(source="delete_orphans", required=False)
    deleteFromCardDav = StrictBooleanField(source="delete_from_card_dav", required=False)
    groupIds = OwnedListField("people.Group", source="groups", required=False, allow_empty=False)
    relationshipTypeId = OwnedField("people.RelationshipType", source="relationship_type", required=False)
    value = StrictBooleanField(required=False)
    enabled = StrictBooleanField(required=False)
    interval = StrictIntegerField(min_value=1, max_value=99, required=False)
    unit = StrictChoiceField(Unit.values, required=False)
    type = StrictChoiceField(DateType.values, required=False, fold=True)
    leadDays = StrictIntegerField(
        min_value=0, max_value=365, required=False, allow_null=True, source="reminder_lead_days"
    )

    def validate(self, attrs: JsonObject) -> JsonObject:
        if ("person_ids" in attrs) == attrs.get("select_all", False):
            raise InvalidError({"personIds": [_WHO]})
        needed = _REQUIRED_FIELDS[attrs["action"]]
        missing = [name for name in needed if self.fields[name].source not in attrs]
        if missing:
            raise InvalidError({name: [_NEEDED.format(action=attrs["action"])] for name in missing})
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
    @raises(PlanLimitError)
    def create(self, request: Request) -> Response:
        """Delete many people, or change their groups, marks, reminders or type: all or nothing.

        `affectedCount` is the number of people chosen; of delete, addToGroups and setRelationship that of those who
        changed.
        """
        data = self.read_body(BulkSerializer)
        # Without `personIds` the body has `selectAll`, and the services take None for all people.
        common = {"owner": self.owner, "person_ids": data.get("person_ids"), "now": timezone.now()}
        return Response({"success": True, "affectedCount": _ACTIONS[data["action"]](data, common)})

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


def _set_contact_reminder(data: JsonObject, common: JsonObject) -> int:
    settings = {column: data[name] for name, column in _CONTACT_REMINDER.items() if name in data}
    return people_bulk.set_contact_reminder(**common, settings=settings)


def _set_date_reminders(data: JsonObject, common: JsonObject) -> int:
    lead_days = {name: data[name] for name in ("reminder_lead_days",) if name in data}
    return people_bulk.set_date_reminders(**common, type_=data["type"], enabled=data["enabled"], lead_days=lead_days)


_ACTIONS: dict[str, Callable[[dict[str, Any], dict[str, Any]], int]] = {
    DELETE: lambda data, common: bulk.delete_people_in_bulk(**common, options=data),
    ADD_TO_GROUPS: lambda data, common: bulk.add_to_groups(**common, groups=data["groups"]),
    REMOVE_FROM_GROUPS: lambda data, common: people_bulk.remove_from_groups(
        **common, group_ids=[group.pk for group in data["groups"]]
    ),
    SET_RELATIONSHIP: lambda data, common: bulk.set_relationship(**common, relationship_type=data["relationship_type"]),
    SET_FAVOURITE: lambda data, common: people_bulk.set_marks(**common, marks={"favourite": data["value"]}),
    SET_QUIET: lambda data, common: people_bulk.set_marks(**common, marks={"quiet": data["value"]}),
    SET_CONTACT_REMINDER: _set_contact_reminder,
    SET_DATE_REMINDERS: _set_date_reminders,
}
