"""Serializers of people. They validate request bodies and describe responses, which people.projection builds."""

from copy import deepcopy
from functools import cache
from typing import Any

import orjson
from rest_framework import serializers

from accounts.models import User
from contacts_project.kernel.api.fields import ClientIdField
from contacts_project.kernel.api.ids import is_client_id
from people import field_table
from people.api.person_fields import SerializerField, person_fields
from people.extensions import EXTENSIONS
from people.field_table import Kind
from people.models import Group, Person
from people.projection.search_index import RECORD


@cache
def _build_fields() -> dict[str, SerializerField]:
    """The fields of people.field_table, and those that other apps add by extensions."""
    fields: dict[str, SerializerField] = {
        "id": serializers.UUIDField(read_only=True),
        **person_fields(),
        "deletedAt": serializers.DateTimeField(read_only=True, allow_null=True, source="deleted_at"),
        "createdAt": serializers.DateTimeField(read_only=True, source="created_at"),
        "updatedAt": serializers.DateTimeField(read_only=True, source="updated_at"),
    }
    for extension in EXTENSIONS:
        fields.update(extension.body_fields())
        if extension.name and (field := extension.response_field()):
            fields[extension.name] = field
    return fields


@cache
def _create_only_fields() -> list[str]:
    """Fields of extensions that only a create body may have."""
    return [name for extension in EXTENSIONS for name in extension.body_fields()]


class PersonSerializer(serializers.Serializer[Person]):
    """The body of a create, and every answer that shows everything."""

    def get_fields(self) -> dict[str, SerializerField]:
        # Building the fields is slow, so they are cached. Copies, because a field is bound to one serializer.
        return {**deepcopy(_build_fields()), "id": ClientIdField(required=False)}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        # All dates are new, so their ids must be valid client-generated ids.
        for index, entry in enumerate(attrs.get("important_dates", ())):
            if "id" in entry and not is_client_id(entry["id"]):
                message = "This must be a UUID of version 4 or 7."
                raise serializers.ValidationError({"importantDates": {str(index): {"id": [message]}}})
        return attrs

    def to_representation(self, instance: Person) -> dict[str, Any]:
        """Serialize a model row, for comparison with the projection; uses several queries."""
        with_related: Any = _PersonWithRelated(instance)
        record: dict[str, Any] = super().to_representation(with_related)
        return record


class PersonChangeSerializer(PersonSerializer):
    """The body of an update: what is to change. Not `partial`, which would let entries leave out what they need."""

    def get_fields(self) -> dict[str, SerializerField]:
        fields = super().get_fields()
        for name in _create_only_fields():
            del fields[name]
        fields["id"] = serializers.UUIDField(read_only=True)
        fields["name"].required = False
        return fields

    # No check of client-generated ids: in an update the ids of dates refer to the person's stored dates.
    validate = serializers.Serializer.validate


class SearchRecordSerializer(serializers.Serializer[Any]):
    """A flat record of the search index; the joined texts are empty where there is nothing."""

    def get_fields(self) -> dict[str, SerializerField]:
        nullable = {field.index_name for field in field_table.SCALARS if not field.required}
        texts = {name: serializers.CharField(allow_null=name in nullable) for name in RECORD}
        return {**texts, "id": serializers.UUIDField()}


class PersonListedSerializer(PersonSerializer):
    """A person of a list; the query decides which of its lists are there."""

    @property
    def optional(self) -> list[str]:
        lists = {field.name for field in field_table.FIELDS if field.kind in {Kind.LIST, Kind.ROWS}}
        lists |= {extension.name for extension in EXTENSIONS if extension.name}
        names: Any = self.fields
        return [name for name in names if name in lists]


class PersonFoundSerializer(PersonSerializer):
    """A person that was searched for, with its multi-value fields."""

    def get_fields(self) -> dict[str, SerializerField]:
        fields = super().get_fields()
        for name in (
            "importantDates",
            "customFieldValues",
            *(extension.name for extension in EXTENSIONS if extension.name),
        ):
            del fields[name]
        return fields


class _PersonWithRelated:
    """A person with the rows of other tables as attributes."""

    def __init__(self, person: Person) -> None:
        self._person = person
        for extension in EXTENSIONS:
            if extension.name:
                entries = extension.rows(person.owner, [person.pk]).get(person.pk.hex, "")
                setattr(self, extension.name, orjson.loads(f"[{entries}]"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._person, name)

    @property
    def display_name(self) -> str:
        owner: User = self._person.owner
        return self._person.display_name_for(owner)

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
