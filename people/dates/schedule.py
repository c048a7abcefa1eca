"""Computes when the reminders of important dates and people are due: from stored settings, by the rules of
people.dates.recurrence.

A row stores its next reminder only; the due scan sends it and advances the row to the one after. A change of a row's
settings reschedules the row; a change of the account's calendar (time zone, hour, lead days ...) all its rows. The
functions here set attributes and do not save.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from accounts.models import User
from accounts.vocabularies import LeapDayRule
from people import field_table
from people.dates.recurrence import (
    Recurrence,
    Reminder,
    ReminderRule,
    contact_recurrence,
    fire_at,
    local_day,
    once_from,
)
from people.mentions import Topic, has_ended
from people.models import ImportantDate, Person
from people.vocabularies import ReminderKind, ReminderType, Unit


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From `start` to `end` in local time; past midnight if `end` is before `start`.

    Changes of the clock are handled as by `fire_at`: a skipped time is the first instant after the gap, a repeated time
    is the first one.
    """

    start: time
    end: time

    def after(self, instant: datetime, zone: ZoneInfo) -> datetime:
        """`instant`, or the end of the quiet hours if it is in them."""
        # A loop, because quiet hours can follow each other directly when a change of zone skips a whole day.
        while ends := [end for start, end in self._intervals_around(instant, zone) if start <= instant < end]:
            instant = max(ends)
        return instant

    def _intervals_around(self, instant: datetime, zone: ZoneInfo) -> Iterator[tuple[datetime, datetime]]:
        """The quiet hours that begin on the day of the instant and on the day before."""
        today, goes_on = local_day(instant, zone), timedelta(self.end < self.start)
        for day in (today - timedelta(1), today):
            yield (
                fire_at(day, zone, self.start.hour, self.start.minute),
                fire_at(day + goes_on, zone, self.end.hour, self.end.minute),
            )


@dataclass(frozen=True, slots=True)
class Calendar:
    """The preferences of an account that decide when its reminders fire."""

    zone: ZoneInfo
    hour: int = 9
    leap_day: LeapDayRule = LeapDayRule.FEB28
    lead_days: int = 0
    quiet_hours: QuietHours | None = None

    def today(self, now: dt.datetime) -> dt.date:
        return local_day(now, self.zone)

    def reminder_time(self, day: dt.date) -> dt.datetime | None:
        """The account's reminder hour on `day`, in UTC; None where that is outside the range of datetime."""
        try:
            return fire_at(day, self.zone, self.hour)
        except OverflowError:
            return None

    def sends_at(self, instant: dt.datetime) -> dt.datetime:
        """When a reminder due at `instant` is sent: at once, or at the end of the quiet hours around it."""
        return self.quiet_hours.after(instant, self.zone) if self.quiet_hours else instant


CALENDAR_COLUMNS = ("time_zone", "reminder_hour", "leap_day_rule", "default_reminder_lead_days", "quiet_hours")


def build_calendar(
    zone: str, hour: int, leap_day: str, lead_days: int, quiet_hours: Mapping[str, str] | None
) -> Calendar:
    """A calendar from the values of CALENDAR_COLUMNS, in their order."""
    hours = None
    if quiet_hours:
        hours = QuietHours(dt.time.fromisoformat(quiet_hours["from"]), dt.time.fromisoformat(quiet_hours["to"]))
    return Calendar(ZoneInfo(zone), hour, LeapDayRule(leap_day), lead_days, hours)


def load_calendar(owner: User | UUID) -> Calendar:
    """The account's calendar as the database has it now. To schedule rows, load it under the account's lock."""
    owner_id = owner.pk if isinstance(owner, User) else owner
    return build_calendar(*User.objects.values_list(*CALENDAR_COLUMNS).get(pk=owner_id))


def calendar_under_lock(owner: User, *, is_fresh: bool) -> Calendar:
    """The calendar to schedule rows with. `is_fresh`: nobody has written to the account since `owner` was read."""
    return calendar_from_user(owner) if is_fresh else load_calendar(owner)


