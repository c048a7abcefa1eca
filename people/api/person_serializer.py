"""Serializers of people, built from people.field_table. They validate request bodies and describe responses, which
people.projection builds.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from rest_framework import serializers

from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import (
    NOT_A_CLIENT_ID,
    ClientIdField,
    OwnedField,
    OwnedListField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictDateField,
    StrictIntegerField,
)
from contacts_project.kernel.ids import is_client_id
from contacts_project.kernel.json import JsonObject
from people import field_table
from people.api.person_entries import (
    ENTRY_SERIALIZERS,
    CustomFieldValuesField,
    ImportantDateEntrySerializer,
    ShortValueSerializer,
    check_year,
)
from people.extensions import EXTENSIONS
from people.field_table import FieldKind, PersonField
from people.models import Group, Person
from people.projection.people import REPEATED_IN_FEED
from people.projection.search_index import RECORD

SerializerField = serializers.Field[Any, Any, Any, Any]


class GroupSummary(serializers.Serializer[Group]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    color = serializers.CharField(read_only=True)


class RuleSource(serializers.Serializer[Group]):
    """The group whose rule has set the contact reminder."""

    groupId = serializers.UUIDField(read_only=True, source="pk")
    name = serializers.CharField(read_only=True)


class MoreEntry(serializers.Serializer[Any]):
    """A line of the card that the person came with which no field holds."""

    name = serializers.CharField(read_only=True)
    value = serializers.CharField(read_only=True)
    label = serializers.CharField(read_only=True, allow_null=True)  # type: ignore[assignment]  # as below


class TypeSummary(serializers.Serializer[Any]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    label = serializers.CharField(read_only=True)  # type: ignore[assignment]  # DRF takes fields out of the class
    color = serializers.CharField(read_only=True)


def person_fields() -> dict[str, SerializerField]:
    """New serializer fields by name."""
    return {field.name: _build_field(field) for field in field_table.FIELDS}


def _build_field(field: PersonField) -> SerializerField:
    if not field.column:
        return _FIELDS_WITHOUT_COLUMN[field.name]()
    if field.read_only:
        return serializers.CharField(read_only=True, allow_null=True)
    source: dict[str, Any] = {} if field.column == field.name else {"source": field.column}
    if field.kind is FieldKind.LIST:
        return _build_list(ENTRY_SERIALIZERS[field.name], **source)
    source["required"] = field.required
    if field.kind is FieldKind.FLAG:
        return StrictBooleanField(**source)
    source["allow_null"] = not field.required
    return _NULLABLE_FIELDS[field.kind](field, source)


def _build_list(entries: type["serializers.BaseSerializer[Any]"], **kwargs: Any) -> SerializerField:
    return serializers.ListSerializer(child=entries(), required=False, max_length=field_table.MAX_ENTRIES, **kwargs)


_NULLABLE_FIELDS: Mapping[FieldKind, Callable[[PersonField, dict[str, Any]], SerializerField]] = {
    FieldKind.TEXT: lambda field, more: StrictCharField(max_length=field.limit, **more),
    FieldKind.DATE: lambda _, more: StrictDateField(validators=[check_year], **more),
    FieldKind.INTEGER: lambda field, more: StrictIntegerField(min_value=1, max_value=field.limit, **more),
    FieldKind.CHOICE: lambda field, more: StrictChoiceField(list(field.choices), **more),
    FieldKind.REFERENCE: lambda field, more: OwnedField(field.model, **more),
}
_FIELDS_WITHOUT_COLUMN: Mapping[str, Callable[[], SerializerField]] = {
    "displayName": lambda: serializers.CharField(source="display_name", read_only=True),
    "relationshipToUser": lambda: TypeSummary(read_only=True, allow_null=True, source="relationship_to_user"),
    "groupIds": lambda: OwnedListField("people.Group", required=False, source="groups"),
    "groups": lambda: GroupSummary(many=True, read_only=True),
    "contactReminderFrom": lambda: RuleSource(read_only=True, allow_null=True, source="rule_source"),
    "more": lambda: MoreEntry(many=True, read_only=True),
    "importantDates": lambda: _build_list(ImportantDateEntrySerializer, source="important_dates"),
    "customFieldValues": lambda: CustomFieldValuesField(required=False, source="custom_field_values"),
}


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

    def validate(self, attrs: JsonObject) -> JsonObject:
        # All dates are new, so their ids must be valid client-generated ids.
        for index, entry in enumerate(attrs.get("important_dates", ())):
            if "id" in entry and not is_client_id(entry["id"]):
                raise InvalidError({"importantDates": {str(index): {"id": [NOT_A_CLIENT_ID]}}})
        return attrs


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


class PersonInFeedSerializer(PersonSerializer):
    """A person as the change feed shows it: without what other records say."""

    def get_fields(self) -> dict[str, SerializerField]:
        fields = super().get_fields()
        kept = {name: field for name, field in fields.items() if name not in REPEATED_IN_FEED}
        return {**kept, "customFieldValues": ShortValueSerializer(many=True)}


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
        lists = {field.name for field in field_table.FIELDS if field.kind in {FieldKind.LIST, FieldKind.ROWS}}
        lists |= {extension.name for extension in EXTENSIONS if extension.name}
        names: Any = self.fields
        return [name for name in names if name in lists]


class DeletedPersonSerializer(PersonListedSerializer):
    """A person in the trash."""

    def get_fields(self) -> dict[str, SerializerField]:
        merge = serializers.UUIDField(allow_null=True, help_text="Of the merge that moved the person here.")
        return {**super().get_fields(), "mergeId": merge}


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
