"""Invariants of all tables: the database file, owners, revisions, tombstones, secrets; and of the schedule."""

from collections.abc import Iterator
from typing import Any, cast

from django.apps import apps
from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, TextField
from django.db.models.functions import Cast
from django_celery_beat.models import PeriodicTask

from accounts.models import User
from contacts_project.beat import SCHEDULE
from contacts_project.kernel.crypto.fields import can_decrypt, encrypted_columns
from contacts_project.kernel.invariants import invariant, iterate_ids
from contacts_project.kernel.ownership.models import FeedModel, Tombstone
from contacts_project.kernel.ownership.triggers import owned_foreign_keys


def feed_models() -> Iterator[type[FeedModel]]:
    yield from (model for model in apps.get_models() if issubclass(model, FeedModel))


def _describe_rows(model: Any, rows: Any) -> Iterator[str]:
    yield from (f"{model._meta.label} {key}" for key in iterate_ids(rows))


@invariant("parts of the database file are damaged", hint="Stop the service and restore a backup.")
def find_damage() -> Iterator[object]:
    """SQLite's checks of its file and of its foreign keys, which it otherwise checks only in writes."""
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        yield from (text for (text,) in cursor.execute("PRAGMA integrity_check").fetchall() if text != "ok")
        for table, row, target, _ in cursor.execute("PRAGMA foreign_key_check"):
            yield f"row {row} of {table}, which references no row of {target}"


@invariant("rows reference a row of another account")
def find_foreign_rows() -> Iterator[object]:
    """The owner triggers prevent these."""
    for model, field, _ in owned_foreign_keys():
        rows = model._default_manager.filter(**{f"{field.name}__isnull": False})
        yield from _describe_rows(model, rows.exclude(**{f"{field.name}__owner": F("owner")}))


@invariant("rows have a revision below 1 or above that of their account")
def find_wrong_revisions() -> Iterator[object]:
    for model in feed_models():
        wrong = Q(revision__gt=F("owner__revision")) | Q(revision__lt=1)
        yield from _describe_rows(model, model._default_manager.filter(wrong))


@invariant("tombstones belong to no account, or have a revision above that of their account")
def find_wrong_tombstones() -> Iterator[object]:
    owner = User.objects.filter(pk=OuterRef("owner_id"), revision__gte=OuterRef("revision"))
    return iterate_ids(Tombstone.unscoped.rows().filter(~Exists(owner)))


@invariant("tombstones exist for rows that are not deleted")
def find_tombstones_of_existing_rows() -> Iterator[object]:
    """A row that an import restored has at least the tombstone's revision: clients read it after the tombstone."""
    for model in feed_models():
        existing = model._default_manager.filter(pk=OuterRef("record_id"), revision__lt=OuterRef("revision"))
        yield from iterate_ids(Tombstone.unscoped.rows().filter(Exists(existing), kind=model.FEED_TYPE))


@invariant(
    "stored secrets cannot be decrypted with any key of ENCRYPTION_KEYS",
    hint="Append the key that was removed to ENCRYPTION_KEYS, and run manage.py rotate_encryption.",
)
def find_unreadable_secrets() -> Iterator[object]:
    for model in apps.get_models():
        columns = encrypted_columns(model)
        if not columns:
            continue
        # Read encrypted, by a cast: decrypting in the query would fail at the first bad value and hide all others.
        stored = [Cast(column, TextField()) for column in columns]
        rows = cast("Any", model._default_manager).order_by().values_list("pk", *stored)
        for key, *texts in rows.iterator(chunk_size=1000):
            if not all(can_decrypt(text) for text in texts if text is not None):
                yield f"{model._meta.label} {key}"


@invariant("periodic tasks are missing from the schedule", hint="`manage.py migrate` adds them.")
def find_missing_tasks() -> Iterator[object]:
    stored = set(PeriodicTask.objects.values_list("task", flat=True))
    yield from sorted(line.task for line in SCHEDULE if line.task not in stored)
