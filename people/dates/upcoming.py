"""Upcoming events of an account: important dates, with or without reminder, and contact reminders."""

import datetime as dt
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.counts import DAYS, counts_by_key
from people.dates import schedule
from people.dates.recurrence import Recurrence, full_years
from people.models import ImportantDate, Person
from people.names import COLUMNS
from people.vocabularies import Unit

IMPORTANT_DATE, CONTACT = "important_date", "contact"


def event_rule(row: ImportantDate, calendar: schedule.Calendar) -> Recurrence:
    """The days on which an important date is an event.

    Dates of a predefined type recur every year, whatever their reminder is. A date with a title follows the rule of its
    reminder, and recurs every year without a reminder.
    """
    rule = schedule.date_rule(row, calendar) if row.type is None else None
    return rule.recurrence if rule else Recurrence(row.date, leap_day=calendar.leap_day)


def upcoming_events(owner: User, *, start: dt.date, days: int, with_deceased: bool = True) -> list[dict[str, Any]]:
    """The events from `start` to `days` later, both included, as GET /api/upcoming returns them, each with its `type`.

    A recurring date has one event for each occurrence; (`id`, `date`) is unique. A person has only the next contact
    event. `with_deceased` includes birthdays of deceased people, without an age.
    """
    calendar, end = schedule.calendar_from_user(owner), start + dt.timedelta(days)
    events = [
        *important_events(owner, calendar, start, end, with_deceased=with_deceased),
        *_contact_events(owner, calendar, start, end),
    ]
    events.sort(key=lambda event: (event["date"], event["personName"], event["id"]))
    return events


def count_upcoming(owner: User, *, start: dt.date, days: int) -> int:
    """The number of events of upcoming_events, computed from stored counts for dates that recur every year."""
    calendar, end = schedule.calendar_from_user(owner), start + dt.timedelta(days)
    yearly = days_between(start, end)
    stored_counts = counts_by_key(owner.pk, DAYS, map(str, yearly))
    number = sum(count * _count_occurrences(int(key), calendar, start, end) for key, count in stored_counts.items())
    ahead = active_dates(owner).filter(_YEARLY, date__gt=start, month_day__in=yearly)
    for row in ahead:  # the first occurrence is in the future, so earlier ones must not count
        number += len(list(event_rule(row, calendar).between(start, end)))
        number -= _count_occurrences(row.month_day, calendar, start, end)
    own_rules = _candidates_between(active_dates(owner).filter(type=None, reminder_enabled=True), start, end)
    number += sum(len(list(event_rule(row, calendar).between(start, end))) for row in own_rules)
    return number + sum(1 for _ in _contact_events(owner, calendar, start, end))


# Dates that recur every year; the others follow the rule of their reminder (see event_rule).
_YEARLY = Q(type__isnull=False) | Q(reminder_enabled=False)
_LEAP_YEAR = 1604
# Dates whose reminder may be on any day of the year. All others occur on their month and day, except for leap days.
AT_INTERVALS: Final = Q(reminder_enabled=True, reminder_interval_unit__in=[Unit.DAYS, Unit.WEEKS, Unit.MONTHS])
# Only the name and deathday of a person, because loading whole rows takes two thirds of the time.
READ_OF_DATES: Final = (
    *(field.name for field in ImportantDate._meta.concrete_fields),
    *(f"person__{column}" for column in ("deathday", *COLUMNS)),
)
READ_OF_CONTACTS: Final = (*schedule.CONTACT_FIELDS, *COLUMNS)


def days_between(start: dt.date, end: dt.date) -> list[int]:
    """ImportantDate.month_day of each day between, and of 29 February, which may occur on another day."""
    # 366 days contain every day of the year.
    days = (start + dt.timedelta(n) for n in range(min((end - start).days, 366) + 1))
    return sorted({229, *(day.month * 100 + day.day for day in days)})


def _count_occurrences(month_day: int, calendar: schedule.Calendar, start: dt.date, end: dt.date) -> int:
    """How often a yearly date occurs between two days, by the account's leap day rule."""
    day = dt.date(_LEAP_YEAR, *divmod(month_day, 100))
    return len(list(Recurrence(day, leap_day=calendar.leap_day).between(start, end)))


def active_dates(owner: User) -> Any:
    """The active dates of active people."""
    return ImportantDate.objects.owned_by(owner).active().filter(person__deleted_at=None)


def _candidates_between(dates: Any, start: dt.date, end: dt.date) -> Iterator[ImportantDate]:
    """The dates that may have events between two days; a superset of those that have.

    `next_due_at` cannot restrict them: the reminder of an event that is still ahead may have been sent already.
    """
    on_a_day = Q(month_day__in=days_between(start, end))
    return chain(dates.filter(on_a_day), dates.filter(AT_INTERVALS, type=None).exclude(on_a_day))


def important_events(
    owner: User,
    calendar: schedule.Calendar,
    start: dt.date,
    end: dt.date,
    *,
    with_deceased: bool = True,
    dates: Any = None,
) -> Iterator[dict[str, Any]]:
    """The events of important dates (all active ones, unless `dates` restricts them), unordered."""
    rows = active_dates(owner) if dates is None else dates
    for row in _candidates_between(rows.select_related("person").only(*READ_OF_DATES), start, end):
        is_over = schedule.is_birthday_of_deceased(row.type, row.person.deathday)
        for day in event_rule(row, calendar).between(start, end) if with_deceased or not is_over else ():
            yield {
                **_build_event(row.pk, IMPORTANT_DATE, row.person, owner, day, start),
                "type": row.type,
                "title": row.title or row.type,
                "yearUnknown": row.year_unknown,
                "turns": None if row.year_unknown or is_over else full_years(row.date, day, calendar.leap_day),
            }


def waiting_contacts(owner: User, calendar: schedule.Calendar) -> Iterator[tuple[Person, Recurrence]]:
    """The people with a pending contact reminder, and its days."""
    for person in _WAITING.instances(owner_id=owner.pk):
        if rule := schedule.contact_rule(person, calendar):
            yield person, rule


_WAITING = CompiledQuery(
    lambda owner_id: (
        Person.objects.owned_by(owner_id)
        .active()
        .filter(contact_reminder_enabled=True, contact_due_on__isnull=False)
        .only(*READ_OF_CONTACTS)
    )
)


def _contact_events(owner: User, calendar: schedule.Calendar, start: dt.date, end: dt.date) -> Iterator[dict[str, Any]]:
    for person, rule in waiting_contacts(owner, calendar):
        day = rule.on_or_after(start)
        if day is not None and day <= end:
            yield {**_build_event(person.pk, CONTACT, person, owner, day, start), "type": None}


def _build_event(id_: UUID, kind: str, person: Person, owner: User, day: dt.date, start: dt.date) -> dict[str, Any]:
    return {
        "id": str(id_),
        "kind": kind,
        "personId": str(person.pk),
        "personName": person.display_name_for(owner),
        "title": None,
        "date": day.isoformat(),
        "daysUntil": (day - start).days,
        "yearUnknown": False,
        "turns": None,
    }
