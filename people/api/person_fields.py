"""Builds the fields of a person's serializers from people.field_table."""

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework import serializers

from contacts_project.kernel.api.fields import (
    OwnedField,
    OwnedListField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictDateField,
    StrictIntegerField,
)
from people import field_table
from people.api.person_entries import (
    ENTRY_SERIALIZERS,
    CustomFieldValuesField,
    ImportantDateEntrySerializer,
    check_year,
)
from people.field_table import FieldKind, PersonField
from people.models import Group

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
