"""What comes up in an account's calendar: important dates, reminder or not, and people to get in touch with."""

import datetime as dt
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from accounts.models import User
from people import schedule
from people.models import ImportantDate, Person
from people.names import COLUMNS, NameParts, display_name
from people.recurrence import Recurrence, turns

IMPORTANT_DATE, CONTACT = "important_date", "contact"


def event_rule(row: ImportantDate, clock: schedule.Calendar) -> Recurrence:
    """The days on which an important date is an event.

    What people celebrate comes round every year, whatever its reminder does; a date of the owner's own follows its
    reminder's rule, and comes every year without one.
    """
    rule = schedule.date_rule(row, clock) if row.type is None else None
    return rule.recurrence if rule else Recurrence(row.date, leap_day=clock.leap_day)


def upcoming_events(owner: User, *, start: dt.date, days: int) -> list[dict[str, Any]]:
    """The events from `start` to `days` later, both included, as GET /api/upcoming lists them, each with its `type`.

    A repeating date has an event for each occurrence; (`id`, `date`) is unique. Of contacts only the next is one.
    """
    clock, end = schedule.calendar_of(owner), start + dt.timedelta(days)
    events = [*_date_events(owner, clock, start, end), *_contact_events(owner, clock, start, end)]
    events.sort(key=lambda event: (event["date"], event["personName"], event["id"]))
    return events


def name_of(person: Person, owner: User) -> str:
    """The person's name as the owner reads names."""
    parts = NameParts(*(getattr(person, column) for column in COLUMNS))
    return display_name(parts, order=owner.name_order, form=owner.name_display_format)


def _date_events(owner: User, clock: schedule.Calendar, start: dt.date, end: dt.date) -> Iterator[dict[str, Any]]:
    rows = ImportantDate.objects.owned_by(owner).active().filter(person__deleted_at=None).select_related("person")
    for row in rows.defer(*(f"person__{column}" for column in Person.DOCUMENTS), "person__notes"):
        for day in event_rule(row, clock).between(start, end):
            yield {
                **_event(row.pk, IMPORTANT_DATE, row.person, owner, day, start),
                "type": row.type,
                "title": row.title or row.type,
                "yearUnknown": row.year_unknown,
                "turns": None if row.year_unknown else turns(row.date, day, clock.leap_day),
            }


def _contact_events(owner: User, clock: schedule.Calendar, start: dt.date, end: dt.date) -> Iterator[dict[str, Any]]:
    for person in Person.objects.owned_by(owner).active().filter(contact_reminder_enabled=True):
        rule = schedule.contact_rule(person, clock)
        day = rule.on_or_after(start) if rule else None
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
