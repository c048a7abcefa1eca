"""One person in the document: the writable fields of the API, and the rows of other tables that belong to it."""

from typing import Any

from rest_framework import serializers

from accounts.transfer.sections import TimestampsSerializer
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import StrictCharField, StrictDateField
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.text_forms import InvalidTextError, check_text
from contacts_project.kernel.texts import define_text
from people.api.person_entries import ImportantDateSerializer
from people.api.person_fields import person_fields
from people.api.person_serializer import PersonSerializer
from people.fields.cards import LINE_FIELDS
from people.transfer.pictures import PictureField
from people.vcard.content_lines import MAX_LINES
from people.vcard.limits import MAX_LINES_SIZE

_NOT_LINES = define_text("not_card_lines", "This must be a list of at most %(limit)s lines.")
_NOT_A_LINE = define_text("not_a_card_line", "The line of an entry must be one line of text.")
_NOT_LINE_FIELDS = define_text("not_line_fields", "The fields of a line are some of %(choices)s.")
_NOT_A_LINE_ID = define_text("not_a_line_id", "The id of a line must be a text.")
_ONE_OF_EACH_TYPE = define_text("one_date_of_each_type", "Only one date of each type.")


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

    def to_internal_value(self, data: object) -> list[JsonObject]:
        if not isinstance(data, list) or len(data) > MAX_LINES:
            raise InvalidError(_NOT_LINES.format(limit=MAX_LINES))
        return [self._validate_line(entry) for entry in data]

    def _validate_line(self, data: object) -> JsonObject:
        entry = data if isinstance(data, dict) else {}
        line = entry.get("line")
        if not isinstance(line, str) or len(line) > MAX_LINES_SIZE or "\n" in line or "\r" in line:
            raise InvalidError(_NOT_A_LINE)
        try:
            check_text(line)
        except InvalidTextError as error:
            raise InvalidError(error.text) from None
        fields, entry_id = entry.get("fields", []), entry.get("id")
        if not isinstance(fields, list) or not LINE_FIELDS.issuperset(fields):
            raise InvalidError(_NOT_LINE_FIELDS.format(choices=sorted(LINE_FIELDS)))
        if not isinstance(entry_id, str | None):
            raise InvalidError(_NOT_A_LINE_ID)
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
            "contactReminderFromId": StrictCharField(max_length=36, required=False, allow_null=True),
            "groupIds": _list_field(StrictCharField(max_length=36), 20_000),
            "customFieldValues": _list_field(CustomFieldValueRecordSerializer(), 1_000),
            "importantDates": _list_field(ImportantDateRecordSerializer(), 1_000),
            "uid": StrictCharField(max_length=255, required=False, allow_null=True),
            "lastContactTyped": StrictDateField(required=False, allow_null=True, source="contact_before"),
            "cardLines": CardLinesField(required=False, source="card_lines"),
            "photo": PictureField(),
            **TimestampsSerializer().get_fields(),
        }

    def validate_importantDates(self, dates: list[JsonObject]) -> list[JsonObject]:  # noqa: N802 - by DRF's rule
        types = [date["type"] for date in dates if date.get("type") and not date.get("deleted_at")]
        if len(types) != len(set(types)):
            raise InvalidError(_ONE_OF_EACH_TYPE)
        return dates
