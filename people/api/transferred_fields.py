"""Fields that both request bodies and the account transfer use.

A module of their own, because every process loads the transfer, and should not load the views with it.
"""

import datetime as dt
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import (
    StrictCharField,
    StrictChoiceField,
    StrictDateTimeField,
    StrictIntegerField,
)
from contacts_project.kernel.texts import define_text
from people.field_table import MAX_LEAD_DAYS
from people.vocabularies import Unit

_REPEATED_OPTION = define_text("repeated_option", "This option is there already.")

_YEAR = define_text("timestamp_out_of_range", "This must be in a year from 1000 to 9999.")
_NOT_TEXTS = define_text("not_a_list_of_texts", "This must be a list of texts.")
_TOO_MANY_OPTIONS = define_text("too_many_options", "At most %(limit)s options.")

MAX_PEOPLE = 50
_EARLIEST, _LATEST = dt.datetime(1000, 1, 2, tzinfo=dt.UTC), dt.datetime(9999, 12, 30, tzinfo=dt.UTC)
MAX_OPTIONS = 50


class TimestampField(StrictDateTimeField):
    """A timestamp whose year has four digits in every time zone."""

    def to_internal_value(self, data: object) -> dt.datetime:
        timestamp = super().to_internal_value(data)
        if not _EARLIEST <= timestamp < _LATEST:
            raise InvalidError(_YEAR)
        return timestamp


@extend_schema_field({"type": "array", "maxItems": MAX_OPTIONS, "items": {"type": "string", "maxLength": 100}})
class OptionsField(serializers.Field[Any, Any, Any, Any]):
    """The options of a SELECT field: 1 to 50 different texts. An empty list is for the other types."""

    def to_internal_value(self, data: object) -> list[str]:
        if not isinstance(data, list):
            raise InvalidError(_NOT_TEXTS)
        if len(data) > MAX_OPTIONS:
            raise InvalidError(_TOO_MANY_OPTIONS.format(limit=MAX_OPTIONS))
        text = StrictCharField(max_length=100)
        options: list[str] = []
        problems: dict[str, Any] = {}
        for index, item in enumerate(data):
            try:
                option = str(text.run_validation(item))
            except serializers.ValidationError as error:
                problems[str(index)] = error.detail
                continue
            if option in options:
                problems[str(index)] = [_REPEATED_OPTION]
            options.append(option)
        if problems:
            raise InvalidError(problems)
        return options

    def to_representation(self, value: Any) -> Any:
        return value


class ContactRuleSerializer(serializers.Serializer[Any]):
    """How often to be in touch with the members."""

    interval = StrictIntegerField(min_value=1, max_value=99)
    unit = StrictChoiceField(list(Unit.values))


class RuleSerializer(serializers.Serializer[Any]):
    """The rule of a group, which is written to whoever joins."""

    contactReminder = ContactRuleSerializer(required=False, allow_null=True, source="contact_reminder")
    leadDays = StrictIntegerField(
        min_value=0, max_value=MAX_LEAD_DAYS, required=False, allow_null=True, source="lead_days"
    )
