"""When a date comes round: calendar rules without a clock or a database.

An occurrence is counted from the date itself, never from the occurrence before it (RFC 5545 would call the
date DTSTART and skip what a month lacks; people want their 31st kept, so it moves to the month's last day).
Every answer costs a handful of steps however far the date lies back.
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
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def shift_months(anchor: date, months: int, leap_day: LeapDayRule) -> date | None:
    """`anchor` that many months on; None past the year 9999."""
    index = anchor.year * 12 + anchor.month - 1 + months
    if index > _LAST_MONTH:
        return None
    year, month = index // 12, index % 12 + 1
    length = 29 if month == 2 and is_leap(year) else _LENGTHS[month - 1]
    if anchor.day <= length:
        return date(year, month, anchor.day)
    if leap_day is LeapDayRule.MAR1 and anchor.month == 2 and month == 2:
        return date(year, 3, 1)
    return date(year, month, length)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The days `anchor + n * interval units` for n from `first` on; `unit` None means the anchor alone."""

    anchor: date
    unit: Unit | None = Unit.YEARS
    interval: int = 1
    leap_day: LeapDayRule = LeapDayRule.FEB28
    first: int = 0

    def nth(self, n: int) -> date | None:
        """The n-th day, whether or not it counts as an occurrence; None past the year 9999."""
        if self.unit is None:
            return self.anchor if n == 0 else None
        if self.unit in _DAYS:
            days = n * self.interval * _DAYS[self.unit]
            return self.anchor + timedelta(days) if days <= (date.max - self.anchor).days else None
        return shift_months(self.anchor, n * self.interval * _MONTHS[self.unit], self.leap_day)

    def index_on_or_after(self, day: date) -> int | None:
        """The smallest n whose day is `day` or later; None where there is none."""
        n = max(self.first, self._guess(day))
        while (found := self.nth(n)) is not None and found < day:
            n += 1
        return n if found is not None else None

    def _guess(self, day: date) -> int:
        """An n at or one below the answer, so that the search takes two steps at most."""
        if self.unit is None or day <= self.anchor:
            return 0
        if self.unit in _DAYS:
            return (day - self.anchor).days // (self.interval * _DAYS[self.unit])
        months = (day.year - self.anchor.year) * 12 + day.month - self.anchor.month
        # One month less: 1 March may stand for the 29 February of the month before.
        return max(0, months - 1) // (self.interval * _MONTHS[self.unit])

    def on_or_after(self, day: date) -> date | None:
        n = self.index_on_or_after(day)
        return None if n is None else self.nth(n)

    def after(self, day: date) -> date | None:
        return None if day == date.max else self.on_or_after(day + timedelta(1))

    def before(self, day: date) -> date | None:
        """The last occurrence before `day`; None where the first is `day` or later."""
        n = max(self.first, self._guess(day))
        while n >= self.first and ((found := self.nth(n)) is None or found >= day):
            n -= 1
        if n < self.first:
            return None
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

    def lead_day(self, occurrence: date, lead_days: int) -> date | None:
        """The day of the advance notice; None where it would not lie after the previous occurrence."""
        if lead_days <= 0 or (occurrence - date.min).days < lead_days:
            return None
        day = occurrence - timedelta(lead_days)
        previous = self.before(occurrence)
        return day if previous is None or day > previous else None


def once_from(month_day: date, start: date, leap_day: LeapDayRule) -> Recurrence:
    """A single occurrence of a day without a year: the first one on `start` or later."""
    yearly = Recurrence(month_day, leap_day=leap_day)
    return Recurrence(yearly.on_or_after(start) or date.max, unit=None)


@dataclass(frozen=True, slots=True)
class Reminder:
    """One thing to send: for `occurrence`, on `day`."""

    occurrence: date
    kind: ReminderKind
    day: date

    @property
    def lead_days(self) -> int:
        """How many days before the occurrence; 0 for the day itself."""
        return (self.occurrence - self.day).days


