"""Recurrences as RFC 5545 says them, so that a calendar finds the days that people.dates.recurrence does."""

import datetime as dt

from accounts.vocabularies import LeapDayRule
from people.dates.recurrence import Recurrence
from people.vocabularies import Unit

# From here on days without a year come round in calendars: a leap year, since one of them is 29 February.
_BEGINNING = dt.date(2000, 1, 1)
# Of the one rule that RFC 5545 cannot say, so many days are told one by one.
_LISTED_YEARS = 10
_FREQUENCIES = {Unit.DAYS: "DAILY", Unit.WEEKS: "WEEKLY", Unit.MONTHS: "MONTHLY", Unit.YEARS: "YEARLY"}


def first_day(rule: Recurrence, *, year_unknown: bool) -> dt.date:
    """DTSTART: the date itself, or an occurrence of one without a year."""
    if not year_unknown or rule.unit is None:
        return rule.anchor
    return rule.on_or_after(_BEGINNING) or rule.anchor


def rule_lines(rule: Recurrence, start: dt.date, today: dt.date) -> list[str]:
    """RRULE or RDATE for the occurrences from `start` on; nothing for a date that comes once."""
    if rule.unit is None:
        return []
    unit, interval = rule.unit, rule.interval
    if unit is Unit.MONTHS and interval % 12 == 0:
        unit, interval = Unit.YEARS, interval // 12
    parts = [f"FREQ={_FREQUENCIES[unit]}", *([f"INTERVAL={interval}"] if interval > 1 else [])]
    day, is_leap_day = rule.anchor.day, (rule.anchor.month, rule.anchor.day) == (2, 29)
    if unit is Unit.YEARS and is_leap_day:
        # The 60th day is 29 February, in a common year 1 March; the last one of February is the 29th or 28th.
        parts.append("BYYEARDAY=60" if rule.leap_day is LeapDayRule.MAR1 else "BYMONTH=2;BYMONTHDAY=-1")
    elif unit is Unit.MONTHS and is_leap_day and rule.leap_day is LeapDayRule.MAR1:
        return _listed(rule, today)
    elif unit is Unit.MONTHS and day > 28:
        parts.append(f"BYMONTHDAY={','.join(map(str, range(28, day + 1)))};BYSETPOS=-1")
    return [f"RRULE:{';'.join(parts)}"]


def _listed(rule: Recurrence, today: dt.date) -> list[str]:
    """Every so many months from a 29 February on, which in a common February is 1 March."""
    end = today.replace(year=min(today.year + _LISTED_YEARS, 9999), day=1)
    days = rule.between(today - dt.timedelta(366), end)
    listed = ",".join(f"{day:%Y%m%d}" for day in days)
    return [f"RDATE;VALUE=DATE:{listed}"] if listed else []  # a property without a value breaks the calendar
