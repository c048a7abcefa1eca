"""The entries of a person's multi-value fields, as bodies bring them and answers show them."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from contacts_project.kernel.api.fields import StrictCharField, StrictFloatField
from people.vcard.limits import is_email

OTHER = "other"


class Email(StrictCharField):
    """An e-mail address, of which the case is kept."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=254, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        if text is None or not is_email(text):
            raise serializers.ValidationError("This is not an e-mail address.")
        return text


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

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {**attrs, "type": attrs.get("type") or OTHER}


class PhoneNumber(Entry):
    number = StrictCharField(max_length=50)


class EmailAddress(Entry):
    email = Email()


class Address(Entry):
    streetLine1 = StrictCharField(max_length=200, required=False, allow_null=True)
    streetLine2 = StrictCharField(max_length=200, required=False, allow_null=True)
    locality = StrictCharField(max_length=100, required=False, allow_null=True)
    region = StrictCharField(max_length=100, required=False, allow_null=True)
    country = StrictCharField(max_length=100, required=False, allow_null=True)
    postalCode = StrictCharField(max_length=20, required=False, allow_null=True)
    latitude = serializers.FloatField(read_only=True, allow_null=True)
    longitude = serializers.FloatField(read_only=True, allow_null=True)
    geocodeStatus = serializers.CharField(read_only=True, allow_null=True)


class WebAddress(Entry):
    url = StrictCharField(max_length=500)


class ImHandle(Entry):
    protocol = StrictCharField(max_length=50, required=False, allow_null=True)
    handle = StrictCharField(max_length=200)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        return {**attrs, "protocol": attrs.get("protocol") or attrs["type"]}


class Location(Entry):
    latitude = StrictFloatField(min_value=-90, max_value=90)
    longitude = StrictFloatField(min_value=-180, max_value=180)
    label = StrictCharField(max_length=100, required=False, allow_null=True)  # type: ignore[assignment]  # the contract's name; DRF takes declared fields out of the class


class CustomField(Entry):
    key = StrictCharField(max_length=100)
    value = StrictCharField(max_length=1000, allow_blank=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return {**attrs, "type": attrs.get("type")}
