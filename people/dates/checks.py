"""Whether the reminder that a row waits for is one that its settings give, and none was left out."""

import datetime as dt

from people.dates import schedule
from people.models import ImportantDate, Person

# Whoever moves to another zone may have had the reminders of a day that is still ahead there.
_AHEAD = dt.timedelta(days=2)


def has_right_reminder(row: ImportantDate, calendar: schedule.Calendar, now: dt.datetime) -> bool:
    """Of an important date. A row that is overdue is right: it waits for the scan."""
    rule = schedule.date_rule(row, calendar)
    if rule is None:
        return row.next_due_at is None
    coming = rule.scheduled_from(calendar.today(now) + _AHEAD)
    if row.next_due_at is None:
        return coming is None or calendar.reminder_time(coming.day) is None
    reminder = schedule.pending_reminder(row)
    if reminder is None or not rule.has(reminder) or (coming and coming.day < reminder.day):
        return False
    return _is_at(row.next_due_at, calendar.reminder_time(reminder.day), now)


def has_right_contact(person: Person, calendar: schedule.Calendar, now: dt.datetime) -> bool:
    """Of the contact reminder of a person."""
    rule = schedule.contact_rule(person, calendar)
    if rule is None:
        return person.contact_due_at is None
    coming = rule.on_or_after(calendar.today(now) + _AHEAD)
    if person.contact_due_at is None:
        return coming is None or calendar.reminder_time(coming) is None
    day = person.contact_due_on
    if day is None or rule.on_or_after(day) != day or (coming and coming < day):
        return False
    return _is_at(person.contact_due_at, calendar.reminder_time(day), now)


def _is_at(due_at: dt.datetime, instant: dt.datetime | None, now: dt.datetime) -> bool:
    """At its instant; or later and past already, where it was planned when its instant had gone by."""
    return instant is not None and (due_at == instant or instant < due_at <= now)
