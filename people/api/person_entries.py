"""Serializers of a person's lists: entries of multi-value fields (from people.field_table), important dates, and values
of custom fields."""

import datetime as dt
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from contacts_project.kernel.api.errors import NOT_A_LIST, REQUIRED, InvalidError
from contacts_project.kernel.api.fields import (
    NO_SUCH_DAY,
    TOO_MANY_ENTRIES,
    ClientIdField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictEmailField,
    StrictFloatField,
    StrictIntegerField,
)
from contacts_project.kernel.api.schema import AnyField
from contacts_project.kernel.errors import NO_SUCH_RECORD
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.text_forms import NOT_A_TEXT
from contacts_project.kernel.texts import define_text
from people import field_table
from people.field_table import DATE_KEYS, DATE_REMINDER_DEFAULTS, DateKey, EntryKey, FieldKind, KeyKind, PersonField
from people.models import CustomFieldTemplate, ImportantDate
from people.models.dates import YEAR_UNKNOWN
from people.services.custom_fields import InvalidCustomValueError, parse_custom_value
from people.vocabularies import DateType, ReminderType, TemplateType

_YEAR_OUT_OF_RANGE = define_text("year_out_of_range", "The year must be between 1000 and 9999.")
_NOT_A_DATE_OR_TIME = define_text("not_a_date_or_datetime", "This must be a date, YYYY-MM-DD, or an ISO datetime.")
_REPEATED_DAYS = define_text("repeated_days", "Each number of days once.")
_UNTITLED = define_text("date_without_title", "A date without a type needs a title.")
_NOT_A_VALUE = define_text("not_a_custom_value", "This must be an object with templateId and value.")
_REPEATED_FIELD = define_text("repeated_field", "This field is there already.")

DATE_TYPES = list(DateType.values)
MAX_CUSTOM_VALUES = 100
_NO_REMINDER = {key.column: key.empty for key in DATE_KEYS if key.reminds}


class EntryIdField(serializers.Field[Any, Any, Any, Any]):
    """The id of the stored entry that this one replaces. Null and unknown ids are ignored."""

    def validate_empty_values(self, data: object) -> tuple[bool, object]:
        return super().validate_empty_values(serializers.empty if data is None else data)

    def to_internal_value(self, data: object) -> Any:
        if not isinstance(data, str):
            raise InvalidError(NOT_A_TEXT)
        return data

    def to_representation(self, value: Any) -> str:
        return str(value)


class EntrySerializer(serializers.Serializer[Mapping[str, Any]]):
    """What all have: an id that stays while the entry does, and a free type."""

    id = EntryIdField(required=False)
    type = StrictCharField(max_length=50, required=False, allow_null=True)
    keys: ClassVar[tuple[EntryKey, ...]] = ()

    def validate(self, attrs: JsonObject) -> JsonObject:
        for key in self.keys:
            if not (key.required or key.read_only):
                attrs[key.name] = attrs.get(key.name) or key.default or attrs.get(key.default_key)
        return attrs


def _build_field(key: EntryKey) -> AnyField:
    if key.read_only:
        kind = serializers.FloatField if key.kind is KeyKind.NUMBER else serializers.CharField
        return kind(read_only=True, allow_null=True)
    if key.kind is KeyKind.NUMBER:
        return StrictFloatField(min_value=-key.bound, max_value=key.bound)
    text_class = StrictEmailField if key.kind is KeyKind.EMAIL else StrictCharField
    if key.required:
        return text_class(max_length=key.limit, allow_blank=key.may_be_empty)
    return text_class(max_length=key.limit, required=False, allow_null=True)


def _build_entry_serializer(field: PersonField) -> type[EntrySerializer]:
    """The serializer class of the field's entries. Its name is the component's name in the API description."""
    body = {key.name: _build_field(key) for key in field.keys if key.name != "type"}
    serializer: type[EntrySerializer] = type(field.schema, (EntrySerializer,), {"keys": field.keys, **body})
    return serializer