def calendar_from_user(owner: User) -> Calendar:
    """The account's calendar as of when `owner` was read; no query."""
    return build_calendar(*(getattr(owner, column) for column in CALENDAR_COLUMNS))


def date_rule(row: ImportantDate, calendar: Calendar) -> ReminderRule | None:
    """The reminders of an important date; None while they are switched off.

    A date without a year whose reminder comes once has one occurrence: the one it is waiting for.
    """
    if not row.reminder_enabled:
        return None
    lead = calendar.lead_days if row.reminder_lead_days is None else row.reminder_lead_days
    leads = tuple({lead, *row.extra_lead_days})
    if row.reminder_type != ReminderType.ONCE:
        unit = Unit(row.reminder_interval_unit or Unit.YEARS)
        return ReminderRule(Recurrence(row.date, unit, row.reminder_interval or 1, calendar.leap_day), leads)
    if row.year_unknown and row.next_occurrence_on:  # also asked of rows of values, which have no properties
        # Search from 1 January: under a new leap day rule the occurrence may be the day before the stored one.
        start = row.next_occurrence_on.replace(month=1, day=1)
        return ReminderRule(once_from(row.date, start, calendar.leap_day), leads)
    return ReminderRule(Recurrence(row.date, None, 1, calendar.leap_day), leads)


def is_occurrence(row: ImportantDate, day: dt.date, calendar: Calendar) -> bool:
    """Whether the date has its reminder switched on and occurs on `day`, sent already or not."""
    rule = date_rule(row, calendar)
    if rule is None:
        return False
    recurrence = rule.recurrence
    if row.is_once_without_year:
        # After the reminder was sent no column has its year any more, so that of `day` is taken.
        recurrence = once_from(row.date, day.replace(month=1, day=1), calendar.leap_day)
    return recurrence.on_or_after(day) == day


def schedule_date(row: ImportantDate, calendar: Calendar, now: dt.datetime) -> None:
    """Set the next reminder of a row whose settings have just changed.

    Reminders in the past are skipped, except for an advance notice whose lead time has begun and for today's reminder:
    those are due now.
    """
    today = calendar.today(now)
    if row.reminder_enabled and row.is_once_without_year:
        row.next_occurrence_on = once_from(row.date, today, calendar.leap_day).anchor
    rule = date_rule(row, calendar)
    _store_date_reminder(row, rule.first_from(today) if rule else None, calendar, now)


def reschedule_date(row: ImportantDate, calendar: Calendar, now: dt.datetime) -> None:
    """Compute the next reminder again after the account's calendar changed; an overdue one is kept."""
    if row.next_due_at is not None and row.next_due_at > now:
        rule = date_rule(row, calendar)
        _store_date_reminder(row, rule.first_from(calendar.today(now)) if rule else None, calendar, now)


def advance_date(row: ImportantDate, calendar: Calendar, since: dt.date) -> None:
    """Set the reminder after the current one, skipping those due before `since`."""
    rule, current = date_rule(row, calendar), pending_reminder(row)
    following = rule.following(current) if rule and current else None
    if rule and (current is None or (following and following.day < since)):
        following = rule.scheduled_from(since)
    _store_date_reminder(row, following, calendar, None)


def reset_date(row: ImportantDate, calendar: Calendar, since: dt.date) -> None:
    """Set the first reminder on `since` or later, whether or not it is in the past."""
    if row.is_once_without_year:
        row.next_occurrence_on = once_from(row.date, since, calendar.leap_day).anchor
    rule = date_rule(row, calendar)
    _store_date_reminder(row, rule.scheduled_from(since) if rule else None, calendar, None)


def pending_reminder(row: ImportantDate) -> Reminder | None:
    """The reminder that the row will send next."""
    if row.next_occurrence_on is None or not row.next_kind:
        return None
    day = row.next_occurrence_on - dt.timedelta(row.next_lead_days)
    return Reminder(row.next_occurrence_on, ReminderKind(row.next_kind), day)


