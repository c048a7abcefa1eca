"""The occurrences of a recurring event, by dateutil, bounded before they are expanded.

dateutil looks for the next occurrence until the year 9999: a rule by the second, or by the day with a filter that
nothing passes, would keep it busy for minutes. So it only steps here (by the day, week or month), and what RFC 5545
(section 3.3.10) calls limits of these steps is filtered in this module, where each step is counted. Its end is never
far: it is given days a multiple of 400 years later, when the calendar is the same again.
"""

import datetime as dt
import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dateutil import rrule

MAX_PER_YEAR = 366
"""How many occurrences of a series count in a calendar year: the latest."""
_MAX_STEPS_OF_RULE = 100_000
# How far before the end of a year a rule by the minute or second is followed.
_MAX_DENSE_STEPS = 20_000
_MAX_INTERVAL = 10_000
_MAX_LIST = 400
_FREQUENCIES = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY")
_CODES: dict[str, Any] = dict(zip(_FREQUENCIES, range(7), strict=True))  # those of dateutil, in its order
_STEPS = {
    "WEEKLY": dt.timedelta(weeks=1),
    "DAILY": dt.timedelta(days=1),
    "HOURLY": dt.timedelta(hours=1),
    "MINUTELY": dt.timedelta(minutes=1),
    "SECONDLY": dt.timedelta(seconds=1),
}
# Periods of a year in which nothing may be found, though they are looked through.
_SPARSE = {"YEARLY": 1, "MONTHLY": 12}
_CYCLE = 400  # years after which the Gregorian calendar repeats, weekdays included
_DENSE = frozenset({"MINUTELY", "SECONDLY"})
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
# Name, the word of dateutil, lowest and highest value; 0 is none of those that may be negative.
_LISTS = {
    "BYSECOND": ("bysecond", 0, 59),
    "BYMINUTE": ("byminute", 0, 59),
    "BYHOUR": ("byhour", 0, 23),
    "BYMONTHDAY": ("bymonthday", -31, 31),
    "BYYEARDAY": ("byyearday", -366, 366),
    "BYWEEKNO": ("byweekno", -53, 53),
    "BYMONTH": ("bymonth", 1, 12),
    "BYSETPOS": ("bysetpos", -366, 366),
}
_TIMES = ("BYHOUR", "BYMINUTE", "BYSECOND")


class RuleError(ValueError):
    """The rule is not one of RFC 5545, or says more than a calendar can mean."""


class Budget:
    """How many steps one file may cost in all."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Count steps. Raises BudgetSpentError."""
        self.left -= steps
        if self.left < 0:
            raise BudgetSpentError


class BudgetSpentError(Exception):
    """The rules of a file ask for more than a file may cost."""


@dataclass(frozen=True, slots=True)
class Rule:
    """An RRULE. `until` is its text: it is an instant or local time, as DTSTART is. `weekdays` are (day, nth or 0)."""

    frequency: str
    interval: int
    count: int | None
    until: str
    lists: dict[str, tuple[int, ...]]
    weekdays: tuple[tuple[int, int], ...]
    week_start: int

    @property
    def filters(self) -> frozenset[str]:
        """The parts that only limit the steps of this frequency."""
        level = _CODES[self.frequency]
        names = {"BYMONTH"} if level >= 1 and "BYSETPOS" not in self.lists else set()
        if level >= _CODES["DAILY"]:
            names |= {"BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYDAY"}
        names |= set(_TIMES[: max(0, level - _CODES["DAILY"])])
        return frozenset(names)


