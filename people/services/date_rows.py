"""The important dates of people, replaced as a set.

The number of statements is constant, however many people are written at once.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, query_by_ids
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.texts import define_text
from people.dates import schedule
from people.field_table import DATE_COLUMNS, DATE_KEYS
from people.models import ImportantDate, Person
from people.services.group_rules import longest_lead_days, takes_lead_days
from people.services.plan_limits import check_plan

ONE_DATE_OF_TYPE = define_text("one_date_of_type", "Only one date of type %(type)s.")
_EMPTY = {key.column: key.empty for key in DATE_KEYS}
_RESCHEDULING_COLUMNS = frozenset(key.column for key in DATE_KEYS if key.reschedules)


@query_by_ids
def _active_dates(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return ImportantDate.objects.owned_by(owner_id).active().filter(person__in=person_ids)


def replace_dates(
    *,
    owner: User,
    people: Collection[tuple[Person, list[JsonObject]]],
    stored: Collection[UUID],
    calendar: Callable[[], schedule.Calendar],
    now: dt.datetime,
) -> None:
    """Set the important dates of people; dates that are not listed go to the trash.

    `_match_dates` decides which stored date an entry updates. `stored` are the ids of those people that may have dates;
    `calendar` is called only if a reminder changes. Must be called inside `account_write`. Raises FieldError for
    `importantDates.<index>.<field>`, PlanLimitError.
    """
    present: dict[UUID, dict[UUID, ImportantDate]] = defaultdict(dict)
    if person_ids := [person.pk for person, _ in people if person.pk in stored]:
        for row in _active_dates.instances(owner_id=owner.pk, person_ids=person_ids):
            present[row.person_id][row.pk] = row
    pairs: list[tuple[ImportantDate, dict[str, Any]]] = []
    for person, entries in people:
        rows = _match_dates(person, present[person.pk], entries, is_new=person.pk not in stored)
        pairs += zip(rows, entries, strict=True)
        _check_types_differ(entries)
    pairs = _fill_lead_days(owner.pk, pairs)
    kept = {row.pk for row, _ in pairs}
    if removed := [key for rows_by_id in present.values() for key in rows_by_id if key not in kept]:
        dates = ImportantDate.objects.owned_by(owner).filter(pk__in=removed)
        dates.update(deleted_at=now, updated_at=now, **schedule.NO_REMINDER)
    # A type is unique per person, and two dates may swap theirs: clear the types that change before any is set.
    if retyped := [row.pk for row, entry in pairs if row.type and row.type != entry.get("type")]:
        ImportantDate.objects.owned_by(owner).filter(pk__in=retyped).update(type=None)
    changes = [set_date_fields(row, entry, calendar, now) for row, entry in pairs]
    _save_dates(owner, [row for row, _ in pairs])
    # Counted after all rows are written: a reminder that is switched off makes room for another one.
    if any(change.starts_reminding for change in changes):
        check_plan(owner, "reminders", 0)


def _fill_lead_days(
    owner_id: UUID, pairs: Sequence[tuple[ImportantDate, JsonObject]]
) -> list[tuple[ImportantDate, JsonObject]]:
    """Give new dates without lead days of their own those of the groups of their people."""
    open_people = {row.person_id for row, entry in pairs if row._state.adding and takes_lead_days(entry)}
    days = longest_lead_days(owner_id, open_people) if open_people else {}
    return [
        (row, {**entry, "reminder_lead_days": days[row.person_id]})
        if row._state.adding and row.person_id in days and takes_lead_days(entry)
        else (row, entry)
        for row, entry in pairs
    ]


def _save_dates(owner: User, rows: Iterable[ImportantDate]) -> None:
    new: list[ImportantDate] = []
    old: list[ImportantDate] = []
    for row in rows:
        (new if row._state.adding else old).append(row)
    columns = [*DATE_COLUMNS, *schedule.DATE_COLUMNS, "updated_at"]
    if new:
        ImportantDate.objects.bulk_create(new)
    if old:
        ImportantDate.objects.bulk_update(old, columns)


# Entries without an id are matched by the first of these that leaves one candidate.
_MATCH_ORDER = (("type", "title", "date"), ("type", "title"))


def _match_dates(
    person: Person, present: Mapping[UUID, ImportantDate], entries: list[JsonObject], *, is_new: bool
) -> list[ImportantDate]:
    """For each entry the stored date that it updates, or a new row.

    That is the date with its `id`; without one, the only unmatched date with the same type, title and day, else the
    only one with the same type and title. The dates of a new person take the ids of their entries.
    """
    unmatched = dict(present)
    for row in unmatched.values():
        row.person = person  # saves a query for each date that reads its person or the owner
    matched: list[ImportantDate | None] = [None] * len(entries)
    for index, entry in enumerate(entries):
        if (key := entry.get("id")) is None:
            continue
        if is_new:
            matched[index] = ImportantDate(id=key, owner_id=person.owner_id, person=person)
        elif key in unmatched:
            matched[index] = unmatched.pop(key)
        else:
            raise FieldError(f"importantDates.{index}.id", NO_SUCH_RECORD)
    for fields in _MATCH_ORDER:
        for index, entry in enumerate(entries):
            if matched[index] is None:
                entry_values = [entry.get(field) for field in fields]
                candidates = [
                    key for key, row in unmatched.items() if [getattr(row, field) for field in fields] == entry_values
                ]
                if len(candidates) == 1:
                    matched[index] = unmatched.pop(candidates[0])
    return [row or ImportantDate(owner_id=person.owner_id, person=person) for row in matched]


def _check_types_differ(entries: list[JsonObject]) -> None:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.get("type") in seen:
            raise FieldError(f"importantDates.{index}.type", ONE_DATE_OF_TYPE.format(type=entry["type"]))
        if entry.get("type"):
            seen.add(entry["type"])


class DateChange(NamedTuple):
    """What setting the fields of a date did to its reminders."""

    is_replanned: bool
    """Whether its next reminder was computed again."""
    starts_reminding: bool
    """Whether its reminder was switched on, which counts against the plan."""


def set_date_fields(
    row: ImportantDate, data: JsonMapping, calendar: Callable[[], schedule.Calendar], now: dt.datetime
) -> DateChange:
    """Set all fields of a date (missing ones are empty), and its next reminder if the change moves it."""
    was_reminding = not row._state.adding and row.reminder_enabled
    before = {field: getattr(row, field) for field in _RESCHEDULING_COLUMNS}
    for column, empty in _EMPTY.items():
        value = data.get(column)
        setattr(row, column, copy(empty) if value is None else value)
    is_replanned = row._state.adding or before != {field: getattr(row, field) for field in _RESCHEDULING_COLUMNS}
    if is_replanned:
        schedule.schedule_date(row, calendar(), now)
    row.updated_at = now
    return DateChange(is_replanned, starts_reminding=row.reminder_enabled and not was_reminding)
