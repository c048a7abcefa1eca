"""The tables that a backup contains, in an order in which they can be filled, and how their columns are encoded.

| encoding | in the file |
|---|---|
| uuid | text with hyphens |
| time | ISO 8601, UTC, with Z; with microseconds if there are any |
| date | ISO 8601 |
| bool, int, float, text | as in JSON |
| decimal | text |
| json | its JSON text, as the database stores it |
| bytes | base64 |
| count_key | text; an id is written with hyphens, though triggers on SQLite write it without |
| secret | the stored token, encrypted under ENCRYPTION_KEYS |
| content_type, permission | `app.model`, `app.model.codename`: their ids differ between instances |
"""

import base64
import datetime as dt
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

import orjson
from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db.models import Field, ForeignKey, GeneratedField, Model

from contacts_project.kernel.crypto.fields import EncryptedTextField
from people.models import AccountCount

#: Models that are not in a backup, with the reason.
EXCLUDED_MODELS = {
    "contenttypes.ContentType": "made by migrations; rows refer to one by its name",
    "auth.Permission": "as content types",
    "sessions.Session": "a session key is a credential: browsers sign in again",
    "accounts.AccountSession": "as above",
    "accounts.RegistrationLock": "a row that is only locked, created on first use",
    "contacts_project.BudgetUse": "recent use of rate limits, which start anew",
    "people.GeocoderPace": "when the geocoder was last asked",
    "notifications.Heartbeat": "when a process was last seen",
    "django_celery_beat.SolarSchedule": "the schedule is made after migrating",
    "django_celery_beat.IntervalSchedule": "as above",
    "django_celery_beat.ClockedSchedule": "as above",
    "django_celery_beat.CrontabSchedule": "as above",
    "django_celery_beat.PeriodicTasks": "as above",
    "django_celery_beat.PeriodicTask": "as above",
}

#: How a column's values are encoded in the file, by the internal type of the Django field.
_FIELD_ENCODINGS = {
    "UUIDField": "uuid",
    "DateTimeField": "time",
    "DateField": "date",
    "BooleanField": "bool",
    "FloatField": "float",
    "DecimalField": "decimal",
    "BinaryField": "bytes",
    "JSONField": "json",
    "CharField": "text",
    "TextField": "text",
    "EmailField": "text",
    "URLField": "text",
    "SlugField": "text",
    "GenericIPAddressField": "text",
    **dict.fromkeys(("AutoField", "BigAutoField", "SmallAutoField"), "int"),
    **dict.fromkeys(("IntegerField", "BigIntegerField", "SmallIntegerField"), "int"),
    **dict.fromkeys(("PositiveIntegerField", "PositiveBigIntegerField", "PositiveSmallIntegerField"), "int"),
}
Converter = Callable[[Any], Any]
_BARE_UUID = re.compile(r"[0-9a-f]{32}")
_JSON_OPTIONS = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z
ENCODINGS = {*_FIELD_ENCODINGS.values(), "secret", "count_key", "content_type", "permission"}


@dataclass(frozen=True)
class Column:
    name: str
    encoding: str


@dataclass(frozen=True)
class BackupTable:
    name: str
    columns: tuple[Column, ...]


@cache
def data_models() -> tuple[type[Model], ...]:
    """Return the models whose rows are in a backup, each after those that its foreign keys refer to."""
    models = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model._meta.label not in EXCLUDED_MODELS
    ]
    targets = {
        model: {cast("type[Model]", field.related_model) for field in model._meta.concrete_fields if field.is_relation}
        & set(models) - {model}
        for model in models
    }
    try:
        return tuple(TopologicalSorter(targets).static_order())
    except CycleError as error:  # a test fails before anybody meets this
        raise RuntimeError(f"Tables point at each other in a circle: {error.args[1]}") from error


def data_tables() -> list[BackupTable]:
    """Return the tables of `data_models`, without generated columns, which a database does not let us write."""
    return [
        BackupTable(
            model._meta.db_table,
            tuple(
                Column(str(field.column), encoding_of(field))
                for field in model._meta.concrete_fields
                if not isinstance(field, GeneratedField)
            ),
        )
        for model in data_models()
    ]


def encoding_of(field: "Field[Any, Any]") -> str:
    """Raises KeyError for a field type that has no encoding yet."""
    if (field.model, field.name) == (AccountCount, "key"):
        return "count_key"
    # A foreign key is encoded like the primary key that it refers to.
    while isinstance(field, ForeignKey):
        if field.related_model is ContentType:
            return "content_type"
        if field.related_model is Permission:
            return "permission"
        field = field.target_field
    return "secret" if isinstance(field, EncryptedTextField) else _FIELD_ENCODINGS[field.get_internal_type()]


def serialize_row(row: tuple[object, ...], converters: list[tuple[int, Converter]]) -> bytes:
    """Return the row as a line of JSON; `converters` are the `export_converters` of its table."""
    values = list(row)
    for index, convert in converters:
        if values[index] is not None:
            values[index] = convert(values[index])
    return orjson.dumps(values, default=_encode_non_json_value, option=_JSON_OPTIONS) + b"\n"


def _encode_non_json_value(value: object) -> str:
    if isinstance(value, bytes | memoryview | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError


def export_converters(table: BackupTable, vendor: str) -> list[tuple[int, Converter]]:
    """Return index and converter of the columns whose driver values orjson would not encode as the file needs them."""
    by_encoding: dict[str, Converter] = {"decimal": str}
    if vendor == "sqlite":
        by_encoding |= {"uuid": _uuid_with_hyphens, "count_key": _count_key_with_hyphens}
    return _converters_by_index(table, by_encoding)


def import_converters(table: BackupTable, vendor: str) -> list[tuple[int, Converter]]:
    """Return index and converter of the columns whose values the driver does not take as they are in the file.

    The converters raise ValueError, TypeError or AttributeError for a value of another type.
    """
    by_encoding: dict[str, Converter] = {"bytes": base64.b64decode}
    if vendor == "sqlite":
        by_encoding |= {
            "uuid": lambda text: uuid.UUID(text).hex,
            "time": _format_sqlite_time,
            "count_key": _count_key_without_hyphens,
        }
    return _converters_by_index(table, by_encoding)


def _converters_by_index(table: BackupTable, by_encoding: dict[str, Converter]) -> list[tuple[int, Converter]]:
    encodings = ((index, column.encoding) for index, column in enumerate(table.columns))
    return [(index, by_encoding[encoding]) for index, encoding in encodings if encoding in by_encoding]


def _uuid_with_hyphens(text: str) -> str:
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _count_key_with_hyphens(text: str) -> str:
    return _uuid_with_hyphens(text) if _BARE_UUID.fullmatch(text) else text


def _count_key_without_hyphens(text: str) -> str:
    bare = text.replace("-", "")
    return bare if len(text) == 36 and _BARE_UUID.fullmatch(bare) else text


def _format_sqlite_time(text: str) -> str:
    # Exactly Django's format: SQLite compares times as text.
    return str(dt.datetime.fromisoformat(text).astimezone(dt.UTC).replace(tzinfo=None))
