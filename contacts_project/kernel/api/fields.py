"""Serializer fields that accept exactly what the API contract allows.

DRF's own fields coerce: `"1"` passes for an integer, `1` for a text. These refuse anything but the documented JSON
type, with a message that a client can show.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from typing import Any, Self
from uuid import UUID

from django.apps import apps
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Model, QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from contacts_project.kernel.api.errors import NOT_AN_OBJECT, InvalidError
from contacts_project.kernel.errors import NO_SUCH_RECORD
from contacts_project.kernel.ids import parse_client_id, parse_id
from contacts_project.kernel.json import format_timestamp
from contacts_project.kernel.text_forms import (
    BLANK,
    NOT_A_BOOLEAN,
    NOT_A_CHOICE,
    NOT_A_NUMBER,
    NOT_A_TEXT,
    NOT_AN_EMAIL,
    OUT_OF_RANGE,
    TOO_LONG,
    InvalidTextError,
    check_text,
    is_email,
)
from contacts_project.kernel.texts import Text, define_text

_NOT_A_TIMESTAMP = define_text("not_a_timestamp", "This must be a timestamp such as 2030-01-31T12:00:00Z.")
NOT_AN_INTEGER = define_text("not_an_integer", "This must be a whole number.")
_NOT_A_DATE = define_text("not_a_date", "This must be a date, YYYY-MM-DD.")
NO_SUCH_DAY = define_text("no_such_day", "There is no such day.")
NOT_A_CLIENT_ID = define_text("not_a_client_id", "This must be a UUID of version 4 or 7, in its usual form.")
_NOT_A_COLOR = define_text("not_a_color", "This must be a colour, #RRGGBB.")
NOT_A_LIST_OF_IDS = define_text("not_a_list_of_ids", "This must be a list of ids.")
TOO_MANY_ENTRIES = define_text("too_many_entries", "At most %(limit)s entries.")
_NO_IDS = define_text("no_ids", "At least one id is needed.")
TOO_MANY_IDS = define_text("too_many_ids", "At most %(limit)s ids.")
# Of the API description.
CLIENT_ID_SCHEMA = {
    "type": "string",
    "format": "uuid",
    "pattern": "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[47][0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$",
}


def messages(**texts: Text) -> Any:
    """The messages of a field by DRF's keys. DRF expects strings, but only calls `format` and copies the code."""
    return texts


class _FixedText(Text):
    """A text that takes none of the values that DRF has for its own."""

    def format(self, **params: object) -> Self:
        return self


# DRF names the Python type of what was sent. Set here and not in each serializer: nested ones are easy to miss.
serializers.Serializer.default_error_messages = messages(invalid=_FixedText(NOT_AN_OBJECT.code, NOT_AN_OBJECT.english))


class StrictCharField(serializers.CharField):
    """A text of at most `max_length` characters, trimmed at both ends and stored in NFC.

    A blank text counts as null if null is allowed. Otherwise it is `""` with `allow_blank`, and refused without.
    """

    default_error_messages = messages(invalid=NOT_A_TEXT, blank=BLANK)
    max_length: int

    def __init__(self, *, max_length: int, **kwargs: Any) -> None:
        kwargs.setdefault("allow_blank", kwargs.get("allow_null", False))
        super().__init__(**kwargs)
        # Checked in to_internal_value and not by a validator, so that it precedes the checks of subclasses.
        self.max_length = max_length

    def run_validation(self, data: object = serializers.empty) -> Any:
        """Validate as Field does. CharField's own version treats `""` as blank before it has checked the type."""
        is_empty, data = self.validate_empty_values(data)
        if is_empty:
            return data
        value = self.to_internal_value(data)
        if value:
            self.run_validators(value)
        return value

    def to_internal_value(self, data: object) -> Any:
        if not isinstance(data, str):
            self.fail("invalid")
        try:
            text = check_text(data)
        except InvalidTextError as error:
            raise InvalidError(error.text) from None
        if not text and not self.allow_blank:
            self.fail("blank")
        if not text and self.allow_null:
            return None
        if len(text) > self.max_length:
            raise InvalidError(TOO_LONG.format(limit=self.max_length, length=len(text)))
        return text


class StrictEmailField(StrictCharField):
    """An e-mail address. Its case is kept."""

    def to_internal_value(self, data: object) -> Any:
        text = super().to_internal_value(data)
        if text is None or not is_email(text):
            raise InvalidError(NOT_AN_EMAIL)
        return text


