"""Recurrence rules of dates and reminders: pure functions without a clock or a database.

An occurrence is computed from the date itself, never from the occurrence before it. In a month without the day (the
31st) it moves to the last day of the month, whereas RFC 5545 would skip it. Every function takes a few steps, however
long ago the date is.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import count
from zoneinfo import ZoneInfo

from accounts.vocabularies import LeapDayRule
from people.vocabularies import ReminderKind, Unit

_DAYS = {Unit.DAYS: 1, Unit.WEEKS: 7}
_MONTHS = {Unit.MONTHS: 1, Unit.YEARS: 12}
_LAST_MONTH = 9999 * 12 + 11
_MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def shift_months(anchor: date, months: int, leap_day: LeapDayRule) -> date | None:
    """`anchor` plus `months`; None after the year 9999."""
    index = anchor.year * 12 + anchor.month - 1 + months
    if index > _LAST_MONTH:
        return None
    year, month = index // 12, index % 12 + 1
    length = 29 if month == 2 and is_leap(year) else _MONTH_LENGTHS[month - 1]
    if anchor.day <= length:
        return date(year, month, anchor.day)
    if leap_day is LeapDayRule.MAR1 and anchor.month == 2 and month == 2:
        return date(year, 3, 1)
    return date(year, month, length)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The days `anchor + n * interval units` for n >= `first`; only the anchor if `unit` is None."""

    anchor: date
    unit: Unit | None = Unit.YEARS
    interval: int = 1
    leap_day: LeapDayRule = LeapDayRule.FEB28
    first: int = 0

    def nth(self, n: int) -> date | None:
        """The n-th day, also for n < `first`; None after the year 9999."""
        if self.unit is None:
            return self.anchor if n == 0 else None
        if self.unit in _DAYS:
            days = n * self.interval * _DAYS[self.unit]
            return self.anchor + timedelta(days) if days <= (date.max - self.anchor).days else None
        return shift_months(self.anchor, n * self.interval * _MONTHS[self.unit], self.leap_day)

    def index_on_or_after(self, day: date) -> int | None:
        """The smallest n whose day is `day` or later, or None."""
        n = max(self.first, self._lower_bound(day))
        while (found := self.nth(n)) is not None and found < day:
            n += 1
        return n if found is not None else None

    def _lower_bound(self, day: date) -> int:
        """The n of the first day on or after `day`, or the one below it, so that the search takes at most two steps."""
        if self.unit is None or day <= self.anchor:
            return 0
        if self.unit in _DAYS:
            return (day - self.anchor).days // (self.interval * _DAYS[self.unit])
        months = (day.year - self.anchor.year) * 12 + day.month - self.anchor.month
        # One month less, because 1 March may be the occurrence of 29 February, the month before.
        return max(0, months - 1) // (self.interval * _MONTHS[self.unit])

    def on_or_after(self, day: date) -> date | None:
        n = self.index_on_or_after(day)
        return None if n is None else self.nth(n)

    def after(self, day: date) -> date | None:
        return None if day == date.max else self.on_or_after(day + timedelta(1))

    def before(self, day: date) -> date | None:
        """The last occurrence before `day`, or None."""
        n = max(self.first, self._lower_bound(day))
        while n >= self.first and ((found := self.nth(n)) is None or found >= day):
            n -= 1
        if n < self.first:
            return None
        # The lower bound may be one too low.
        while (following := self.nth(n + 1)) is not None and following < day:
            n += 1
        return self.nth(n)

    def between(self, start: date, end: date) -> Iterator[date]:
        """The occurrences from `start` to `end`, both included, in order."""
        n = self.index_on_or_after(start)
        if n is None:
            return
        for i in count(n):
            day = self.nth(i)
            if day is None or day > end:
                return
            yield day

    def count_between(self, start: date, end: date) -> int:
        """The number of occurrences from `start` to `end`, both included, without computing each."""
        first = self.index_on_or_after(start)
        if first is None or end < start:
            return 0
        last = max(first, self._lower_bound(end))
        while (found := self.nth(last)) is not None and found <= end:  # the bound is a step or two too low
            last += 1
        return last - first

    def lead_day(self, occurrence: date, lead_days: int) -> date | None:
        """The day of the advance reminder; None if it is not after the previous occurrence."""
        if lead_days <= 0 or (occurrence - date.min).days < lead_days:
            return None
        day = occurrence - timedelta(lead_days)
        previous = self.before(occurrence)
        return day if previous is None or day > previous else None


def once_from(month_day: date, start: date, leap_day: LeapDayRule) -> Recurrence:
    """The single occurrence of a date without a year: the first one on or after `start`."""
    yearly = Recurrence(month_day, leap_day=leap_day)
    return Recurrence(yearly.on_or_after(start) or date.max, unit=None)


