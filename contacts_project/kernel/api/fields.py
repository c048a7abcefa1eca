"""Serializer fields that take what the contract takes and nothing else: no coercion, clear messages."""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

from django.apps import apps
from django.core.exceptions import ValidationError as DjangoValidationError
from django.core.validators import validate_email
from django.db.models import Model, QuerySet
from rest_framework import serializers

from contacts_project.kernel.api.ids import parse_id
from contacts_project.kernel.api.json import timestamp

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def check_text(value: str) -> str:
    """Return `value` trimmed, line ends as newlines; raise for control characters and lone surrogates."""
    value = value.replace("\r\n", "\n").replace("\r", "\n").strip()
    if bad := _CONTROL.search(value):
        raise serializers.ValidationError(f"The character U+{ord(bad.group()):04X} is not allowed in text.")
    return value


class Text(serializers.Field[str | None, Any, str | None, Any]):
    """Text as typed, trimmed at its ends. Optional text takes null, and `""` is stored as null."""

    min_length = 1

    def __init__(self, max_length: int, *, blank_as_null: bool = True, **kwargs: Any) -> None:
        self.max_length = max_length
        self.blank_as_null = blank_as_null
        if not kwargs.get("required", False):
            kwargs["required"] = False
            kwargs.setdefault("allow_null", True)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str | None:
        if not isinstance(data, str):
            raise serializers.ValidationError("This must be a text.")
        text = check_text(data)
        if not text:
            if self.allow_null and self.blank_as_null:
                return None
            raise serializers.ValidationError("This must not be empty.")
        if len(text) > self.max_length:
            raise serializers.ValidationError(f"At most {self.max_length} characters, this has {len(text)}.")
        return text

    def to_representation(self, value: str | None) -> str | None:
        return value


class Email(Text):
    """An e-mail address of at most 254 characters (RFC 5321, section 4.5.3.1.3, less the brackets)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(254, **kwargs)

    def to_internal_value(self, data: Any) -> str | None:
        text = super().to_internal_value(data)
        if text is not None:
            try:
                validate_email(text)
            except DjangoValidationError:
                raise serializers.ValidationError("This is not an e-mail address.") from None
        return text


class Moment(serializers.Field[dt.datetime, Any, str | None, Any]):
    """A timestamp: ISO 8601 with its offset in, UTC with milliseconds and `Z` out."""

    def to_internal_value(self, data: Any) -> dt.datetime:
        if not isinstance(data, str):
            raise serializers.ValidationError("This must be a timestamp such as 2030-01-31T12:00:00Z.")
        try:
            moment = dt.datetime.fromisoformat(data)
            return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)
        except (ValueError, OverflowError):  # the latter at the ends of the calendar
            raise serializers.ValidationError("This must be a timestamp such as 2030-01-31T12:00:00Z.") from None

    def to_representation(self, value: dt.datetime) -> str | None:
        return timestamp(value)


class Whole(serializers.Field[int, Any, int, Any]):
    """A JSON integer in a range; no text, no float, no boolean."""

    def __init__(self, low: int, high: int, **kwargs: Any) -> None:
        self.low, self.high = low, high
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            raise serializers.ValidationError("This must be a whole number.")
        if not self.low <= data <= self.high:
            raise serializers.ValidationError(f"This must be between {self.low} and {self.high}.")
        return int(data)

    def to_representation(self, value: int) -> int:
        return value


class Number(serializers.Field[float, Any, float, Any]):
    """A JSON number in a range, such as a latitude in degrees."""

    def __init__(self, low: float, high: float, **kwargs: Any) -> None:
        self.low, self.high = low, high
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            raise serializers.ValidationError("This must be a number.")
        if not self.low <= data <= self.high:
            raise serializers.ValidationError(f"This must be between {self.low:g} and {self.high:g}.")
        return float(data)

    def to_representation(self, value: float) -> float:
        return value


class Truth(serializers.Field[bool, Any, bool, Any]):
    """A JSON boolean."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("This must be true or false.")
        return data

    def to_representation(self, value: bool) -> bool:
        return value