def parse_rule(text: str) -> Rule:
    """Read an RRULE's value. Raises RuleError."""
    parts: dict[str, str] = {}
    for part in text.strip().rstrip(";").split(";"):
        name, equals, value = part.partition("=")
        name = name.strip().upper()
        if not equals or name in parts:
            raise RuleError(name)
        parts[name] = value.strip().upper()
    frequency = parts.pop("FREQ", "")
    if frequency not in _CODES or ("COUNT" in parts and "UNTIL" in parts):
        raise RuleError(frequency)
    interval = _integer(parts.pop("INTERVAL", "1"), 1, _MAX_INTERVAL)
    count = _integer(parts.pop("COUNT"), 1, 10**9) if "COUNT" in parts else None
    until, week_start = parts.pop("UNTIL", ""), parts.pop("WKST", "MO")
    weekdays = tuple(map(_weekday, _split(parts.pop("BYDAY")))) if "BYDAY" in parts else ()
    lists = {name: _integers(name, parts.pop(name)) for name in list(parts) if name in _LISTS}
    if week_start not in _WEEKDAYS or any(not name.startswith("X-") for name in parts):
        raise RuleError(",".join(parts))
    if ("BYWEEKNO" in lists and frequency != "YEARLY") or ("BYMONTHDAY" in lists and frequency == "WEEKLY"):
        raise RuleError("BYWEEKNO")
    if "BYYEARDAY" in lists and frequency in {"DAILY", "WEEKLY", "MONTHLY"}:
        raise RuleError("BYYEARDAY")
    times = [len(lists.get(name, (0,))) for name in _TIMES]
    if frequency not in _DENSE and times[0] * times[1] * times[2] > MAX_PER_YEAR:
        raise RuleError("BYSECOND")
    level = max(0, _CODES[frequency] - _CODES["DAILY"])
    days = {"YEARLY": 366, "MONTHLY": 31, "WEEKLY": max(1, len(weekdays))}.get(frequency, 1)
    if "BYSETPOS" in lists and min(map(abs, lists["BYSETPOS"])) > days * math.prod(times[level:]):
        raise RuleError("BYSETPOS")  # no period has so many
    return Rule(frequency, interval, count, until, lists, weekdays, _WEEKDAYS.index(week_start))


def expand(
    rule: Rule, start: dt.datetime, until: dt.datetime | None, low: dt.datetime, high: dt.datetime, budget: Budget
) -> Iterator[dt.datetime]:
    """The occurrences from `low` to `high`, both included, in local time; `start` is the first one. Not sorted.

    At most the latest 366 of a calendar year. Raises BudgetSpentError.
    """
    top = min(high, until) if until else high
    if rule.count is None and rule.frequency in _DENSE:
        yield from _expand_dense(rule, start, low, top, budget)
        return
    yield from _latest_of_years(_walk(rule, start, low, top, budget))


def _latest_of_years(moments: Iterator[dt.datetime]) -> Iterator[dt.datetime]:
    years: dict[int, deque[dt.datetime]] = {}
    for moment in moments:
        years.setdefault(moment.year, deque(maxlen=MAX_PER_YEAR)).append(moment)
    for kept in years.values():
        yield from kept