@dataclass(frozen=True, slots=True)
class Reminder:
    """One reminder of `occurrence`, to be sent on `day`."""

    occurrence: date
    kind: ReminderKind
    day: date

    @property
    def lead_days(self) -> int:
        """Days before the occurrence; 0 on the day itself."""
        return (self.occurrence - self.day).days


@dataclass(frozen=True, slots=True)
class ReminderRule:
    """A recurrence with advance reminders `leads` days before each occurrence; reminders are ordered by their days."""

    recurrence: Recurrence
    leads: tuple[int, ...] = ()

    def first_from(self, day: date) -> Reminder | None:
        """For the first occurrence on or after `day`: its last reminder on or before `day`, else its first one.

        So a reminder that is switched on after its lead day still sends one advance notice.
        """
        occurrence = self.recurrence.on_or_after(day)
        if occurrence is None:
            return None
        reminders = self._reminders_of(occurrence)
        return next((reminder for reminder in reversed(reminders) if reminder.day <= day), reminders[0])

    def scheduled_from(self, day: date) -> Reminder | None:
        """The first reminder to be sent on or after `day`."""
        occurrence = self.recurrence.on_or_after(day)
        if occurrence is None:
            return None
        return next(found for found in self._reminders_of(occurrence) if found.day >= day)

    def following(self, reminder: Reminder) -> Reminder | None:
        """The next reminder after this one, or None."""
        if later := [found for found in self._reminders_of(reminder.occurrence) if found.day > reminder.day]:
            return later[0]
        occurrence = self.recurrence.after(reminder.occurrence)
        return None if occurrence is None else self._reminders_of(occurrence)[0]

    def between(self, start: date, end: date) -> Iterator[Reminder]:
        """The reminders to be sent from `start` to `end`, both included."""
        reminder = self.scheduled_from(start)
        while reminder is not None and reminder.day <= end:
            yield reminder
            reminder = self.following(reminder)

    def has(self, reminder: Reminder) -> bool:
        """Whether the reminder belongs to this rule."""
        is_occurrence = self.recurrence.on_or_after(reminder.occurrence) == reminder.occurrence
        return is_occurrence and reminder in self._reminders_of(reminder.occurrence)

    def notice_days(self, occurrence: date) -> list[date]:
        """The days of its advance reminders in order, only those after the previous occurrence."""
        days = (self.recurrence.lead_day(occurrence, lead) for lead in sorted(self.leads, reverse=True))
        return [day for day in days if day is not None]

    def _reminders_of(self, occurrence: date) -> list[Reminder]:
        notices = [Reminder(occurrence, ReminderKind.LEAD, day) for day in self.notice_days(occurrence)]
        return [*notices, Reminder(occurrence, ReminderKind.DAY, occurrence)]


def contact_recurrence(contacted: date, interval: int, unit: Unit, leap_day: LeapDayRule) -> Recurrence:
    """The days of contact reminders: one interval after the last contact, then every interval while overdue."""
    # first=1, because the day of the last contact itself is no reminder.
    return Recurrence(contacted, unit, interval, leap_day, first=1)


def full_years(anchor: date, occurrence: date, leap_day: LeapDayRule) -> int | None:
    """The full years on `occurrence`, or None if that is not an anniversary."""
    years = occurrence.year - anchor.year
    if years < 1:
        return None
    return years if shift_months(anchor, years * 12, leap_day) == occurrence else None


def fire_at(day: date, zone: ZoneInfo, hour: int, minute: int = 0) -> datetime:
    """The UTC instant of `hour`:`minute` local time on `day` in `zone`.

    If a change of the clock skips that time, or the whole day, it is the first instant after the gap. If the time
    occurs twice, it is the first one.
    """
    wall = datetime.combine(day, time(hour, minute))
    late = _to_utc(wall.replace(tzinfo=zone))
    if _local_time(late, zone) == wall:
        return late
    # In a gap the instant with fold=1 is before the change of the clock, and the one with fold=0 after it (PEP 495).
    early = _to_utc(wall.replace(tzinfo=zone, fold=1))
    low, high = 0, int((late - early).total_seconds())
    while low < high:
        middle = (low + high) // 2
        if _local_time(early + timedelta(seconds=middle), zone) >= wall:
            high = middle
        else:
            low = middle + 1
    return early + timedelta(seconds=low)


def end_of_day(day: date, zone: ZoneInfo) -> datetime:
    """The first UTC instant after `day` in `zone`."""
    return fire_at(day + timedelta(1), zone, 0)


def local_day(instant: datetime, zone: ZoneInfo) -> date:
    return instant.astimezone(zone).date()


def _to_utc(aware: datetime) -> datetime:
    return aware.astimezone(UTC)


def _local_time(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None)
