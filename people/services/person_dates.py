"""Important dates of people: written one by one, and replaced as sets in a constant number of statements."""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import FieldError
from people.dates import schedule
from people.models import ImportantDate, Person
from people.services.plan_limits import check_plan

DATE_FIELDS = (
    "type",
    "title",
    "date",
    "year_unknown",
    "reminder_enabled",
    "reminder_type",
    "reminder_interval",
    "reminder_interval_unit",
    "reminder_lead_days",
    "extra_lead_days",
)
# A change of these moves the reminder; a new title alone must not send it again.
_MOVING = frozenset(DATE_FIELDS) - {"type", "title"}
_DATES = CompiledQuery(
    lambda owner_id, person_ids: ImportantDate.objects.owned_by(owner_id).active().filter(person__in=person_ids)
)


def replace_dates(
    *,
    owner: User,
    people: Collection[tuple[Person, list[dict[str, Any]]]],
    stored: Collection[UUID],
    clock: Callable[[], schedule.Calendar],
    now: dt.datetime,
) -> None:
    """Make the entries the dates of each person, inside the write of the people; those not listed go to the trash.

    An entry is the date with its `id`, else that of its type, else the one that says the same, else the only one left
    of its title. `stored` are the people that may have dates; `clock` is asked for where a reminder moves. A constant
    number of statements, however many. Raises FieldError with `importantDates.<index>.<field>`, PlanLimitError.
    """
    present: dict[UUID, dict[UUID, ImportantDate]] = defaultdict(dict)
    if known := [person.pk for person, _ in people if person.pk in stored]:
        for row in _DATES.instances(owner_id=owner.pk, person_ids=known):
            present[row.person_id][row.pk] = row
    pairs: list[tuple[ImportantDate, dict[str, Any]]] = []
    for person, entries in people:
        is_new = person.pk not in stored
        pairs += zip(_rows_for(person, present[person.pk], entries, is_new=is_new), entries, strict=True)
        _check_types(entries)
    kept = {row.pk for row, _ in pairs}
    if left := [key for rows in present.values() for key in rows if key not in kept]:
        ImportantDate.objects.owned_by(owner).filter(pk__in=left).update(
            deleted_at=now, updated_at=now, **schedule.NO_REMINDER
        )
    # Two dates may swap their types: those that change theirs give it up first.
    if moved := [row.pk for row, entry in pairs if row.type and row.type != entry.get("type")]:
        ImportantDate.objects.owned_by(owner).filter(pk__in=moved).update(type=None)
    reminding = [set_date(row, entry, clock, now) for row, entry in pairs]
    _save_dates(owner, [row for row, _ in pairs])
    # Counted once all are written: one that is switched off makes room for another.
    if any(reminding):
        check_plan(owner, "reminders", 0)


def _save_dates(owner: User, rows: Iterable[ImportantDate]) -> None:
    new: list[ImportantDate] = []
    old: list[ImportantDate] = []
    for row in rows:
        (new if row._state.adding else old).append(row)
    columns = [*DATE_FIELDS, *schedule.DATE_COLUMNS, "updated_at"]
    if new:
        ImportantDate.objects.bulk_create(new)
    if len(old) == 1:  # without the CASE that several need
        old[0].save(update_fields=columns)
    elif old:
        ImportantDate.objects.owned_by(owner).bulk_update(old, columns)


def _rows_for(
    person: Person, present: dict[UUID, ImportantDate], entries: list[dict[str, Any]], *, is_new: bool
) -> list[ImportantDate]:
    """For each entry the stored date that it is, or a new one; of a new person, with the id that the entry brings."""
    left = dict(present)
    for row in left.values():
        row.person = person  # with its owner: not to be read for each
    found: list[ImportantDate | None] = [None] * len(entries)
    for index, entry in enumerate(entries):
        if (key := entry.get("id")) is not None and is_new:
            found[index] = ImportantDate(id=key, owner_id=person.owner_id, person=person)
        elif key is not None:
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


def _check_types(entries: list[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.get("type") in seen:
            raise FieldError(f"importantDates.{index}.type", f"Only one date of type {entry['type']}.")
        if entry.get("type"):
            seen.add(entry["type"])


def set_date(
    row: ImportantDate, data: Mapping[str, Any], clock: Callable[[], schedule.Calendar], now: dt.datetime
) -> bool:
    """Set all that a date says, and its next reminder where that moves; returns whether it begins to remind."""
    was_reminding = not row._state.adding and row.reminder_enabled
    before = {field: getattr(row, field) for field in _MOVING}
    for field in DATE_FIELDS:
        setattr(row, field, data.get(field))
    row.extra_lead_days = row.extra_lead_days or []
    if row._state.adding or before != {field: getattr(row, field) for field in _MOVING}:
        schedule.plan_date(row, clock(), now)
    row.updated_at = now
    return row.reminder_enabled and not was_reminding
