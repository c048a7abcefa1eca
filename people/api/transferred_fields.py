"""Fields that both request bodies and the account transfer use.

A module of their own, because every process loads the transfer, and should not load the views with it.
"""

import datetime as dt
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from contacts_project.kernel.api.fields import StrictCharField, StrictDateTimeField

MAX_PEOPLE = 50
_EARLIEST, _LATEST = dt.datetime(1000, 1, 2, tzinfo=dt.UTC), dt.datetime(9999, 12, 30, tzinfo=dt.UTC)
MAX_OPTIONS = 50


class TimestampField(StrictDateTimeField):
    """A timestamp whose year has four digits in every time zone."""

    def to_internal_value(self, data: Any) -> dt.datetime:
        timestamp = super().to_internal_value(data)
        if not _EARLIEST <= timestamp < _LATEST:
            raise serializers.ValidationError("This must be in a year from 1000 to 9999.")
        return timestamp


@extend_schema_field({"type": "array", "maxItems": MAX_OPTIONS, "items": {"type": "string", "maxLength": 100}})
class OptionsField(serializers.Field[Any, Any, Any, Any]):
    """The options of a SELECT field: 1 to 50 different texts. An empty list is for the other types."""

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list):
            raise serializers.ValidationError("This must be a list of texts.")
        if len(data) > MAX_OPTIONS:
            raise serializers.ValidationError(f"At most {MAX_OPTIONS} options.")
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
                problems[str(index)] = ["This option is there already."]
            options.append(option)
        if problems:
            raise serializers.ValidationError(problems)
        return options

    def to_representation(self, value: Any) -> Any:
        return value
