"""The entries of a person's multi-value fields, as bodies bring them and answers show them: of the table of fields."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework import serializers

from contacts_project.kernel.api.fields import StrictCharField, StrictEmailField, StrictFloatField
from people import field_table
from people.field_table import EntryKey, KeyKind, PersonField


class EntryId(serializers.Field[str, Any, str, Any]):
    """The id of the stored entry that this one is; null, or one that is not known here, says nothing."""

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return super().validate_empty_values(serializers.empty if data is None else data)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("This must be a text.")
        return data

    def to_representation(self, value: str) -> str:
        return value


class Entry(serializers.Serializer[Mapping[str, Any]]):
    """What all have: an id that stays while the entry does, and a free type."""

    id = EntryId(required=False)
    type = StrictCharField(max_length=50, required=False, allow_null=True)
    keys: ClassVar[tuple[EntryKey, ...]] = ()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for key in self.keys:
            if not (key.required or key.read_only):
                attrs[key.name] = attrs.get(key.name) or key.default or attrs.get(key.default_key)
        return attrs


def _field_of(key: EntryKey) -> "serializers.Field[Any, Any, Any, Any]":
    if key.read_only:
        kind = serializers.FloatField if key.kind is KeyKind.NUMBER else serializers.CharField
        return kind(read_only=True, allow_null=True)
    if key.kind is KeyKind.NUMBER:
        return StrictFloatField(min_value=-key.bound, max_value=key.bound)
    of_text = StrictEmailField if key.kind is KeyKind.EMAIL else StrictCharField
    if key.required:
        return of_text(max_length=key.limit, allow_blank=key.may_be_empty)
    return of_text(max_length=key.limit, required=False, allow_null=True)


def _serializer_of(field: PersonField) -> type[Entry]:
    """The serializer of the field's entries, by the name that the API description has for them."""
    body = {key.name: _field_of(key) for key in field.keys if key.name != "type"}
    made: type[Entry] = type(field.schema, (Entry,), {"keys": field.keys, **body})
    return made


ENTRIES: Mapping[str, type[Entry]] = {field.name: _serializer_of(field) for field in field_table.LISTS}
"""By the name of a multi-value field the serializer of its entries."""