def _walk(rule: Rule, start: dt.datetime, low: dt.datetime, high: dt.datetime, budget: Budget) -> Iterator[dt.datetime]:
    """The occurrences between two moments, ascending."""
    seen = 1  # DTSTART counts, whether it is in the rule or not
    if low <= start <= high:
        yield start
    begin = start
    step = _STEPS.get(rule.frequency)
    if rule.count is None and step is not None and low > start:
        # By whole intervals, so that the phase stays; one back, since a week may begin before the day.
        begin += step * rule.interval * max(0, (low - start) // (step * rule.interval) - 1)
    previous = begin
    for steps, moment in enumerate(_stepper(rule, begin, high)):
        budget.spend(_cost(rule, previous, moment.year))
        previous = moment
        if moment > high or steps >= _MAX_STEPS_OF_RULE:
            return
        if moment == start or not _passes(rule, moment):
            continue
        seen += 1
        if rule.count is not None and seen > rule.count:
            return
        if moment >= low:
            yield moment
    budget.spend(_cost(rule, previous, high.year + _CYCLE))


def _cost(rule: Rule, previous: dt.datetime, year: int) -> int:
    """The steps from an occurrence to one in that year, or to the end."""
    return max(1, (year - previous.year) * _SPARSE.get(rule.frequency, 0) // rule.interval)


def _expand_dense(
    rule: Rule, start: dt.datetime, low: dt.datetime, high: dt.datetime, budget: Budget
) -> Iterator[dt.datetime]:
    """The latest of each year, looked for backwards."""
    bottom, step = max(low, start), _STEPS[rule.frequency] * rule.interval
    for year in range(high.year, bottom.year - 1, -1):
        last = min(high, dt.datetime(year, 12, 31, 23, 59, 59))
        first = max(bottom, dt.datetime(year, 1, 1))
        span = step * MAX_PER_YEAR
        found: list[dt.datetime] = []
        while span <= step * _MAX_DENSE_STEPS:
            begin = max(first, last - span)
            found = list(_walk(rule, start, begin, last, budget))
            if len(found) >= MAX_PER_YEAR or begin == first:
                break
            span *= 4
        yield from found[-MAX_PER_YEAR:]


def _stepper(rule: Rule, begin: dt.datetime, high: dt.datetime) -> Iterator[dt.datetime]:
    """All occurrences from `begin`, to at least `high` and less than 400 years beyond."""
    later = (dt.MAXYEAR - max(begin.year, high.year)) // _CYCLE * _CYCLE
    words: dict[str, Any] = {_LISTS[name][0]: values for name, values in rule.lists.items() if name not in rule.filters}
    if rule.weekdays and "BYDAY" not in rule.filters:
        nth_counts = rule.frequency in {"YEARLY", "MONTHLY"}
        words["byweekday"] = [rrule.weekday(day, nth or None if nth_counts else None) for day, nth in rule.weekdays]
    try:
        start = begin.replace(year=begin.year + later)
        steps = rrule.rrule(
            _CODES[rule.frequency], dtstart=start, interval=rule.interval, wkst=rule.week_start, **words
        )
        yield from (moment.replace(year=moment.year - later) for moment in steps)
    except (ValueError, OverflowError):  # dateutil finds that nothing can match, or passes the year 9999
        return


def _passes(rule: Rule, moment: dt.datetime) -> bool:
    filters, lists = rule.filters, rule.lists
    if "BYDAY" in filters and rule.weekdays and moment.weekday() not in {day for day, _ in rule.weekdays}:
        return False
    checks = {
        "BYMONTH": lambda: {moment.month},
        "BYMONTHDAY": lambda: {moment.day, moment.day - _days_in_month(moment) - 1},
        "BYYEARDAY": lambda: {(day := moment.timetuple().tm_yday), day - _days_in_year(moment.year) - 1},
        "BYHOUR": lambda: {moment.hour},
        "BYMINUTE": lambda: {moment.minute},
        "BYSECOND": lambda: {moment.second},
    }
    return all(not checks[name]().isdisjoint(lists[name]) for name in filters & lists.keys())


def _days_in_month(moment: dt.datetime) -> int:
    return ((moment.replace(day=28) + dt.timedelta(days=4)).replace(day=1) - dt.timedelta(days=1)).day


def _days_in_year(year: int) -> int:
    return dt.date(year, 12, 31).timetuple().tm_yday


def _integer(text: str, low: int, high: int) -> int:
    sign = text[:1] if text[:1] in {"+", "-"} else ""
    digits = text.removeprefix(sign)
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 10:
        raise RuleError(text)
    value = -int(digits) if sign == "-" else int(digits)
    if not low <= value <= high:
        raise RuleError(text)
    return value


def _split(text: str) -> list[str]:
    values = text.split(",")
    if len(values) > _MAX_LIST:
        raise RuleError(text[:20])
    return [value.strip() for value in values]


def _integers(name: str, text: str) -> tuple[int, ...]:
    _, low, high = _LISTS[name]
    # 60 is a leap second, which no clock here has.
    values = {min(_integer(value, low, 60 if name == "BYSECOND" else high), high) for value in _split(text)}
    if low < 0 and 0 in values:
        raise RuleError(name)
    return tuple(sorted(values))


def _weekday(text: str) -> tuple[int, int]:
    if text[-2:] not in _WEEKDAYS:
        raise RuleError(text)
    nth = _integer(text[:-2], -53, 53) if text[:-2] else 0
    if text[:-2] and nth == 0:
        raise RuleError(text)
    return _WEEKDAYS.index(text[-2:]), nth
