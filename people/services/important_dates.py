"""Writes of important dates: their rules, their place in the trash, their next reminder."""

import datetime as dt
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.http import Http404

from contacts_project.kernel.api.errors import FieldError, NotDeletedError
from contacts_project.kernel.ownership.models import retention_cutoff
from contacts_project.kernel.ownership.writing import account_write
from people import schedule
from people.models import ImportantDate, Person
from people.services.plan import check_plan
from people.signals import people_changed

FIELDS = (
    "type",
    "title",
    "date",
    "year_unknown",
    "reminder_enabled",
    "reminder_type",
    "reminder_interval",
    "reminder_interval_unit",
    "reminder_lead_days",
)
# A change of these moves the reminder; a new title alone must not send it again.
_MOVING = frozenset(FIELDS) - {"type", "title"}


def create_date(*, person: Person, data: dict[str, Any], now: dt.datetime) -> ImportantDate:
    """Add a date to a person. Raises FieldError (a second one of its type), PlanLimitError."""
    with account_write(person.owner_id):
        row = _write(ImportantDate(owner_id=person.owner_id, person=person), data, now)
        _touch(person, now)
    return row


def update_date(*, row: ImportantDate, data: dict[str, Any], now: dt.datetime) -> ImportantDate:
    """Replace everything a date says. Raises as create_date does."""
    with account_write(row.owner_id):
        _refresh(row)
        _write(row, data, now)
        _touch(row.person, now)
    return row


def delete_date(*, row: ImportantDate, now: dt.datetime) -> None:
    """Move a date to the trash; it reminds of nothing there."""
    with account_write(row.owner_id):
        _trash([row], now)
        _touch(row.person, now)


def restore_date(*, row: ImportantDate, now: dt.datetime) -> ImportantDate:
    """Take a date out of the trash. Raises NotDeletedError, FieldError, PlanLimitError."""
    with account_write(row.owner_id):
        _refresh(row)
        if row.deleted_at is None:
            raise NotDeletedError
        _check_type_once(row)
        if row.reminder_enabled:
            check_plan(row.owner, "reminders")
        row.deleted_at = None
        schedule.plan_date(row, schedule.calendar_of(row.owner_id), now)
        row.save()
        _touch(row.person, now)
    return row


def remove_dates(owner_id: UUID, ids: Collection[UUID]) -> list[str]:
    """Remove dates for good, for the purge; no files hang on them."""
    ImportantDate.objects.owned_by(owner_id).filter(pk__in=ids).delete()
    return []


def remove_date(*, row: ImportantDate) -> None:
    """Remove a deleted date for good. Raises NotDeletedError."""
    with account_write(row.owner_id):
        _refresh(row)
        if row.deleted_at is None:
            raise NotDeletedError
        row.delete()


def replace_dates(*, person: Person, entries: list[dict[str, Any]], now: dt.datetime) -> None:
    """Make the entries the person's dates: those with the `id` of one of its dates keep it, the rest go to the trash.

    Raises FieldError with `importantDates.<index>.<field>`, PlanLimitError. The caller touches the person.
    """
    with account_write(person.owner_id):
        present = {row.pk: row for row in _of(person).active()}
        rows = [_row_for(person, present, entry, index) for index, entry in enumerate(entries)]
        _check_types(entries)
        _trash(present.values(), now)
        # Two dates may swap their types, and one that is switched off makes room for another.
        _of(person).filter(pk__in=[row.pk for row in rows]).update(type=None)
        for row, entry in sorted(zip(rows, entries, strict=True), key=lambda pair: pair[1]["reminder_enabled"]):
            _write(row, entry, now)


def restorable(person: Person, now: dt.datetime) -> Any:
    """Dates of the person, in the trash or not, that are still within reach."""
    return _of(person).exclude(deleted_at__lt=retention_cutoff(now))


def _of(person: Person) -> Any:
    return ImportantDate.objects.owned_by(person.owner_id).filter(person=person)


def _write(row: ImportantDate, data: dict[str, Any], now: dt.datetime) -> ImportantDate:
    was_reminding = not row._state.adding and row.reminder_enabled
    before = {field: getattr(row, field) for field in _MOVING}
    for field in FIELDS:
        setattr(row, field, data.get(field))
    _check_type_once(row)
    if row.reminder_enabled and not was_reminding:
        check_plan(row.owner, "reminders")
    if row._state.adding or before != {field: getattr(row, field) for field in _MOVING}:
        schedule.plan_date(row, schedule.calendar_of(row.owner_id), now)
    row.save()
    return row


def _refresh(row: ImportantDate) -> None:
    try:
        row.refresh_from_db()
    except ImportantDate.DoesNotExist:
        raise Http404 from None


def _check_type_once(row: ImportantDate) -> None:
    if row.type and _of(row.person).active().filter(type=row.type).exclude(pk=row.pk).exists():
        raise FieldError("type", f"This person already has a date of type {row.type}.")


def _check_types(entries: list[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.get("type") in seen:
            raise FieldError(f"importantDates.{index}.type", f"Only one date of type {entry['type']}.")
        if entry.get("type"):
            seen.add(entry["type"])


def _row_for(person: Person, present: dict[UUID, ImportantDate], entry: dict[str, Any], index: int) -> ImportantDate:
    key = entry.get("id")
    if key is None:
        return ImportantDate(owner_id=person.owner_id, person=person)
    if key not in present:
        raise FieldError(f"importantDates.{index}.id", "There is no such record.")
    return present.pop(key)


def _trash(rows: Iterable[ImportantDate], now: dt.datetime) -> None:
    for row in rows:
        row.deleted_at = now
        row.next_due_at, row.next_occurrence_on, row.next_kind = None, None, ""
        row.save()


def _touch(person: Person, now: dt.datetime) -> None:
    """The person's content changed: its own revision rises, and the apps above hear of it."""
    rows = Person.objects.owned_by(person.owner_id).filter(pk=person.pk)
    rows.update(revision=F("revision") + 1, updated_at=now)
    news = partial(people_changed.send, sender=Person, owner_id=person.owner_id, person_ids=[person.pk])
    transaction.on_commit(news, robust=True)