ENTRY_SERIALIZERS: Mapping[str, type[EntrySerializer]] = {
    field.name: _build_entry_serializer(field) for field in field_table.LISTS
}
"""The serializer of the entries of each multi-value field, by the field's name."""


def check_year(day: dt.date) -> None:
    """Raises ValidationError for a year before 1000."""
    if day.year < 1000:
        raise InvalidError(_YEAR_OUT_OF_RANGE)


class DateOrDateTimeField(serializers.Field[dt.date, Any, str, Any]):
    """`YYYY-MM-DD` or an ISO datetime, of which the date part counts."""

    PATTERN = re.compile(
        r"\d{4}-\d{2}-\d{2}"
        r"(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)?)?\Z",
        re.ASCII,
    )

    def to_internal_value(self, data: object) -> dt.date:
        if not isinstance(data, str) or not self.PATTERN.match(data):
            raise InvalidError(_NOT_A_DATE_OR_TIME)
        try:
            day = dt.date.fromisoformat(data[:10])
        except ValueError:
            raise InvalidError(NO_SUCH_DAY) from None
        check_year(day)
        return day

    def to_representation(self, value: dt.date) -> str:
        return f"{value.isoformat()}T00:00:00.000Z"


@extend_schema_field(
    {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": 365},
        "maxItems": 3,
        "uniqueItems": True,
        "examples": [[14, 3]],
    }
)
class ExtraLeadDaysField(serializers.ListField):
    """Days before the date of further notices beside that of `reminderLeadDays`: up to three different numbers."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=StrictIntegerField(min_value=0, max_value=365), max_length=3, **kwargs)

    def to_internal_value(self, data: object) -> list[int]:
        if not isinstance(data, list):
            raise InvalidError(NOT_A_LIST)
        days: list[int] = super().to_internal_value(data)
        if len(set(days)) < len(days):
            raise InvalidError(_REPEATED_DAYS)
        return days


def _build_date_field(key: DateKey) -> AnyField:
    if key.kind is FieldKind.DATE:
        return DateOrDateTimeField()
    more: dict[str, Any] = {"required": False} | ({"source": key.column} if key.column != key.name else {})
    if key.kind is FieldKind.FLAG:
        return StrictBooleanField(**more)
    if key.kind is FieldKind.LIST:
        return ExtraLeadDaysField(**more)
    more["allow_null"] = True
    if key.kind is FieldKind.CHOICE:
        return StrictChoiceField(list(key.choices), fold=key.any_case, **more)
    if key.kind is FieldKind.INTEGER:
        return StrictIntegerField(min_value=key.least, max_value=key.limit, **more)
    return StrictCharField(max_length=key.limit, **more)


class _DateIdsSerializer(serializers.Serializer[ImportantDate]):
    id = serializers.UUIDField(read_only=True)
    personId = serializers.UUIDField(source="person_id", read_only=True)


class _DateKeysSerializer(serializers.Serializer[ImportantDate]):
    # In the body of a class, locals() is the namespace of the class.
    locals().update({key.name: _build_date_field(key) for key in DATE_KEYS})


class ImportantDateSerializer(_DateIdsSerializer, _DateKeysSerializer):
    """The body of one important date, and its answer."""

    deletedAt = serializers.DateTimeField(source="deleted_at", read_only=True, allow_null=True)
    createdAt = serializers.DateTimeField(source="created_at", read_only=True)
    updatedAt = serializers.DateTimeField(source="updated_at", read_only=True)

    def validate(self, attrs: JsonObject) -> JsonObject:
        """The whole row, defaults filled in: what the body leaves out is not kept."""
        if not attrs.get("type") and not attrs.get("title"):
            raise InvalidError({"title": [_UNTITLED]})
        attrs["year_unknown"] = attrs.get("year_unknown", False)
        if attrs["year_unknown"]:
            attrs["date"] = attrs["date"].replace(year=YEAR_UNKNOWN)
        attrs["reminder_enabled"] = attrs.get("reminder_enabled", False)
        return {**attrs, **_reminder_columns(attrs)}


class NewDateSerializer(ImportantDateSerializer):
    """The body of a new date."""

    id = ClientIdField(required=False)


class DeletedDateSerializer(ImportantDateSerializer):
    """A date of the trash, with the name of its person."""

    personName = serializers.CharField()


class DateIdField(EntryIdField):
    """The id of the person's date that this entry is, or the one that a date of a new person gets."""

    def to_internal_value(self, data: object) -> UUID:
        key = parse_id(data)
        if key is None:
            raise InvalidError(NO_SUCH_RECORD)
        return key


