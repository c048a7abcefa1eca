"""Serializer fields that accept exactly what the API contract allows.

DRF's own fields coerce: `"1"` passes for an integer, `1` for a text. These refuse anything but the documented JSON
type, with a message that a client can show.
"""

import datetime as dt
import itertools
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import Model, QuerySet
from rest_framework import serializers

from contacts_project.kernel.api.ids import is_client_id
from contacts_project.kernel.api.json import format_timestamp, parse_id
from contacts_project.kernel.errors import NO_SUCH_RECORD

# Control characters but tab and newline, and lone surrogates, which UTF-8 cannot encode.
_FORBIDDEN_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LOCAL_PART = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_DOMAIN_LABEL = re.compile(r"[^\W_]([^\W_]|-){0,62}")


def check_text(value: str) -> str:
    """Return `value` trimmed, with LF line ends. Raises ValidationError for control characters and lone surrogates."""
    value = value.replace("\r\n", "\n").replace("\r", "\n").strip()
    if bad := _FORBIDDEN_CHARACTER.search(value):
        raise serializers.ValidationError(f"The character U+{ord(bad.group()):04X} is not allowed in text.")
    return value


class StrictCharField(serializers.CharField):
    """A text of at most `max_length` characters, trimmed at both ends.

    A blank text counts as null if null is allowed. Otherwise it is `""` with `allow_blank`, and refused without.
    """

    default_error_messages = {"invalid": "This must be a text.", "blank": "This must not be empty."}
    max_length: int

    def __init__(self, *, max_length: int, **kwargs: Any) -> None:
        kwargs.setdefault("allow_blank", kwargs.get("allow_null", False))
        super().__init__(**kwargs)
        # Checked in to_internal_value and not by a validator, so that it precedes the checks of subclasses.
        self.max_length = max_length

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Validate as Field does. CharField's own version treats `""` as blank before it has checked the type."""
        is_empty, data = self.validate_empty_values(data)
        if is_empty:
            return data
        value = self.to_internal_value(data)
        if value:
            self.run_validators(value)
        return value

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid")
        text = check_text(data)
        if not text and not self.allow_blank:
            self.fail("blank")
        if not text and self.allow_null:
            return None
        if len(text) > self.max_length:
            raise serializers.ValidationError(f"At most {self.max_length} characters, this has {len(text)}.")
        return text


def is_email(address: str) -> bool:
    """Whether `address` is a mailbox at a domain name.

    The same addresses as Django's EmailValidator accepts, except quoted local parts and IP address literals.
    """
    local, at, domain = address.rpartition("@")
    labels = domain.split(".")
    return (
        len(address) <= 254
        and bool(at)
        and len(local) <= 64
        and _LOCAL_PART.fullmatch(local) is not None
        and 2 <= len(labels) <= 100
        and all(_DOMAIN_LABEL.fullmatch(label) and not label.endswith("-") for label in labels)
        and len(labels[-1]) >= 2
        and not labels[-1].isdigit()
    )


class StrictEmailField(StrictCharField):
    """An e-mail address. Its case is kept."""

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        if text is None or not is_email(text):
            raise serializers.ValidationError("This is not an e-mail address.")
        return text


class StrictDateTimeField(serializers.DateTimeField):
    """A timestamp. Input: ISO 8601, UTC where no offset is given. Output: UTC with milliseconds and `Z`."""

    default_error_messages = {"invalid": "This must be a timestamp such as 2030-01-31T12:00:00Z."}

    def to_internal_value(self, data: Any) -> dt.datetime:
        if not isinstance(data, str):
            self.fail("invalid")
        try:
            parsed = dt.datetime.fromisoformat(data)
            return (parsed if parsed.tzinfo else parsed.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)
        except (ValueError, OverflowError):  # OverflowError: an offset moves the time out of the years 1 to 9999
            self.fail("invalid")

    def to_representation(self, value: Any) -> Any:
        return format_timestamp(value)


class StrictIntegerField(serializers.IntegerField):
    """A JSON integer in a range; no text, no float, no boolean."""

    default_error_messages = {"invalid": "This must be a whole number."}

    def __init__(self, *, min_value: int, max_value: int, **kwargs: Any) -> None:
        super().__init__(
            min_value=min_value, max_value=max_value, error_messages=_range(min_value, max_value), **kwargs
        )

    def to_internal_value(self, data: Any) -> int:
        # In Python True is an int.
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return int(data)


class StrictFloatField(serializers.FloatField):
    """A JSON number in a range, such as a latitude in degrees."""

    default_error_messages = {"invalid": "This must be a number."}

    def __init__(self, *, min_value: float, max_value: float, **kwargs: Any) -> None:
        super().__init__(
            min_value=min_value, max_value=max_value, error_messages=_range(min_value, max_value), **kwargs
        )

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return float(data)


def _range(low: float, high: float) -> Any:
    message = f"This must be between {low} and {high}."
    return {"min_value": message, "max_value": message}


