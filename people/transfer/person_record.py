"""One person in the document: the writable fields of the API, and the rows of other tables that belong to it."""

from typing import Any

from rest_framework import serializers

from accounts.transfer.times import TimestampsSerializer
from contacts_project.kernel.api.fields import StrictCharField, StrictDateField, check_text
from people.api.person_entries import ImportantDateSerializer
from people.api.person_fields import person_fields
from people.api.person_serializer import PersonSerializer
from people.fields.cards import LINE_FIELDS
from people.transfer.pictures import PictureField
from people.vcard.content_lines import MAX_LINES
from people.vcard.limits import MAX_LINES_SIZE


class ImportantDateRecordSerializer(ImportantDateSerializer):
    """An important date, in the trash or not."""

    def get_fields(self) -> dict[str, "serializers.Field[Any, Any, Any, Any]"]:
        fields = {key: field for key, field in super().get_fields().items() if not field.read_only}
        return {"id": StrictCharField(max_length=36), **fields, **TimestampsSerializer().get_fields()}


class CustomFieldValueRecordSerializer(serializers.Serializer[Any]):
    templateId = StrictCharField(max_length=36)
    value = serializers.JSONField()


class CardLinesField(serializers.Field[list[dict[str, Any]], Any, Any, Any]):
    """Person.card_lines. One field validates the whole list, because nested serializers are slow for many lines."""

    def to_internal_value(self, data: Any) -> list[dict[str, Any]]:
        if not isinstance(data, list) or len(data) > MAX_LINES:
            raise serializers.ValidationError(f"This must be a list of at most {MAX_LINES} lines.")
        return [self._validate_line(entry) for entry in data]

    def _validate_line(self, data: Any) -> dict[str, Any]:
        line = data.get("line") if isinstance(data, dict) else None
        if not isinstance(line, str) or len(line) > MAX_LINES_SIZE or "\n" in line or "\r" in line:
            raise serializers.ValidationError("The line of an entry must be one line of text.")
        check_text(line)
        fields, entry_id = data.get("fields", []), data.get("id")
        if not isinstance(fields, list) or not LINE_FIELDS.issuperset(fields):
            raise serializers.ValidationError(f"The fields of a line are some of {', '.join(sorted(LINE_FIELDS))}.")
        if not isinstance(entry_id, str | None):
            raise serializers.ValidationError("The id of a line must be a text.")
        return {"line": line, **({"fields": fields} if fields else {}), **({"id": entry_id} if entry_id else {})}

    def to_representation(self, value: Any) -> Any:
        return value


def _list_field(child: "serializers.Field[Any, Any, Any, Any]", most: int) -> Any:
    return serializers.ListField(child=child, required=False, max_length=most)


class PersonRecordSerializer(PersonSerializer):
    """A person, in the trash or not."""

    def get_fields(self) -> dict[str, "serializers.Field[Any, Any, Any, Any]"]:
        """The writable fields of the API without those of other apps, and fields that only the document has.

        References to other records are read as plain ids, and resolved after those records were imported.
        """
        return {
            **{name: field for name, field in person_fields().items() if not field.read_only},
            "relationshipToUserId": StrictCharField(max_length=36, required=False, allow_null=True),
            "groupIds": _list_field(StrictCharField(max_length=36), 20_000),
            "customFieldValues": _list_field(CustomFieldValueRecordSerializer(), 1_000),
            "importantDates": _list_field(ImportantDateRecordSerializer(), 1_000),
            "uid": StrictCharField(max_length=255, required=False, allow_null=True),
            "lastContactTyped": StrictDateField(required=False, allow_null=True, source="contact_before"),
            "cardLines": CardLinesField(required=False, source="card_lines"),
            "photo": PictureField(),
            **TimestampsSerializer().get_fields(),
        }

    def validate_importantDates(self, dates: list[dict[str, Any]]) -> list[dict[str, Any]]:  # noqa: N802 - by DRF's rule
        types = [date["type"] for date in dates if date.get("type") and not date.get("deleted_at")]
        if len(types) != len(set(types)):
            raise serializers.ValidationError("Only one date of each type.")
        return dates
