"""Serializers of a person's lists: entries of multi-value fields (from people.field_table), important dates, and values
of custom fields."""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from contacts_project.kernel.api.fields import (
    ClientIdField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictEmailField,
    StrictFloatField,
    StrictIntegerField,
)
from contacts_project.kernel.api.json import parse_id
from contacts_project.kernel.errors import NO_SUCH_RECORD
from people import field_table
from people.field_table import EntryKey, KeyKind, PersonField
from people.models import CustomFieldTemplate, ImportantDate
from people.models.important_date import YEAR_UNKNOWN
from people.projection.important_dates import serialize_date
from people.services.person_rows import InvalidCustomValueError, parse_custom_value
from people.vocabularies import DateType, ReminderType, TemplateType, Unit

DATE_TYPES = list(DateType.values)
MAX_CUSTOM_VALUES = 100


class EntryIdField(serializers.Field[Any, Any, Any, Any]):
    """The id of the stored entry that this one replaces. Null and unknown ids are ignored."""

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        return super().validate_empty_values(serializers.empty if data is None else data)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            raise serializers.ValidationError("This must be a text.")
        return data

    def to_representation(self, value: Any) -> str:
        return str(value)


class EntrySerializer(serializers.Serializer[Mapping[str, Any]]):
    """What all have: an id that stays while the entry does, and a free type."""

    id = EntryIdField(required=False)
    type = StrictCharField(max_length=50, required=False, allow_null=True)
    keys: ClassVar[tuple[EntryKey, ...]] = ()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for key in self.keys:
            if not (key.required or key.read_only):
                attrs[key.name] = attrs.get(key.name) or key.default or attrs.get(key.default_key)
        return attrs


def _build_field(key: EntryKey) -> "serializers.Field[Any, Any, Any, Any]":
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
        raise serializers.ValidationError("The year must be between 1000 and 9999.")


class DateOrDateTimeField(serializers.Field[dt.date, Any, str, Any]):
    """`YYYY-MM-DD` or an ISO datetime, of which the date part counts."""

    PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?\Z", re.ASCII)

    def to_internal_value(self, data: Any) -> dt.date:
        if not isinstance(data, str) or not self.PATTERN.match(data):
            raise serializers.ValidationError("This must be a date, YYYY-MM-DD, or an ISO datetime.")
        try:
            dt.time.fromisoformat(data[11:19].rstrip("Z") or "00:00")
            day = dt.date.fromisoformat(data[:10])
        except ValueError:
            raise serializers.ValidationError("There is no such day.") from None
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

    def to_internal_value(self, data: Any) -> list[int]:
        if not isinstance(data, list):
            raise serializers.ValidationError("This must be a list.")
        days: list[int] = super().to_internal_value(data)
        if len(set(days)) < len(days):
            raise serializers.ValidationError("Each number of days once.")
        return days


