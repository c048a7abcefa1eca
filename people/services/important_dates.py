"""Writes of important dates: their rules, their place in the trash, their next reminder."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import FieldError, MissingError, NotDeletedError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.columns import update_columns
from people.dates import schedule
from people.models import ImportantDate, Person
from people.services.plan_limits import check_plan
from people.signals import announce_change

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
        row = ImportantDate(owner_id=person.owner_id, person=person)
        _check_type_once(row, data.get("type"))
        _write(row, data, schedule.calendar_of(person.owner_id), now)
        _touch(person, now)
    return row


def update_date(*, row: ImportantDate, data: dict[str, Any], now: dt.datetime) -> ImportantDate:
    """Replace everything a date says. Raises as create_date does."""
    with account_write(row.owner_id):
        _refresh(row)
        _check_type_once(row, data.get("type"))
        _write(row, data, schedule.calendar_of(row.owner_id), now)
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
        _check_type_once(row, row.type)
        if row.reminder_enabled:
            check_plan(row.owner, "reminders")
        row.deleted_at = None
        schedule.plan_date(row, schedule.calendar_of(row.owner_id), now)
        row.save()
        _touch(row.person, now)
    return row


def remove_dates(owner_id: UUID, ids: Collection[UUID]) -> list[str]:
    """Remove dates for good, for the purge; no files hang on them."""
    _remove_lines(owner_id, ids)
    ImportantDate.objects.owned_by(owner_id).filter(pk__in=ids).delete()
    return []


def remove_date(*, row: ImportantDate) -> None:
    """Remove a deleted date for good. Raises NotDeletedError."""
    with account_write(row.owner_id):
        _refresh(row)
        if row.deleted_at is None:
            raise NotDeletedError
        _remove_lines(row.owner_id, [row.pk])
        row.delete()


def _remove_lines(owner_id: UUID, ids: Collection[UUID]) -> None:
    """Drop the lines of these dates from the cards of their people."""
    gone = {str(key) for key in ids}
    rows = Person.objects.owned_by(owner_id).filter(important_dates__in=ids).exclude(card_lines=[]).distinct()
    people = list(rows.only("card_lines"))
    for person in people:
        person.card_lines = [line for line in person.card_lines if line.get("id") not in gone]
    update_columns(Person, people, ["card_lines"])


def replace_dates(
    *,
    owner: User,
    people: Collection[tuple[Person, list[dict[str, Any]]]],
    stored: Collection[UUID],
    clock: schedule.Calendar,
    now: dt.datetime,
) -> None:
    """Make the entries the dates of each person, inside the write of the people; those not listed go to the trash.

    An entry is the date with its `id`, else that of its type, else the one that says the same, else the only one left
    of its title. `stored` are the people that may have dates. Raises FieldError with `importantDates.<index>.<field>`,
    PlanLimitError. A constant number of statements, however many people and dates.
    """
    own = ImportantDate.objects.owned_by(owner)
    present: dict[UUID, dict[UUID, ImportantDate]] = defaultdict(dict)
    if known := [person.pk for person, _ in people if person.pk in stored]:
        for row in own.active().filter(person__in=known):
            present[row.person_id][row.pk] = row
    pairs: list[tuple[ImportantDate, dict[str, Any]]] = []
    for person, entries in people:
        pairs += zip(_rows_for(person, present[person.pk], entries), entries, strict=True)
        _check_types(entries)
    kept = {row.pk for row, _ in pairs}
    if left := [key for rows in present.values() for key in rows if key not in kept]:
        own.filter(pk__in=left).update(deleted_at=now, updated_at=now, **_NO_REMINDER)
    # Two dates may swap their types: those that change theirs give it up first.
    if moved := [row.pk for row, entry in pairs if row.type and row.type != entry.get("type")]:
        own.filter(pk__in=moved).update(type=None)
    reminding = [_set(row, entry, clock, now) for row, entry in pairs]
    new: list[ImportantDate] = []
    old: list[ImportantDate] = []
    for row, _ in pairs:
        (new if row._state.adding else old).append(row)
    if new:
        ImportantDate.objects.bulk_create(new)
    if old:
        own.bulk_update(old, [*FIELDS, *schedule.DATE_COLUMNS, "updated_at"])
    # Counted once all are written: one that is switched off makes room for another.
    if any(reminding):
        check_plan(owner, "reminders", 0)


def _of(person: Person) -> Any:
    return ImportantDate.objects.owned_by(person.owner_id).filter(person=person)


def _write(row: ImportantDate, data: dict[str, Any], clock: schedule.Calendar, now: dt.datetime) -> None:
    if _set(row, data, clock, now):
        check_plan(row.person.owner, "reminders")
    row.save()


def _set(row: ImportantDate, data: dict[str, Any], clock: schedule.Calendar, now: dt.datetime) -> bool:
    """Set all that a date says, and its next reminder where that moves; returns whether it begins to remind."""
    was_reminding = not row._state.adding and row.reminder_enabled
    before = {field: getattr(row, field) for field in _MOVING}
    for field in FIELDS:
        setattr(row, field, data.get(field))
    if row._state.adding or before != {field: getattr(row, field) for field in _MOVING}:
        schedule.plan_date(row, clock, now)
    row.updated_at = now
    return row.reminder_enabled and not was_reminding


def _refresh(row: ImportantDate) -> None:
    try:
        row.refresh_from_db()
    except ImportantDate.DoesNotExist:
        raise MissingError from None


def _check_type_once(row: ImportantDate, kind: str | None) -> None:
    if kind and _of(row.person).active().filter(type=kind).exclude(pk=row.pk).exists():
        raise FieldError("type", f"This person already has a date of type {kind}.")


def _check_types(entries: list[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.get("type") in seen:
            raise FieldError(f"importantDates.{index}.type", f"Only one date of type {entry['type']}.")
        if entry.get("type"):
            seen.add(entry["type"])


def _rows_for(person: Person, present: dict[UUID, ImportantDate], entries: list[dict[str, Any]]) -> list[ImportantDate]:
    """For each entry the stored date that it is, or a new one."""
    left = dict(present)
    for row in left.values():
        row.person = person  # with its owner: not to be read for each
    found: list[ImportantDate | None] = [None] * len(entries)
    for index, entry in enumerate(entries):
        if (key := entry.get("id")) is not None:
            if key not in left:
                raise FieldError(f"importantDates.{index}.id", "There is no such record.")
            found[index] = left.pop(key)
    for says in (_SAYS_ALL, _SAYS_WHAT):
        for index, entry in enumerate(entries):
            if found[index] is None:
                meant = [entry.get(name) for name in says]
                same = [key for key, row in left.items() if [getattr(row, name) for name in says] == meant]
                if len(same) == 1:
                    found[index] = left.pop(same[0])
    return [row or ImportantDate(owner_id=person.owner_id, person=person) for row in found]


# What makes an entry without an id the same date: all that it says, else its type (once a person) or its title.
_SAYS_ALL, _SAYS_WHAT = ("type", "title", "date"), ("type", "title")
_NO_REMINDER = {"next_due_at": None, "next_occurrence_on": None, "next_kind": ""}


def _trash(rows: Iterable[ImportantDate], now: dt.datetime) -> None:
    for row in rows:
        row.deleted_at = now
        row.next_due_at, row.next_occurrence_on, row.next_kind = None, None, ""
        row.save()


def _touch(person: Person, now: dt.datetime) -> None:
    """The person's content changed, and the apps above hear of it."""
    rows = Person.objects.owned_by(person.owner_id).filter(pk=person.pk)
    rows.update(updated_at=now)
    announce_change(person.owner_id, [person.pk])
