"""When the reminders of rows are due: the bridge from stored settings to people.dates.recurrence.

A row holds its next reminder, no more; the scan sends it and moves the row on to the following one. Whatever changes
the row's settings plans anew, and whatever changes the account's clock replans all its rows. Nothing here saves.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID
from zoneinfo import ZoneInfo

from accounts.models import User
from accounts.vocabularies import LeapDayRule
from people import field_table
from people.dates.quiet_hours import QuietHours
from people.dates.recurrence import (
    Recurrence,
    Reminder,
    ReminderRule,
    contact_recurrence,
    fire_at,
    local_day,
    once_from,
)
from people.models import ImportantDate, Person
from people.vocabularies import DateType, ReminderKind, ReminderType, Unit


@dataclass(frozen=True, slots=True)
class Calendar:
    """The preferences of an account that say when its reminders fire."""

    zone: ZoneInfo
    hour: int = 9
    leap_day: LeapDayRule = LeapDayRule.FEB28
    lead_days: int = 0
    quiet: QuietHours | None = None

    def today(self, now: dt.datetime) -> dt.date:
        return local_day(now, self.zone)

    def instant(self, day: dt.date) -> dt.datetime | None:
        """The account's reminder hour of that day; None at the very end of the calendar."""
        try:
            return fire_at(day, self.zone, self.hour)
        except OverflowError:
            return None

    def sends_at(self, instant: dt.datetime) -> dt.datetime:
        """When what is due at `instant` is sent: then, or at the end of the quiet hours that it lies in."""
        return self.quiet.after(instant, self.zone) if self.quiet else instant


COLUMNS = ("time_zone", "reminder_hour", "leap_day_rule", "default_reminder_lead_days", "quiet_hours")


def calendar(zone: str, hour: int, leap_day: str, lead_days: int, quiet: Mapping[str, str] | None) -> Calendar:
    """The calendar of an account from its columns, in the order of COLUMNS."""
    hours = QuietHours(dt.time.fromisoformat(quiet["from"]), dt.time.fromisoformat(quiet["to"])) if quiet else None
    return Calendar(ZoneInfo(zone), hour, LeapDayRule(leap_day), lead_days, hours)


def calendar_of(owner: User | UUID) -> Calendar:
    """The account's calendar as it stands now; read it under the account's lock where rows are planned with it."""
    return calendar(*User.objects.values_list(*COLUMNS).get(pk=getattr(owner, "pk", owner)))


def calendar_in(owner: User) -> Calendar:
    """The account's calendar as its row said when it was read."""
    return calendar(*(getattr(owner, column) for column in COLUMNS))


def is_over(type_: str | None, deathday: dt.date | None) -> bool:
    """Whether nobody is reminded of a date any more: the birthday of a person who is dead."""
    return deathday is not None and type_ == DateType.BIRTHDAY


def date_rule(row: ImportantDate, clock: Calendar) -> ReminderRule | None:
    """The reminders of an important date; None while they are switched off.

    A date without a year whose reminder comes once means the occurrence it is waiting for.
    """
    if not row.reminder_enabled:
        return None
    lead = clock.lead_days if row.reminder_lead_days is None else row.reminder_lead_days
    leads = tuple({lead, *row.extra_lead_days})
    if row.reminder_type != ReminderType.ONCE:
        unit = Unit(row.reminder_interval_unit or Unit.YEARS)
        return ReminderRule(Recurrence(row.date, unit, row.reminder_interval or 1, clock.leap_day), leads)
    if row.year_unknown and row.next_occurrence_on:
        # From the start of that year: another leap day rule may put the day before the stored one.
        start = row.next_occurrence_on.replace(month=1, day=1)
        return ReminderRule(once_from(row.date, start, clock.leap_day), leads)
    return ReminderRule(Recurrence(row.date, None, 1, clock.leap_day), leads)


def is_occurrence(row: ImportantDate, day: dt.date, clock: Calendar) -> bool:
    """Whether the date's reminder is on, and comes round on that day, sent or not."""
    rule = date_rule(row, clock)
    if rule is None:
        return False
    recurrence = rule.recurrence
    if row.year_unknown and row.reminder_type == ReminderType.ONCE:
        # Once it was sent nothing says any more of which year it was.
        recurrence = once_from(row.date, day.replace(month=1, day=1), clock.leap_day)
    return recurrence.on_or_after(day) == day


def plan_date(row: ImportantDate, clock: Calendar, now: dt.datetime) -> None:
    """Set the next reminder of a row whose settings were just written.

    What lies in the past is left alone, but for a notice whose lead window is open and for today's reminder: those
    are due at once.
    """
    today = clock.today(now)
    if row.reminder_enabled and row.reminder_type == ReminderType.ONCE and row.year_unknown:
        row.next_occurrence_on = once_from(row.date, today, clock.leap_day).anchor
    rule = date_rule(row, clock)
    _set_date(row, rule.first_from(today) if rule else None, clock, now)


