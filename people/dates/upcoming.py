"""What comes up in an account's calendar: important dates, reminder or not, and people to get in touch with."""

import datetime as dt
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from people.counts import DAYS, counts_by_key
from people.dates import schedule
from people.dates.recurrence import Recurrence, turns
from people.models import ImportantDate, Person
from people.names import COLUMNS, NameParts, display_name
from people.vocabularies import Unit

IMPORTANT_DATE, CONTACT = "important_date", "contact"


def event_rule(row: ImportantDate, calendar: schedule.Calendar) -> Recurrence:
    """The days on which an important date is an event.

    What people celebrate comes round every year, whatever its reminder does; a date of the owner's own follows its
    reminder's rule, and comes every year without one.
    """
    rule = schedule.date_rule(row, calendar) if row.type is None else None
    return rule.recurrence if rule else Recurrence(row.date, leap_day=calendar.leap_day)


def upcoming_events(owner: User, *, start: dt.date, days: int, with_dead: bool = True) -> list[dict[str, Any]]:
    """The events from `start` to `days` later, both included, as GET /api/upcoming lists them, each with its `type`.

    A repeating date has an event for each occurrence; (`id`, `date`) is unique. Of contacts only the next is one.
    `with_dead`: birthdays of the dead are events, too; nobody turns an age then.
    """
    calendar, end = schedule.load_calendar(owner), start + dt.timedelta(days)
    events = [
        *important_events(owner, calendar, start, end, with_dead=with_dead),
        *_contact_events(owner, calendar, start, end),
    ]
    events.sort(key=lambda event: (event["date"], event["personName"], event["id"]))
    return events


def name_of(person: Person, owner: User) -> str:
    """The person's name as the owner reads names."""
    parts = NameParts(*(getattr(person, column) for column in COLUMNS))
    return display_name(parts, order=owner.name_order, form=owner.name_display_format)


def count_upcoming(owner: User, *, start: dt.date, days: int) -> int:
    """How many events upcoming_events would list, without reading those that come round every year."""
    calendar, end = schedule.load_calendar(owner), start + dt.timedelta(days)
    yearly = days_between(start, end)
    kept = counts_by_key(owner.pk, DAYS, map(str, yearly))
    number = sum(kept.get(str(key), 0) * _times(key, calendar, start, end) for key in yearly)
    ahead = active_dates(owner).filter(_YEARLY, date__gt=start, month_day__in=yearly)
    for row in ahead:  # a day that has yet to come for the first time
        number += len(list(event_rule(row, calendar).between(start, end))) - _times(row.month_day, calendar, start, end)
    own_rules = _may_come(active_dates(owner).filter(type=None, reminder_enabled=True), start, end)
    number += sum(len(list(event_rule(row, calendar).between(start, end))) for row in own_rules)
    return number + sum(1 for _ in _contact_events(owner, calendar, start, end))


# What comes round every year; the others follow the rule of their reminder (see event_rule).
_YEARLY = Q(type__isnull=False) | Q(reminder_enabled=False)
_LEAP_YEAR = 1604
# Whose reminder may come on any day of the year; with all others it is that of the date, leap days apart.
AT_INTERVALS: Final = Q(reminder_enabled=True, reminder_interval_unit__in=[Unit.DAYS, Unit.WEEKS, Unit.MONTHS])
# Of a person the name, and whether it lives: the whole row is two thirds of the time.
READ_OF_DATES: Final = (
    *(field.name for field in ImportantDate._meta.concrete_fields),
    *(f"person__{column}" for column in ("deathday", *COLUMNS)),
)
READ_OF_CONTACTS: Final = (*schedule.CONTACT_FIELDS, *COLUMNS)


def days_between(start: dt.date, end: dt.date) -> list[int]:
    """Month and day of each day between, as ImportantDate.month_day has them, and 29 February, which may be moved."""
    days = (start + dt.timedelta(n) for n in range(min((end - start).days, 366) + 1))
    return sorted({229, *(day.month * 100 + day.day for day in days)})


def _times(month_day: int, calendar: schedule.Calendar, start: dt.date, end: dt.date) -> int:
    """How often a day of the year comes between, leap days where the account puts them."""
    day = dt.date(_LEAP_YEAR, *divmod(month_day, 100))
    return len(list(Recurrence(day, leap_day=calendar.leap_day).between(start, end)))


def active_dates(owner: User) -> Any:
    """Those of active people."""
    return ImportantDate.objects.owned_by(owner).active().filter(person__deleted_at=None)


def _may_come(dates: Any, start: dt.date, end: dt.date) -> Iterator[ImportantDate]:
    """Of some dates all that are events between, and few others.

    The next reminder bounds nothing: that of an event which is still ahead may have been sent.
    """
    on_a_day = Q(month_day__in=days_between(start, end))
    return chain(dates.filter(on_a_day), dates.filter(AT_INTERVALS, type=None).exclude(on_a_day))


def important_events(
    owner: User, calendar: schedule.Calendar, start: dt.date, end: dt.date, *, with_dead: bool = True
) -> Iterator[dict[str, Any]]:
    """The events of important dates alone, in no order."""
    dates = active_dates(owner).select_related("person").only(*READ_OF_DATES)
    for row in _may_come(dates, start, end):
        is_over = schedule.is_birthday_of_dead(row.type, row.person.deathday)
        for day in event_rule(row, calendar).between(start, end) if with_dead or not is_over else ():
            yield {
                **_event(row.pk, IMPORTANT_DATE, row.person, owner, day, start),
                "type": row.type,
                "title": row.title or row.type,
                "yearUnknown": row.year_unknown,
                "turns": None if row.year_unknown or is_over else turns(row.date, day, calendar.leap_day),
            }


def waiting_contacts(owner: User, calendar: schedule.Calendar) -> Iterator[tuple[Person, Recurrence]]:
    """Everybody whom a reminder to get in touch waits for, with the days on which it comes."""
    waiting = (
        Person.objects.owned_by(owner).active().filter(contact_reminder_enabled=True, contact_due_on__isnull=False)
    )
    for person in waiting.only(*READ_OF_CONTACTS):
        if rule := schedule.contact_rule(person, calendar):
            yield person, rule


def _contact_events(owner: User, calendar: schedule.Calendar, start: dt.date, end: dt.date) -> Iterator[dict[str, Any]]:
    for person, rule in waiting_contacts(owner, calendar):
        day = rule.on_or_after(start)
        if day is not None and day <= end:
            yield {**_event(person.pk, CONTACT, person, owner, day, start), "type": None}


def _event(id_: UUID, kind: str, person: Person, owner: User, day: dt.date, start: dt.date) -> dict[str, Any]:
    return {
        "id": str(id_),
        "kind": kind,
        "personId": str(person.pk),
        "personName": name_of(person, owner),
        "title": None,
        "date": day.isoformat(),
        "daysUntil": (day - start).days,
        "yearUnknown": False,
        "turns": None,
    }
