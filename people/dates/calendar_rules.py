"""RFC 5545 rules for recurrences; they give the same days as people.dates.recurrence."""

import datetime as dt

from accounts.vocabularies import LeapDayRule
from people.dates.recurrence import Recurrence
from people.vocabularies import Unit

# DTSTART of dates without a year is on or after this day. 2000 is a leap year, so 29 February exists.
_START_WITHOUT_YEAR = dt.date(2000, 1, 1)
# The one rule that RFC 5545 cannot express becomes a list of the days of so many years.
_LISTED_YEARS = 10
_FREQUENCIES = {Unit.DAYS: "DAILY", Unit.WEEKS: "WEEKLY", Unit.MONTHS: "MONTHLY", Unit.YEARS: "YEARLY"}


def first_day(rule: Recurrence, *, year_unknown: bool) -> dt.date:
    """DTSTART: the date itself, or for a date without a year its first occurrence since 2000."""
    if not year_unknown or rule.unit is None:
        return rule.anchor
    return rule.on_or_after(_START_WITHOUT_YEAR) or rule.anchor


def rule_lines(rule: Recurrence, start: dt.date, today: dt.date) -> list[str]:
    """RRULE or RDATE of the occurrences; empty for a date that occurs once."""
    if rule.unit is None:
        return []
    unit, interval = rule.unit, rule.interval
    if unit is Unit.MONTHS and interval % 12 == 0:
        unit, interval = Unit.YEARS, interval // 12
    parts = [f"FREQ={_FREQUENCIES[unit]}", *([f"INTERVAL={interval}"] if interval > 1 else [])]
    day, is_leap_day = rule.anchor.day, (rule.anchor.month, rule.anchor.day) == (2, 29)
    if unit is Unit.YEARS and is_leap_day:
        # Day 60 of the year is 29 February in a leap year, else 1 March. BYMONTHDAY=-1 is the last day of February.
        parts.append("BYYEARDAY=60" if rule.leap_day is LeapDayRule.MAR1 else "BYMONTH=2;BYMONTHDAY=-1")
    elif unit is Unit.MONTHS and is_leap_day and rule.leap_day is LeapDayRule.MAR1:
        return _list_days(rule, today)
    elif unit is Unit.MONTHS and day > 28:
        parts.append(f"BYMONTHDAY={','.join(map(str, range(28, day + 1)))};BYSETPOS=-1")
    return [f"RRULE:{';'.join(parts)}"]


def _list_days(rule: Recurrence, today: dt.date) -> list[str]:
    """RDATE of a 29 February that recurs every few months and falls on 1 March in a February without that day."""
    end = today.replace(year=min(today.year + _LISTED_YEARS, 9999), day=1)
    days = rule.between(today - dt.timedelta(366), end)
    listed = ",".join(f"{day:%Y%m%d}" for day in days)
    return [f"RDATE;VALUE=DATE:{listed}"] if listed else []  # a property without a value breaks the calendar