class StrictDateTimeField(serializers.DateTimeField):
    """A timestamp. Input: ISO 8601, UTC where no offset is given. Output: UTC with milliseconds and `Z`."""

    default_error_messages = messages(invalid=_NOT_A_TIMESTAMP)

    def to_internal_value(self, data: object) -> dt.datetime:
        if not isinstance(data, str):
            self.fail("invalid")
        try:
            parsed = dt.datetime.fromisoformat(data)
            return (parsed if parsed.tzinfo else parsed.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)
        except (ValueError, OverflowError):  # OverflowError: an offset moves the time out of the years 1 to 9999
            self.fail("invalid")

    def to_representation(self, value: dt.datetime) -> Any:
        return format_timestamp(value)


@extend_schema_field({"type": "integer"})
class StrictIntegerField(serializers.IntegerField):
    """A JSON integer in a range; no text, no float, no boolean."""

    default_error_messages = messages(invalid=NOT_AN_INTEGER)

    def __init__(self, *, min_value: int, max_value: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.validators += _range(min_value, max_value)

    def to_internal_value(self, data: object) -> int:
        # In Python True is an int.
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return int(data)


@extend_schema_field({"type": "number"})
class StrictFloatField(serializers.FloatField):
    """A JSON number in a range, such as a latitude in degrees."""

    default_error_messages = messages(invalid=NOT_A_NUMBER)

    def __init__(self, *, min_value: float, max_value: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.validators += _range(min_value, max_value)

    def to_internal_value(self, data: object) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return float(data)


class _Minimum(MinValueValidator):
    """Django's validator, by which drf-spectacular describes the field, with a Text."""

    def __init__(self, limit: float, text: Text) -> None:
        super().__init__(limit)
        self.text = text

    def __call__(self, value: float) -> None:
        if value < self.limit_value:
            raise InvalidError(self.text)


class _Maximum(MaxValueValidator):
    def __init__(self, limit: float, text: Text) -> None:
        super().__init__(limit)
        self.text = text

    def __call__(self, value: float) -> None:
        if value > self.limit_value:
            raise InvalidError(self.text)


def _range(low: float, high: float) -> list[MinValueValidator | MaxValueValidator]:
    text = OUT_OF_RANGE.format(low=low, high=high)
    return [_Minimum(low, text), _Maximum(high, text)]


class StrictBooleanField(serializers.BooleanField):
    """A JSON boolean."""

    default_error_messages = messages(invalid=NOT_A_BOOLEAN)

    def to_internal_value(self, data: object) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class StrictDateField(serializers.DateField):
    """A calendar date, `YYYY-MM-DD`."""

    default_error_messages = messages(invalid=_NOT_A_DATE, unknown=NO_SUCH_DAY)
    PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)

    def to_internal_value(self, data: object) -> dt.date:
        if not isinstance(data, str) or not self.PATTERN.match(data):
            self.fail("invalid")
        try:
            return dt.date.fromisoformat(data)
        except ValueError:
            self.fail("unknown")


class StrictChoiceField(serializers.ChoiceField):
    """One of a fixed list of words. With `fold` the case of the input and spaces around it do not matter."""

    def __init__(self, choices: list[str], *, fold: bool = False, **kwargs: Any) -> None:
        super().__init__(choices, **kwargs)
        self.fold = fold

    def to_internal_value(self, data: object) -> str:
        word = data.strip().upper() if self.fold and isinstance(data, str) else data
        if not isinstance(word, str) or word not in self.choices:
            raise InvalidError(NOT_A_CHOICE.format(choices=list(self.choices)))
        return word


@extend_schema_field(CLIENT_ID_SCHEMA)
class ClientIdField(serializers.UUIDField):
    """The id that a client generated for a new record. `claim_ids` checks under the account lock that it is unused."""

    default_error_messages = messages(invalid=NOT_A_CLIENT_ID)

    def to_internal_value(self, data: object) -> UUID:
        key = parse_client_id(data)
        if key is None:
            self.fail("invalid")
        return key


@extend_schema_field({"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$"})
class ColorField(serializers.Field[str, Any, str, Any]):
    """A colour, `#RRGGBB`. Its case is kept."""

    default_error_messages = messages(invalid=_NOT_A_COLOR)
    PATTERN = re.compile(r"#[0-9A-Fa-f]{6}\Z")

    def to_internal_value(self, data: object) -> str:
        if not isinstance(data, str) or not self.PATTERN.match(data):
            self.fail("invalid")
        return data

    def to_representation(self, value: str) -> str:
        return value


class _OwnedMixin:
    """Looks up ids among the caller's own active rows. Every foreign id in a request body goes through a subclass."""

    model: str
    context: dict[str, Any]

    def rows(self) -> QuerySet[Any]:
        model: Any = apps.get_model(self.model)
        owned: Any = model.objects.owned_by(self.context["request"].user)
        rows: QuerySet[Any] = owned.active() if hasattr(owned, "active") else owned
        return rows


@extend_schema_field({"type": "string", "format": "uuid"})
class OwnedField(_OwnedMixin, serializers.Field[Any, Any, str, Any]):
    """The id of one active row of the caller. The validated value is the row. `model` is "app.Model".

    Unknown, deleted and other users' ids get the same message, so nobody can find out which ids exist.
    """

    def __init__(self, model: str, **kwargs: Any) -> None:
        self.model = model
        super().__init__(**kwargs)

    def to_internal_value(self, data: object) -> Any:
        model: Any = apps.get_model(self.model)
        owner_id, key = self.context["request"].user.pk, parse_id(data)
        row: Model | None = model.objects.active_rows.instance(owner_id=owner_id, row_ids=[key] if key else [])
        if row is None:
            raise InvalidError(NO_SUCH_RECORD)
        return row

    def to_representation(self, value: object) -> str:
        return str(getattr(value, "pk", value))


class OwnedIdField(OwnedField):
    """The id of one active row of the caller, for writes that need nothing else of the row: its value is the id.

    To read a whole row and build its model costs several times as much.
    """

    def to_internal_value(self, data: object) -> UUID:
        model: Any = apps.get_model(self.model)
        key = parse_id(data)
        if key is None or not model.objects.active_ids(self.context["request"].user, [key]):
            raise InvalidError(NO_SUCH_RECORD)
        return key


class LockedIdField(serializers.UUIDField):
    """The id of a row that the service looks up among the account's own under its lock; the value is the id.

    For writes whose rows must be read there in any case: with `OwnedIdField` they would be read twice. The service
    raises FieldError with NO_SUCH_RECORD for any other id.
    """

    def to_internal_value(self, data: object) -> UUID:
        key = parse_id(data)
        if key is None:
            raise InvalidError(NO_SUCH_RECORD)
        return key


# Each number of ids has a compiled statement of its own; for longer lists the ORM builds one.
_MAX_COMPILED_IDS = 20


class OwnedListField(_OwnedMixin, serializers.Field[Any, Any, list[str], Any]):
    """Ids of active rows of the caller. The validated value is the rows in the order sent, without duplicates."""

    def __init__(self, model: str, *, max_items: int = 20_000, allow_empty: bool = True, **kwargs: Any) -> None:
        self.model = model
        self.max_items = max_items
        self.allow_empty = allow_empty
        super().__init__(**kwargs)

    def find_rows(self, ids: list[UUID]) -> Mapping[UUID, Model | UUID]:
        """The validated values by id. Ids that are not the caller's are missing."""
        if len(ids) > _MAX_COMPILED_IDS:
            return self.rows().in_bulk(ids)
        model: Any = apps.get_model(self.model)
        rows = model.objects.active_rows.instances(owner_id=self.context["request"].user.pk, row_ids=ids)
        return {row.pk: row for row in rows}

    def to_internal_value(self, data: object) -> list[Any]:
        if not isinstance(data, list):
            raise InvalidError(NOT_A_LIST_OF_IDS)
        if not data and not self.allow_empty:
            raise InvalidError(_NO_IDS)
        if len(data) > self.max_items:
            raise InvalidError(TOO_MANY_IDS.format(limit=self.max_items))
        keys = [parse_id(item) for item in data]
        ids = [key for key in keys if key]
        found = self.find_rows(ids) if ids else {}
        unknown = {str(i): [NO_SUCH_RECORD] for i, key in enumerate(keys) if key not in found}
        if unknown:
            raise InvalidError(unknown)
        return [found[key] for key in dict.fromkeys(ids)]

    def to_representation(self, value: Iterable[object]) -> list[str]:
        return [str(getattr(row, "pk", row)) for row in value]


class OwnedIdsField(OwnedListField):
    """Ids of active rows of the caller, for lists of thousands. The validated value is the ids, without duplicates."""

    MAX_FILTERED_IDS = 500

    def find_rows(self, ids: list[UUID]) -> Mapping[UUID, Model | UUID]:
        rows = self.rows()
        # For more ids it is cheaper to read all ids of the account than to send and match such a list.
        if len(ids) <= self.MAX_FILTERED_IDS:
            rows = rows.filter(pk__in=ids)
        return {key: key for key in rows.values_list("pk", flat=True)}
