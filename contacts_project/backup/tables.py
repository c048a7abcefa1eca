"""Which tables are data, in an order in which their rows can be written, and what their columns hold."""

from collections.abc import Iterable
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

#: Not in a backup, and why.
REBUILT = {
    "contenttypes.ContentType": "made by migrations; rows that name one carry its name",
    "auth.Permission": "as content types",
    "sessions.Session": "who has a session key is signed in: browsers sign in again",
    "accounts.AccountSession": "as above",
    "accounts.RegistrationLock": "a row to lock, made by a migration",
    "contacts_project.BudgetUse": "what was used of a limit lately: limits start anew",
    "people.GeocoderPace": "when the geocoder was last asked",
    "notifications.Heartbeat": "when a process was last seen",
    "django_celery_beat.SolarSchedule": "the schedule is made by migrations",
    "django_celery_beat.IntervalSchedule": "as above",
    "django_celery_beat.ClockedSchedule": "as above",
    "django_celery_beat.CrontabSchedule": "as above",
    "django_celery_beat.PeriodicTasks": "as above",
    "django_celery_beat.PeriodicTask": "as above",
}

#: The form of a column's values in the file, by Django's name of the field's type.
_FORMS = {
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
FORMS = {*_FORMS.values(), "secret", "count_key", "content_type", "permission"}


@dataclass(frozen=True)
class Column:
    """`form` says how its values stand in the file: see contacts_project.backup.values."""

    name: str
    form: str


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[Column, ...]


def data_models() -> list[type[Model]]:
    """The models whose rows are in a backup, each behind those that it points to."""
    return list(_data_models())


@cache
def _data_models() -> tuple[type[Model], ...]:
    models = [model for model in apps.get_models(include_auto_created=True) if _is_data(model)]
    names = {model: set(_targets(model)) & set(models) - {model} for model in models}
    try:
        return tuple(TopologicalSorter(names).static_order())
    except CycleError as error:  # a test fails before anybody meets this
        raise RuntimeError(f"Tables point at each other in a circle: {error.args[1]}") from error


def data_tables() -> list[Table]:
    return [Table(model._meta.db_table, tuple(_columns(model))) for model in data_models()]


def _is_data(model: type[Model]) -> bool:
    meta = model._meta
    return meta.managed and not meta.proxy and meta.label not in REBUILT


def _targets(model: type[Model]) -> Iterable[type[Model]]:
    for field in model._meta.concrete_fields:
        if field.is_relation:
            yield cast("type[Model]", field.related_model)


def _columns(model: type[Model]) -> Iterable[Column]:
    for field in model._meta.concrete_fields:
        if not isinstance(field, GeneratedField):
            yield Column(str(field.column), form_of(field))


def form_of(field: "Field[Any, Any]") -> str:
    """Raises LookupError for a kind of column that has no form yet."""
    if (field.model, field.name) == (AccountCount, "key"):
        return "count_key"
    while isinstance(field, ForeignKey):
        if field.related_model is ContentType:
            return "content_type"
        if field.related_model is Permission:
            return "permission"
        field = field.target_field
    return "secret" if isinstance(field, EncryptedTextField) else _FORMS[field.get_internal_type()]