@dataclass(frozen=True, slots=True)
class ReminderRule:
    """A recurrence with its advance notices, `leads` days before each; its reminders form one chain by their days."""

    recurrence: Recurrence
    leads: tuple[int, ...] = ()

    def first_from(self, day: date) -> Reminder | None:
        """Of the first occurrence on `day` or later, the last notice whose day has come, else what comes first.

        So a reminder switched on inside its lead window still gives notice, once.
        """
        occurrence = self.recurrence.on_or_after(day)
        if occurrence is None:
            return None
        reminders = self._of(occurrence)
        return next((reminder for reminder in reversed(reminders) if reminder.day <= day), reminders[0])

    def scheduled_from(self, day: date) -> Reminder | None:
        """The first reminder whose own day is `day` or later."""
        occurrence = self.recurrence.on_or_after(day)
        return None if occurrence is None else next(found for found in self._of(occurrence) if found.day >= day)

    def following(self, reminder: Reminder) -> Reminder | None:
        """The next in the chain."""
        if later := [found for found in self._of(reminder.occurrence) if found.day > reminder.day]:
            return later[0]
        occurrence = self.recurrence.after(reminder.occurrence)
        return None if occurrence is None else self._of(occurrence)[0]

    def between(self, start: date, end: date) -> Iterator[Reminder]:
        """The reminders whose own days lie from `start` to `end`, both included."""
        reminder = self.scheduled_from(start)
        while reminder is not None and reminder.day <= end:
            yield reminder
            reminder = self.following(reminder)

    def has(self, reminder: Reminder) -> bool:
        """Whether the reminder is still one of this rule's."""
        is_occurrence = self.recurrence.on_or_after(reminder.occurrence) == reminder.occurrence
        return is_occurrence and reminder in self._of(reminder.occurrence)

    def notice_days(self, occurrence: date) -> list[date]:
        """The days of its notices, without those that would not lie after the previous occurrence, in order."""
        days = (self.recurrence.lead_day(occurrence, lead) for lead in sorted(self.leads, reverse=True))
        return [day for day in days if day is not None]

    def _of(self, occurrence: date) -> list[Reminder]:
        notices = [Reminder(occurrence, ReminderKind.LEAD, day) for day in self.notice_days(occurrence)]
        return [*notices, Reminder(occurrence, ReminderKind.DAY, occurrence)]


def contact_recurrence(contacted: date, interval: int, unit: Unit, leap_day: LeapDayRule) -> Recurrence:
    """The days to get in touch again: an interval after the last contact, then each while overdue."""
    return Recurrence(contacted, unit, interval, leap_day, first=1)


def turns(anchor: date, occurrence: date, leap_day: LeapDayRule) -> int | None:
    """The full years reached on `occurrence`; None where it is no anniversary."""
    years = occurrence.year - anchor.year
    if years < 1:
        return None
    return years if shift_months(anchor, years * 12, leap_day) == occurrence else None


def fire_at(day: date, zone: ZoneInfo, hour: int, minute: int = 0) -> datetime:
    """The UTC instant at which clocks in `zone` first show `hour` o'clock (and `minute`) on `day`.

    Where they skip that time, or the whole day, it is the first instant after the gap; where they show it
    twice, the first time.
    """
    wall = datetime.combine(day, time(hour, minute))
    late = _to_utc(wall.replace(tzinfo=zone))
    if _wall(late, zone) == wall:
        return late
    # In a gap the reading with fold=1 lies before the change of clocks, the one with fold=0 after it.
    early = _to_utc(wall.replace(tzinfo=zone, fold=1))
    low, high = 0, int((late - early).total_seconds())
    while low < high:
        middle = (low + high) // 2
        if _wall(early + timedelta(seconds=middle), zone) >= wall:
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


def _wall(instant: datetime, zone: ZoneInfo) -> datetime:
    return instant.astimezone(zone).replace(tzinfo=None)
