"""The entries of a person's multi-value fields, as bodies bring them and answers show them."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from contacts_project.kernel.api.fields import Number, Text
from people.vcard.limits import is_email

OTHER = "other"


class Email(Text):
    """An e-mail address, of which the case is kept."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(254, **kwargs)

    def to_internal_value(self, data: Any) -> str | None:
        text = super().to_internal_value(data)
        if text is None or not is_email(text):
            raise serializers.ValidationError("This is not an e-mail address.")
        return text


class Value(Text):
    """Text that may be empty, but not missing."""

    min_length = 0

    def to_internal_value(self, data: Any) -> str | None:
        return "" if isinstance(data, str) and not data.strip() else super().to_internal_value(data)


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
    type = Text(50)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {**attrs, "type": attrs.get("type") or OTHER}


class PhoneNumber(Entry):
    number = Text(50, required=True)


class EmailAddress(Entry):
    email = Email(required=True)


class Address(Entry):
    streetLine1 = Text(200)
    streetLine2 = Text(200)
    locality = Text(100)
    region = Text(100)
    country = Text(100)
    postalCode = Text(20)
    latitude = serializers.FloatField(read_only=True, allow_null=True)
    longitude = serializers.FloatField(read_only=True, allow_null=True)
    geocodeStatus = serializers.CharField(read_only=True, allow_null=True)


class WebAddress(Entry):
    url = Text(500, required=True)


class ImHandle(Entry):
    protocol = Text(50)
    handle = Text(200, required=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        return {**attrs, "protocol": attrs.get("protocol") or attrs["type"]}


class Location(Entry):
    latitude = Number(-90, 90)
    longitude = Number(-180, 180)
    label = Text(100)  # type: ignore[assignment]  # the contract's name; DRF takes declared fields out of the class


class CustomField(Entry):
    key = Text(100, required=True)
    value = Value(1000, required=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {**attrs, "type": attrs.get("type")}