class ImportantDateEntrySerializer(ImportantDateSerializer):
    """An entry of `importantDates` in a person's body: `id` names a date of the person that is kept. A date of
    a new person gets it."""

    id = DateIdField(required=False)  # type: ignore[assignment]  # elsewhere a date has its id from the path


def _reminder_columns(attrs: JsonObject) -> JsonObject:
    if not attrs["reminder_enabled"]:
        return deepcopy(_NO_REMINDER)
    given = {column: attrs[column] for column in _NO_REMINDER if attrs.get(column) is not None}
    columns = {**deepcopy(_NO_REMINDER), **DATE_REMINDER_DEFAULTS, **given}
    if columns["reminder_type"] == ReminderType.ONCE:
        columns["reminder_interval"] = columns["reminder_interval_unit"] = None
    return columns


class CustomValueField(serializers.JSONField):
    """Text, number or boolean, depending on the template; in a body, null for no value."""


class TemplateSummary(serializers.Serializer[Any]):
    """The field that a value is of."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    type = StrictChoiceField(TemplateType.values)


class ShortValueSerializer(serializers.Serializer[Any]):
    """A value of a field in the change feed, which sends the fields as records of their own."""

    id = serializers.UUIDField()
    templateId = serializers.UUIDField()
    value = CustomValueField()


class CustomFieldValueSerializer(serializers.Serializer[Any]):
    """A value of a field, for the API description."""

    id = serializers.UUIDField(read_only=True)
    templateId = serializers.UUIDField()
    value = CustomValueField()
    template = TemplateSummary(read_only=True)


class CustomFieldValuesField(serializers.Field[Any, Any, Any, Any]):
    """Entries of templateId and value; validated data holds `{template: the own, active row, value: as stored}`."""

    def to_internal_value(self, data: object) -> list[JsonObject]:
        if not isinstance(data, list):
            raise InvalidError(NOT_A_LIST)
        if len(data) > MAX_CUSTOM_VALUES:
            raise InvalidError(TOO_MANY_ENTRIES.format(limit=MAX_CUSTOM_VALUES))
        ids = {key for item in data if isinstance(item, dict) and (key := parse_id(item.get("templateId")))}
        owner_id = self.context["request"].user.pk
        rows = CustomFieldTemplate.objects.active_rows.instances(owner_id=owner_id, row_ids=list(ids))
        templates = {row.pk: row for row in rows}
        entries: list[dict[str, Any]] = []
        problems: dict[str, Any] = {}
        seen: set[Any] = set()
        for index, item in enumerate(data):
            try:
                entries.append(_parse_entry(item, templates, seen))
            except serializers.ValidationError as error:
                problems[str(index)] = error.detail
        if problems:
            raise InvalidError(problems)
        return entries

    def to_representation(self, value: Any) -> Any:
        return value


def _parse_entry(item: object, templates: Mapping[Any, CustomFieldTemplate], seen: set[UUID]) -> JsonObject:
    if not isinstance(item, dict):
        raise InvalidError(_NOT_A_VALUE)
    template = templates.get(parse_id(item.get("templateId")))
    if template is None:
        raise InvalidError({"templateId": [NO_SUCH_RECORD]})
    if template.pk in seen:
        raise InvalidError({"templateId": [_REPEATED_FIELD]})
    seen.add(template.pk)
    if "value" not in item:
        raise InvalidError({"value": [REQUIRED]})
    try:
        return {"template": template, "value": parse_custom_value(template, item["value"])}
    except InvalidCustomValueError as error:
        raise InvalidError({"value": [error.text]}) from None