class ImportantDateSerializer(serializers.Serializer[ImportantDate]):
    """The body of one important date, and its answer."""

    id = serializers.UUIDField(read_only=True)
    personId = serializers.UUIDField(source="person_id", read_only=True)
    type = StrictChoiceField(DATE_TYPES, fold=True, required=False, allow_null=True)
    title = StrictCharField(max_length=100, required=False, allow_null=True)
    date = DateOrDateTimeField()
    yearUnknown = StrictBooleanField(source="year_unknown", required=False)
    reminderEnabled = StrictBooleanField(source="reminder_enabled", required=False)
    reminderType = StrictChoiceField(ReminderType.values, source="reminder_type", required=False, allow_null=True)
    reminderInterval = StrictIntegerField(
        min_value=1, max_value=99, source="reminder_interval", required=False, allow_null=True
    )
    reminderIntervalUnit = StrictChoiceField(
        Unit.values, source="reminder_interval_unit", required=False, allow_null=True
    )
    reminderLeadDays = StrictIntegerField(
        min_value=0, max_value=365, source="reminder_lead_days", required=False, allow_null=True
    )
    extraLeadDays = ExtraLeadDaysField(source="extra_lead_days", required=False)
    deletedAt = serializers.DateTimeField(source="deleted_at", read_only=True, allow_null=True)
    createdAt = serializers.DateTimeField(source="created_at", read_only=True)
    updatedAt = serializers.DateTimeField(source="updated_at", read_only=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The whole row, defaults filled in: what the body leaves out is not kept."""
        if not attrs.get("type") and not attrs.get("title"):
            raise serializers.ValidationError({"title": ["A date without a type needs a title."]})
        attrs["year_unknown"] = attrs.get("year_unknown", False)
        if attrs["year_unknown"]:
            attrs["date"] = attrs["date"].replace(year=YEAR_UNKNOWN)
        attrs["reminder_enabled"] = attrs.get("reminder_enabled", False)
        return {**attrs, **_reminder_columns(attrs)}

    def to_representation(self, instance: ImportantDate) -> dict[str, Any]:
        return serialize_date(instance)


class NewDateSerializer(ImportantDateSerializer):
    """The body of a new date."""

    id = ClientIdField(required=False)


class DeletedDateSerializer(ImportantDateSerializer):
    """A date of the trash, with the name of its person."""

    personName = serializers.CharField()


class DateIdField(EntryIdField):
    """The id of the person's date that this entry is, or the one that a date of a new person gets."""

    def to_internal_value(self, data: Any) -> UUID:
        key = parse_id(data)
        if key is None:
            raise serializers.ValidationError(NO_SUCH_RECORD)
        return key


class ImportantDateEntrySerializer(ImportantDateSerializer):
    """An entry of `importantDates` in a person's body: `id` names a date of the person that is kept. A date of
    a new person gets it."""

    id = DateIdField(required=False)  # type: ignore[assignment]  # elsewhere a date has its id from the path


def _reminder_columns(attrs: dict[str, Any]) -> dict[str, Any]:
    if not attrs["reminder_enabled"]:
        kind = interval = unit = lead = None
        extra: list[int] = []
    else:
        kind, lead = attrs.get("reminder_type") or ReminderType.RECURRING.value, attrs.get("reminder_lead_days")
        interval, unit = attrs.get("reminder_interval") or 1, attrs.get("reminder_interval_unit") or Unit.YEARS.value
        extra = attrs.get("extra_lead_days", [])
        if kind == ReminderType.ONCE:
            interval = unit = None
    return {
        "reminder_type": kind,
        "reminder_interval": interval,
        "reminder_interval_unit": unit,
        "reminder_lead_days": lead,
        "extra_lead_days": extra,
    }


class CustomValueField(serializers.JSONField):
    """Text, number or boolean, depending on the template; in a body, null for no value."""


class TemplateSummary(serializers.Serializer[Any]):
    """The field that a value is of."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    slug = serializers.CharField()
    type = StrictChoiceField(TemplateType.values)


class CustomFieldValueSerializer(serializers.Serializer[Any]):
    """A value of a field, for the API description."""

    id = serializers.UUIDField(read_only=True)
    templateId = serializers.UUIDField()
    value = CustomValueField()
    template = TemplateSummary(read_only=True)


class CustomFieldValuesField(serializers.Field[Any, Any, Any, Any]):
    """Entries of templateId and value; validated data holds `{template: the own, active row, value: as stored}`."""

    def to_internal_value(self, data: Any) -> list[dict[str, Any]]:
        if not isinstance(data, list):
            raise serializers.ValidationError("This must be a list.")
        if len(data) > MAX_CUSTOM_VALUES:
            raise serializers.ValidationError(f"At most {MAX_CUSTOM_VALUES} entries.")
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
            raise serializers.ValidationError(problems)
        return entries

    def to_representation(self, value: Any) -> Any:
        return value


def _parse_entry(item: Any, templates: dict[Any, CustomFieldTemplate], seen: set[Any]) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise serializers.ValidationError("This must be an object with templateId and value.")
    template = templates.get(parse_id(item.get("templateId")))
    if template is None:
        raise serializers.ValidationError({"templateId": [NO_SUCH_RECORD]})
    if template.pk in seen:
        raise serializers.ValidationError({"templateId": ["This field is there already."]})
    seen.add(template.pk)
    if "value" not in item:
        raise serializers.ValidationError({"value": ["This field is required."]})
    try:
        return {"template": template, "value": parse_custom_value(template, item["value"])}
    except InvalidCustomValueError as error:
        raise serializers.ValidationError({"value": [str(error)]}) from None
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"value": error.detail}) from None
