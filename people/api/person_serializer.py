"""A person as bodies bring it and answers show it. Answers are built by people.projection; this describes them."""

from typing import Any

import orjson
from rest_framework import serializers

from accounts.models import User
from contacts_project.kernel.api.fields import (
    OwnedField,
    OwnedListField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictDateField,
    StrictIntegerField,
)
from people.api import person_entries as entries
from people.api.custom_values import CustomFieldValuesField
from people.api.important_dates import ImportantDateEntrySerializer
from people.aspects import aspects
from people.dates.recurrence import Unit
from people.fields.table import MAX_ENTRIES
from people.models import Group, Person
from people.names import COLUMNS, NameParts, display_name


class GroupSummary(serializers.Serializer[Group]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    color = serializers.CharField(read_only=True)


class TypeSummary(serializers.Serializer[Any]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    label = serializers.CharField(read_only=True)  # type: ignore[assignment]  # DRF takes fields out of the class
    color = serializers.CharField(read_only=True)


def _entries(of: type["serializers.Serializer[Any]"], **kwargs: Any) -> Any:
    return serializers.ListSerializer(child=of(), required=False, max_length=MAX_ENTRIES, **kwargs)


LISTS = (serializers.ListSerializer, CustomFieldValuesField)


class PersonSerializer(serializers.Serializer[Person]):
    """The body of a create, and every answer that shows everything."""

    id = serializers.UUIDField(read_only=True)
    name = StrictCharField(max_length=100)
    surname = StrictCharField(max_length=100, required=False, allow_null=True)
    middleName = StrictCharField(max_length=100, required=False, allow_null=True, source="middle_name")
    secondLastName = StrictCharField(max_length=100, required=False, allow_null=True, source="second_last_name")
    nickname = StrictCharField(max_length=100, required=False, allow_null=True)
    prefix = StrictCharField(max_length=50, required=False, allow_null=True)
    suffix = StrictCharField(max_length=50, required=False, allow_null=True)
    displayName = serializers.CharField(source="display_name", read_only=True)
    displayNameOverride = StrictCharField(
        max_length=200, required=False, allow_null=True, source="display_name_override"
    )
    organization = StrictCharField(max_length=200, required=False, allow_null=True)
    jobTitle = StrictCharField(max_length=200, required=False, allow_null=True, source="job_title")
    gender = StrictCharField(max_length=50, required=False, allow_null=True)
    anniversary = StrictDateField(required=False, allow_null=True)
    lastContact = StrictDateField(required=False, allow_null=True, source="last_contact")
    notes = StrictCharField(max_length=10_000, required=False, allow_null=True)
    relationshipToUserId = OwnedField(
        "relationships.RelationshipType", required=False, allow_null=True, source="relationship_to_user"
    )
    relationshipToUser = TypeSummary(read_only=True, allow_null=True, source="relationship_to_user")
    groupIds = OwnedListField("people.Group", required=False, source="groups")
    groups = GroupSummary(many=True, read_only=True)
    contactReminderEnabled = StrictBooleanField(required=False, source="contact_reminder_enabled")
    contactReminderInterval = StrictIntegerField(
        min_value=1, max_value=99, required=False, allow_null=True, source="contact_reminder_interval"
    )
    contactReminderIntervalUnit = StrictChoiceField(
        [unit.value for unit in Unit], required=False, allow_null=True, source="contact_reminder_interval_unit"
    )
    cardDavSyncEnabled = StrictBooleanField(required=False, source="card_dav_sync_enabled")
    photo = serializers.CharField(read_only=True, allow_null=True)
    uid = serializers.CharField(read_only=True, allow_null=True)
    phoneNumbers = _entries(entries.PhoneNumber, source="phone_numbers")
    emails = _entries(entries.EmailAddress)
    addresses = _entries(entries.Address)
    urls = _entries(entries.WebAddress)
    imHandles = _entries(entries.ImHandle, source="im_handles")
    locations = _entries(entries.Location)
    customFields = _entries(entries.CustomField, source="custom_fields")
    importantDates = _entries(ImportantDateEntrySerializer, source="important_dates")
    customFieldValues = CustomFieldValuesField(required=False, source="custom_field_values")
    deletedAt = serializers.DateTimeField(read_only=True, allow_null=True, source="deleted_at")
    createdAt = serializers.DateTimeField(read_only=True, source="created_at")
    updatedAt = serializers.DateTimeField(read_only=True, source="updated_at")

    def get_fields(self) -> dict[str, "serializers.Field[Any, Any, Any, Any]"]:
        """The fields of the apps above come with their aspects."""
        fields = super().get_fields()
        for aspect in aspects():
            fields.update(aspect.body_fields())
            if aspect.name and (field := aspect.answer_field()):
                fields[aspect.name] = field
        return fields

    def to_representation(self, instance: Person) -> dict[str, Any]:
        """One row by its model, for comparison with the projection; costs several queries."""
        whole: Any = _Whole(instance)
        answer: dict[str, Any] = super().to_representation(whole)
        return answer


class PersonChangeSerializer(PersonSerializer):
    """The body of an update: what is to change. Not `partial`, which would let entries leave out what they need."""

    def get_fields(self) -> dict[str, "serializers.Field[Any, Any, Any, Any]"]:
        fields = super().get_fields()
        for aspect in aspects():
            for name in aspect.body_fields():
                del fields[name]
        fields["name"].required = False
        return fields


class SearchRecordSerializer(serializers.Serializer[Any]):
    """A flat record of the search index; the joined texts are empty where there is nothing."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    surname = serializers.CharField(allow_null=True)
    middleName = serializers.CharField(allow_null=True)
    secondLastName = serializers.CharField(allow_null=True)
    nickname = serializers.CharField(allow_null=True)
    displayName = serializers.CharField()
    organization = serializers.CharField(allow_null=True)
    jobTitle = serializers.CharField(allow_null=True)
    notes = serializers.CharField(allow_null=True)
    photo = serializers.CharField(allow_null=True)
    phones = serializers.CharField()
    emails = serializers.CharField()
    addresses = serializers.CharField()
    urls = serializers.CharField()
    imHandles = serializers.CharField()
    groups = serializers.CharField()
    customFields = serializers.CharField()
    relationshipToUser = serializers.CharField()


class PersonListedSerializer(PersonSerializer):
    """A person of a list; the query decides which of its lists are there."""

    @property
    def optional(self) -> list[str]:
        return [name for name, field in self.fields.items() if isinstance(field, LISTS) and name != "groups"]


class PersonFoundSerializer(PersonSerializer):
    """A person that was searched for, with its multi-value fields."""

    def get_fields(self) -> dict[str, "serializers.Field[Any, Any, Any, Any]"]:
        fields = super().get_fields()
        for name in ("importantDates", "customFieldValues", *(aspect.name for aspect in aspects() if aspect.name)):
            del fields[name]
        return fields


class _Whole:
    """A person with what stands in other tables, as attributes."""

    def __init__(self, person: Person) -> None:
        self._person = person
        for aspect in aspects():
            if aspect.name:
                entries = aspect.rows(person.owner, [person.pk]).get(person.pk.hex, "")
                setattr(self, aspect.name, orjson.loads(f"[{entries}]"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._person, name)

    @property
    def display_name(self) -> str:
        owner: User = self._person.owner
        parts = NameParts(*(getattr(self._person, column) for column in COLUMNS))
        return display_name(parts, order=owner.name_order, form=owner.name_display_format)

    @property
    def groups(self) -> list[Group]:
        rows = Group.objects.owned_by(self._person.owner_id).active()
        return list(rows.filter(memberships__person=self._person).order_by("name_key", "id"))

    @property
    def custom_field_values(self) -> list[dict[str, Any]]:
        rows = self._person.custom_field_values.filter(template__deleted_at=None).select_related("template")
        return [
            {
                "id": str(row.pk),
                "templateId": str(row.template_id),
                "value": row.value,
                "template": {
                    "id": str(row.template_id),
                    "name": row.template.name,
                    "slug": row.template.slug,
                    "type": row.template.type,
                },
            }
            for row in rows.order_by("template__position", "template_id")
        ]

    @property
    def important_dates(self) -> list[Any]:
        return list(self._person.important_dates.filter(deleted_at=None).order_by("created_at", "id"))