def _store_date_reminder(
    row: ImportantDate, reminder: Reminder | None, calendar: Calendar, earliest: dt.datetime | None
) -> None:
    due = calendar.reminder_time(reminder.day) if reminder else None
    row.next_due_at = max(due, earliest) if due and earliest else due
    row.next_occurrence_on = reminder.occurrence if reminder and due else None
    row.next_kind = reminder.kind.value if reminder and due else ""
    row.next_lead_days = reminder.lead_days if reminder and due else 0


def contact_rule(person: Person, calendar: Calendar) -> Recurrence | None:
    """The days of a person's contact reminders; None while they are switched off and for people who have died.

    Those of a quiet person go on, unsent, so that nothing has to be scheduled when it is quiet no longer.
    """
    if not person.contact_reminder_enabled or has_ended(Topic.CONTACT, person.deathday):
        return None
    contacted = person.last_contact or calendar.today(person.created_at)
    unit = Unit(person.contact_reminder_interval_unit or Unit.MONTHS)
    return contact_recurrence(contacted, person.contact_reminder_interval or 1, unit, calendar.leap_day)


def is_contact_occurrence(person: Person, day: dt.date, calendar: Calendar) -> bool:
    """Whether the contact reminder of the person, as it is now, occurs on `day`, sent already or not."""
    rule = contact_rule(person, calendar)
    return rule is not None and rule.on_or_after(day) == day


def fill_contact_defaults(person: Person) -> None:
    """Set the default interval of a contact reminder that is switched on without one."""
    if person.contact_reminder_enabled:
        for column, default in field_table.REMINDER_DEFAULTS.items():
            setattr(person, column, getattr(person, column) or default)


def schedule_contact(person: Person, calendar: Calendar, now: dt.datetime) -> None:
    """Set the next contact reminder of a person whose settings or last contact have just changed."""
    rule = contact_rule(person, calendar)
    _store_contact_reminder(person, rule.on_or_after(calendar.today(now)) if rule else None, calendar, now)


def reschedule_contact(person: Person, calendar: Calendar, now: dt.datetime) -> None:
    """Compute the next contact reminder again after the account's calendar changed; an overdue one is kept."""
    if person.contact_due_at is not None and person.contact_due_at > now:
        schedule_contact(person, calendar, now)


def advance_contact(person: Person, calendar: Calendar, since: dt.date) -> None:
    """Set the contact reminder after the current one, skipping those due before `since`."""
    rule, current = contact_rule(person, calendar), person.contact_due_on
    following = rule.after(max(current, since - dt.timedelta(1))) if rule and current else None
    _store_contact_reminder(person, following, calendar, None)


def reset_contact(person: Person, calendar: Calendar, since: dt.date) -> None:
    """Set the first contact reminder on `since` or later, whether or not it is in the past."""
    rule = contact_rule(person, calendar)
    _store_contact_reminder(person, rule.on_or_after(since) if rule else None, calendar, None)


def _store_contact_reminder(
    person: Person, day: dt.date | None, calendar: Calendar, earliest: dt.datetime | None
) -> None:
    due = calendar.reminder_time(day) if day else None
    person.contact_due_at = max(due, earliest) if due and earliest else due
    person.contact_due_on = day if due else None


NO_REMINDER = {"next_due_at": None, "next_occurrence_on": None, "next_kind": "", "next_lead_days": 0}
"""The reminder columns of a date that has no next reminder."""
DATE_COLUMNS: tuple[str, ...] = tuple(NO_REMINDER)
CONTACT_COLUMNS: tuple[str, ...] = ("contact_due_at", "contact_due_on")
CONTACT_FIELDS: tuple[str, ...] = (
    *CONTACT_COLUMNS,
    "owner_id",
    "created_at",
    *(field.column for field in field_table.SCALARS if field.schedules_contact),
)
"""The columns of a person that scheduling its contact reminder reads."""
