"""Creates a row in every owned table.

The values are derived from the fields of the models, so a new table needs no change here.
"""

import datetime as dt
import itertools
from typing import Any

from django.apps import apps
from django.db import models
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.ownership.models import OwnedModel

_numbers = itertools.count(1)

# Columns that a check constraint ties to each other, so that their values cannot be derived one by one.
_CONSTRAINED_VALUES: dict[str, dict[str, Any]] = {
    "DeviceDeletion": {"group": None, "interaction": None},
    "ReminderAnswer": {"person": None, "state": "skipped"},
}


def owner_field(model: type[models.Model]) -> "models.ForeignKey[Any, Any] | None":
    """The foreign key to the owner."""
    for field in model._meta.concrete_fields:
        if isinstance(field, models.ForeignKey) and field.related_model is User and field.name in {"owner", "user"}:
            return field
    return None


def account_models() -> list[type[models.Model]]:
    """The models of all tables whose rows belong to an account."""
    return [model for model in apps.get_models() if owner_field(model)]


def fill_account(owner: User) -> dict[type[models.Model], models.Model]:
    """Create a row in every owned table; returns the rows by model."""
    made: dict[type[models.Model], models.Model] = {}
    for model in account_models():
        fill(model, owner, made)
    return made


def fill(
    model: type[models.Model],
    owner: User,
    made: dict[type[models.Model], models.Model],
    under_way: tuple[Any, ...] = (),
) -> models.Model:
    """Create a row of `model`, unless `made` has one, and before it the rows that its foreign keys need.

    Nullable foreign keys are filled, too, unless they lead back to a model of `under_way`.
    """
    if model in made:
        return made[model]
    values: dict[str, Any] = {}
    for field in model._meta.concrete_fields:
        target: Any = field.related_model
        if not target and (
            isinstance(field, models.AutoField)
            or field.generated
            or field.has_default()
            or getattr(field, "auto_now", False)
        ):
            continue
        if target is User:
            values[field.name] = owner
        elif target is model and not field.null:
            values["id"] = values[field.attname] = new_id()  # its own inverse
        elif target and (not field.null or (issubclass(target, OwnedModel) and target not in {model, *under_way})):
            row = fill(target, owner, made, (*under_way, model))
            if row in values.values():  # the second foreign key to the same model: it gets another row
                others = {kind: known for kind, known in made.items() if kind is not target}
                row = fill(target, owner, others, (*under_way, model))
            values[field.name] = row
        elif not target and (not field.null or field.name == "photo"):
            values[field.name] = value_of(field)
    made[model] = model._base_manager.create(**values | _CONSTRAINED_VALUES.get(model.__name__, {}))
    return made[model]


def value_of(field: "models.Field[Any, Any]") -> Any:
    """Some valid value for the field; numbers and texts are unique."""
    number = next(_numbers)
    choices: Any = field.choices
    if choices:
        return choices[0][0]
    kinds: list[tuple[type[models.Field[Any, Any]], Any]] = [
        (models.BooleanField, False),
        (models.DateTimeField, timezone.now()),
        (models.DateField, dt.date(2020, 1, 1)),
        (models.UUIDField, new_id()),
        (models.IntegerField, number),
        (models.FloatField, 1.5),
        (models.BinaryField, b"x"),
        (models.JSONField, []),
        (models.CharField, f"v{number}"[: field.max_length]),
        (models.TextField, f"v{number}"),
    ]
    return next(value for kind, value in kinds if isinstance(field, kind))
