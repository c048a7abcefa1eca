"""One person in the document: the fields of the API, less what is computed, more what other tables hold of it."""

from typing import Any

from rest_framework import serializers

from accounts.transfer.times import Times
from contacts_project.kernel.api.fields import Text, check_text
from people.api.important_dates import ImportantDateSerializer
from people.api.person_serializer import PersonSerializer
from people.transfer.pictures import Picture


class DateShape(ImportantDateSerializer):
    """An important date, in the trash or not."""

    def get_fields(self) -> dict[str, "serializers.Field[Any, Any, Any, Any]"]:
        fields = {key: field for key, field in super().get_fields().items() if not field.read_only}
        return {"id": Text(36, required=True), **fields, **Times().get_fields()}


class ValueShape(serializers.Serializer[Any]):
    templateId = Text(36, required=True)
    value = serializers.JSONField()


class CardLine(serializers.Field[str, Any, str, Any]):
    """A raw line of a vCard that no field holds, to be written back as it came."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or len(data) > 100_000 or "\n" in check_text(data) or "\r" in data:
            raise serializers.ValidationError("This must be one line of text.")
        return data

    def to_representation(self, value: str) -> str:
        return value


def _list_of(child: "serializers.Field[Any, Any, Any, Any]", most: int) -> Any:
    return serializers.ListField(child=child, required=False, max_length=most)


class PersonShape(PersonSerializer):
    """A person, in the trash or not."""

    def get_fields(self) -> dict[str, "serializers.Field[Any, Any, Any, Any]"]:
        """Those of the API that can be written (aspects' apps have sections of their own), and what only stands here.

        What points at other records is read as plain ids, and resolved once those are in.
        """
        declared = PersonSerializer._declared_fields
        fields = {key: field for key, field in super().get_fields().items() if key in declared and not field.read_only}
        return {
            **fields,
            "relationshipToUserId": Text(36),
            "groupIds": _list_of(Text(36, required=True), 20_000),
            "customFieldValues": _list_of(ValueShape(), 1_000),
            "importantDates": _list_of(DateShape(), 1_000),
            "uid": Text(255),
            "vcardExtra": _list_of(CardLine(), 10_000),
            "photo": Picture(),
            **Times().get_fields(),
        }

    def validate_importantDates(self, dates: list[dict[str, Any]]) -> list[dict[str, Any]]:  # noqa: N802 - by DRF's rule
        types = [date["type"] for date in dates if date.get("type") and not date.get("deleted_at")]
        if len(types) != len(set(types)):
            raise serializers.ValidationError("Only one date of each type.")
        return dates