class StrictBooleanField(serializers.BooleanField):
    """A JSON boolean."""

    default_error_messages = {"invalid": "This must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class StrictDateField(serializers.DateField):
    """A calendar date, `YYYY-MM-DD`."""

    default_error_messages = {"invalid": "This must be a date, YYYY-MM-DD.", "unknown": "There is no such day."}
    PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)

    def to_internal_value(self, data: Any) -> dt.date:
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

    def to_internal_value(self, data: Any) -> str:
        word = data.strip().upper() if self.fold and isinstance(data, str) else data
        if not isinstance(word, str) or word not in self.choices:
            raise serializers.ValidationError(f"This must be one of {', '.join(self.choices)}.")
        return word


class ClientIdField(serializers.UUIDField):
    """The id that a client generated for a new record. `claim_ids` checks under the account lock that it is unused."""

    default_error_messages = {"invalid": "This must be a UUID of version 4 or 7, in its usual form."}

    def to_internal_value(self, data: Any) -> UUID:
        key = parse_id(data)
        # UUID() also accepts forms without hyphens; the stored form must be the one that the client sent.
        if key is None or str(key) != data.lower() or not is_client_id(key):
            self.fail("invalid")
        return key


class ColorField(serializers.Field[str, Any, str, Any]):
    """A colour, `#RRGGBB`. Its case is kept."""

    default_error_messages = {"invalid": "This must be a colour, #RRGGBB."}
    PATTERN = re.compile(r"#[0-9A-Fa-f]{6}\Z")

    def to_internal_value(self, data: Any) -> str:
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


class OwnedField(_OwnedMixin, serializers.Field[Any, Any, str, Any]):
    """The id of one active row of the caller. The validated value is the row. `model` is "app.Model".

    Unknown, deleted and other users' ids get the same message, so nobody can find out which ids exist.
    """

    def __init__(self, model: str, **kwargs: Any) -> None:
        self.model = model
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> Any:
        model: Any = apps.get_model(self.model)
        owner_id, key = self.context["request"].user.pk, parse_id(data)
        row: Model | None = model.objects.active_rows.instance(owner_id=owner_id, row_ids=[key] if key else [])
        if row is None:
            raise serializers.ValidationError(NO_SUCH_RECORD)
        return row

    def to_representation(self, value: Any) -> str:
        return str(getattr(value, "pk", value))


class OwnedIdField(OwnedField):
    """The id of one active row of the caller, for writes that need nothing else of the row: its value is the id.

    To read a whole row and build its model costs several times as much.
    """

    def to_internal_value(self, data: Any) -> UUID:
        model: Any = apps.get_model(self.model)
        key = parse_id(data)
        if key is None or not model.objects.active_ids.rows(owner_id=self.context["request"].user.pk, row_ids=[key]):
            raise serializers.ValidationError(NO_SUCH_RECORD)
        return key


# Each number of ids has a compiled statement of its own; for longer lists the ORM builds one.
_MAX_COMPILED_IDS = 20


class OwnedListField(_OwnedMixin, serializers.Field[Any, Any, list[str], Any]):
    """Ids of active rows of the caller. The validated value is the rows in the order sent, without duplicates.

    It takes one query.
    """

    def __init__(self, model: str, *, max_items: int = 20_000, allow_empty: bool = True, **kwargs: Any) -> None:
        self.model = model
        self.max_items = max_items
        self.allow_empty = allow_empty
        super().__init__(**kwargs)

    def find_rows(self, ids: list[Any]) -> Mapping[Any, Any]:
        """The validated values by id. Ids that are not the caller's are missing."""
        if len(ids) > _MAX_COMPILED_IDS:
            return self.rows().in_bulk(ids)
        model: Any = apps.get_model(self.model)
        rows = model.objects.active_rows.instances(owner_id=self.context["request"].user.pk, row_ids=ids)
        return {row.pk: row for row in rows}

    def to_internal_value(self, data: Any) -> list[Any]:
        if not isinstance(data, list):
            raise serializers.ValidationError("This must be a list of ids.")
        if not data and not self.allow_empty:
            raise serializers.ValidationError("At least one id is needed.")
        if len(data) > self.max_items:
            raise serializers.ValidationError(f"At most {self.max_items} ids.")
        keys = [parse_id(item) for item in data]
        ids = [key for key in keys if key]
        found = self.find_rows(ids) if ids else {}
        unknown = {str(i): [NO_SUCH_RECORD] for i, key in enumerate(keys) if key not in found}
        if unknown:
            raise serializers.ValidationError(unknown)
        return [found[key] for key in dict.fromkeys(ids)]

    def to_representation(self, value: Any) -> list[str]:
        return [str(getattr(row, "pk", row)) for row in value]


class OwnedIdsField(OwnedListField):
    """Ids of active rows of the caller, for lists of thousands. The validated value is the ids, without duplicates.

    It takes one query.
    """

    MAX_FILTERED_IDS = 500

    def find_rows(self, ids: list[Any]) -> Mapping[Any, Any]:
        if len(ids) <= _MAX_COMPILED_IDS:
            model: Any = apps.get_model(self.model)
            found = model.objects.active_ids.rows(owner_id=self.context["request"].user.pk, row_ids=ids)
            return {key: key for key in map(UUID, itertools.chain.from_iterable(found))}
        rows = self.rows()
        # For more ids it is cheaper to read all ids of the account than to send and match such a list.
        if len(ids) <= self.MAX_FILTERED_IDS:
            rows = rows.filter(pk__in=ids)
        return {key: key for key in rows.values_list("pk", flat=True)}