class Day(serializers.Field[dt.date, Any, str, Any]):
    """A calendar day, `YYYY-MM-DD` in and out."""

    PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)

    def to_internal_value(self, data: Any) -> dt.date:
        if not isinstance(data, str) or not self.PATTERN.match(data):
            raise serializers.ValidationError("This must be a date, YYYY-MM-DD.")
        try:
            return dt.date.fromisoformat(data)
        except ValueError:
            raise serializers.ValidationError("There is no such day.") from None

    def to_representation(self, value: dt.date) -> str:
        return value.isoformat()


class Choice(serializers.Field[str, Any, str, Any]):
    """One of fixed words."""

    def __init__(self, choices: list[str], *, fold: bool = False, **kwargs: Any) -> None:
        self.words = choices
        self.fold = fold
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        word = data.strip().upper() if self.fold and isinstance(data, str) else data
        if not isinstance(word, str) or word not in self.words:
            raise serializers.ValidationError(f"This must be one of {', '.join(self.words)}.")
        return word

    def to_representation(self, value: str) -> str:
        return value


class Color(serializers.Field[str, Any, str, Any]):
    """`#RRGGBB`, kept as typed."""

    PATTERN = re.compile(r"#[0-9A-Fa-f]{6}\Z")

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or not self.PATTERN.match(data):
            raise serializers.ValidationError("This must be a colour, #RRGGBB.")
        return data

    def to_representation(self, value: str) -> str:
        return value


class _Owned:
    """Looks ids up among the caller's own active rows: the one way for a foreign id into the service."""

    model: str
    context: dict[str, Any]

    def rows(self) -> QuerySet[Any]:
        model: Any = apps.get_model(self.model)
        owned: Any = model.objects.owned_by(self.context["request"].user)
        rows: QuerySet[Any] = owned.active() if hasattr(owned, "active") else owned
        return rows


UNKNOWN_ID = "There is no such record."


class OwnedField(_Owned, serializers.Field[Any, Any, str, Any]):
    """The id of one own, active row; validated data holds the row.

    `model` is "app.Model". Unknown, deleted and other users' ids get the same message.
    """

    def __init__(self, model: str, **kwargs: Any) -> None:
        self.model = model
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> Model:
        key = parse_id(data)
        row: Model | None = self.rows().filter(pk=key).first() if key else None
        if row is None:
            raise serializers.ValidationError(UNKNOWN_ID)
        return row

    def to_representation(self, value: Any) -> str:
        return str(getattr(value, "pk", value))


class OwnedListField(_Owned, serializers.Field[Any, Any, list[str], Any]):
    """Ids of own, active rows; validated data holds the rows, each once, in the order sent. One query."""

    def __init__(self, model: str, *, max_items: int = 20_000, allow_empty: bool = True, **kwargs: Any) -> None:
        self.model = model
        self.max_items = max_items
        self.allow_empty = allow_empty
        super().__init__(**kwargs)

    def found(self, wanted: list[Any]) -> Mapping[Any, Any]:
        """What validated data holds for each id of `wanted` that is one of an own row."""
        return self.rows().in_bulk(wanted)

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            raise serializers.ValidationError("This must be a list of ids.")
        if not data and not self.allow_empty:
            raise serializers.ValidationError("At least one id is needed.")
        if len(data) > self.max_items:
            raise serializers.ValidationError(f"At most {self.max_items} ids.")
        keys = [parse_id(item) for item in data]
        wanted = [key for key in keys if key]
        found = self.found(wanted) if wanted else {}
        unknown = {str(i): [UNKNOWN_ID] for i, key in enumerate(keys) if key not in found}
        if unknown:
            raise serializers.ValidationError(unknown)
        return [found[key] for key in dict.fromkeys(wanted)]

    def to_representation(self, value: Any) -> list[str]:
        return [str(getattr(row, "pk", row)) for row in value]


class OwnedIdsField(OwnedListField):
    """Ids of own, active rows, for thousands of them: validated data holds the ids, each once. One query."""

    FEW = 500

    def found(self, wanted: list[Any]) -> Mapping[Any, Any]:
        rows = self.rows()
        if len(wanted) <= self.FEW:
            rows = rows.filter(pk__in=wanted)
        return {key: key for key in rows.values_list("pk", flat=True)}