def replan_date(row: ImportantDate, clock: Calendar, now: dt.datetime) -> None:
    """Set the next reminder anew after the account's clock changed; one that waits to be sent stays."""
    if row.next_due_at is not None and row.next_due_at > now:
        rule = date_rule(row, clock)
        _set_date(row, rule.first_from(clock.today(now)) if rule else None, clock, now)


def advance_date(row: ImportantDate, clock: Calendar, since: dt.date) -> None:
    """Set the reminder after the present one, leaving out what was due before `since`."""
    rule, present = date_rule(row, clock), reminder_of(row)
    following = rule.following(present) if rule and present else None
    if rule and (present is None or (following and following.day < since)):
        following = rule.scheduled_from(since)
    _set_date(row, following, clock, None)


def reset_date(row: ImportantDate, clock: Calendar, since: dt.date) -> None:
    """Set the row to its first reminder on `since` or later, past or not, as if that day were still ahead."""
    if row.reminder_type == ReminderType.ONCE and row.year_unknown:
        row.next_occurrence_on = once_from(row.date, since, clock.leap_day).anchor
    rule = date_rule(row, clock)
    _set_date(row, rule.scheduled_from(since) if rule else None, clock, None)


def reminder_of(row: ImportantDate) -> Reminder | None:
    """What the row is waiting to send."""
    if row.next_occurrence_on is None or not row.next_kind:
        return None
    day = row.next_occurrence_on - dt.timedelta(row.next_lead_days)
    return Reminder(row.next_occurrence_on, ReminderKind(row.next_kind), day)


def _set_date(row: ImportantDate, reminder: Reminder | None, clock: Calendar, earliest: dt.datetime | None) -> None:
    due = clock.instant(reminder.day) if reminder else None
    row.next_due_at = max(due, earliest) if due and earliest else due
    row.next_occurrence_on = reminder.occurrence if reminder and due else None
    row.next_kind = reminder.kind.value if reminder and due else ""
    row.next_lead_days = reminder.lead_days if reminder and due else 0


def contact_rule(person: Person, clock: Calendar) -> Recurrence | None:
    """The days on which to remind of getting in touch; None while that is switched off, and with the dead."""
    if not person.contact_reminder_enabled or person.deathday:
        return None
    contacted = person.last_contact or clock.today(person.created_at)
    unit = Unit(person.contact_reminder_interval_unit or Unit.MONTHS)
    return contact_recurrence(contacted, person.contact_reminder_interval or 1, unit, clock.leap_day)


def complete_contact(person: Person) -> None:
    """Give a contact reminder that is on the interval that it lacks."""
    if person.contact_reminder_enabled:
        for column, default in field_table.REMINDER_DEFAULTS.items():
            setattr(person, column, getattr(person, column) or default)


def plan_contact(person: Person, clock: Calendar, now: dt.datetime) -> None:
    """Set the next contact reminder of a person whose settings or last contact were just written."""
    rule = contact_rule(person, clock)
    _set_contact(person, rule.on_or_after(clock.today(now)) if rule else None, clock, now)


def replan_contact(person: Person, clock: Calendar, now: dt.datetime) -> None:
    """Set it anew after the account's clock changed; one that waits to be sent stays."""
    if person.contact_due_at is not None and person.contact_due_at > now:
        plan_contact(person, clock, now)


def advance_contact(person: Person, clock: Calendar, since: dt.date) -> None:
    """Set the contact reminder after the present one, leaving out what was due before `since`."""
    rule, present = contact_rule(person, clock), person.contact_due_on
    following = rule.after(max(present, since - dt.timedelta(1))) if rule and present else None
    _set_contact(person, following, clock, None)


def reset_contact(person: Person, clock: Calendar, since: dt.date) -> None:
    """Set the person to the first contact reminder on `since` or later, past or not."""
    rule = contact_rule(person, clock)
    _set_contact(person, rule.on_or_after(since) if rule else None, clock, None)


def _set_contact(person: Person, day: dt.date | None, clock: Calendar, earliest: dt.datetime | None) -> None:
    due = clock.instant(day) if day else None
    person.contact_due_at = max(due, earliest) if due and earliest else due
    person.contact_due_on = day if due else None


NO_REMINDER = {"next_due_at": None, "next_occurrence_on": None, "next_kind": "", "next_lead_days": 0}
"""What the columns of a date say that reminds of nothing."""
DATE_COLUMNS: tuple[str, ...] = tuple(NO_REMINDER)
CONTACT_COLUMNS: tuple[str, ...] = ("contact_due_at", "contact_due_on")
CONTACT_FIELDS: tuple[str, ...] = (
    *CONTACT_COLUMNS,
    "owner_id",
    "created_at",
    *(field.column for field in field_table.SCALARS if field.plans_contact),
)
"""What is read of a person to plan its contact reminder."""
