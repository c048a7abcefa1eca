"""The tables that a backup contains, in an order in which they can be filled, and the encodings of their columns."""

from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

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
ENCODINGS = {*_FIELD_ENCODINGS.values(), "secret", "count_key", "content_type", "permission"}


@dataclass(frozen=True)
class Column:
    """The encodings are described in contacts_project.backup.values."""

    name: str
    encoding: str


@dataclass(frozen=True)
class Table:
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


def data_tables() -> list[Table]:
    """Return the tables of `data_models`, without generated columns, which a database does not let us write."""
    return [
        Table(
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
