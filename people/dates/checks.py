"""Checks that the stored next reminder of a row follows from its settings."""

import datetime as dt

from people.dates import schedule
from people.models import ImportantDate, Person

# After a move to another time zone, reminders of days that are still ahead there may have been sent already.
_SENT_AHEAD = dt.timedelta(days=2)


def has_right_reminder(row: ImportantDate, calendar: schedule.Calendar, now: dt.datetime) -> bool:
    """Whether the next reminder of an important date is right. An overdue one is: it waits for the next scan."""
    rule = schedule.date_rule(row, calendar)
    if rule is None:
        return row.next_due_at is None
    coming = rule.scheduled_from(calendar.today(now) + _SENT_AHEAD)
    if row.next_due_at is None:
        return coming is None or calendar.reminder_time(coming.day) is None
    reminder = schedule.pending_reminder(row)
    if reminder is None or not rule.has(reminder) or (coming and coming.day < reminder.day):
        return False
    return _is_scheduled_at(row.next_due_at, calendar.reminder_time(reminder.day), now)


def has_right_contact(person: Person, calendar: schedule.Calendar, now: dt.datetime) -> bool:
    """Whether the next contact reminder of a person is right."""
    rule = schedule.contact_rule(person, calendar)
    if rule is None:
        return person.contact_due_at is None
    coming = rule.on_or_after(calendar.today(now) + _SENT_AHEAD)
    if person.contact_due_at is None:
        return coming is None or calendar.reminder_time(coming) is None
    day = person.contact_due_on
    if day is None or rule.on_or_after(day) != day or (coming and coming < day):
        return False
    return _is_scheduled_at(person.contact_due_at, calendar.reminder_time(day), now)


def _is_scheduled_at(due_at: dt.datetime, instant: dt.datetime | None, now: dt.datetime) -> bool:
    """Whether `due_at` is the instant, or in the past after it: a reminder may be scheduled after its instant."""
    return instant is not None and (due_at == instant or instant < due_at <= now)
