"""Events of iCalendar (RFC 5545) for important dates and contact reminders: of calendar feeds, and of devices.

Their rules give the same days as people.dates.recurrence. The icalendar library escapes and folds. Events are formatted
here and not with its components, which are too slow for the 60,000 events of 10,000 dates with their ages.
"""

import datetime as dt
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from django.utils.translation import gettext as _

from accounts.models import User
from accounts.vocabularies import LeapDayRule
from people.dates import schedule
from people.dates.recurrence import Recurrence, full_years
from people.dates.upcoming import age_in_words, event_rule, occasion
from people.mentions import has_ended, topic_of
from people.models.person import person_url
from people.names import COLUMNS, format_name
from people.vocabularies import Unit

# How many of the next occurrences have an event of their own, with the age in its summary.
MAX_AGE_EVENTS: Final = 5
_MAX_LINE_BYTES = 75  # RFC 5545, 3.1
# DTSTART of dates without a year is on or after this day. 2000 is a leap year, so 29 February exists.
_START_WITHOUT_YEAR = dt.date(2000, 1, 1)
# The one rule that RFC 5545 cannot express becomes a list of the days of so many years.
_LISTED_YEARS = 10
_FREQUENCIES = {Unit.DAYS: "DAILY", Unit.WEEKS: "WEEKLY", Unit.MONTHS: "MONTHLY", Unit.YEARS: "YEARLY"}


class EventWriter:
    """Formats rows as VEVENTs, in the active language."""

    def __init__(self, owner: User, *, alarms: bool, now: dt.datetime) -> None:
        self._owner, self._alarms = owner, alarms
        self._calendar = schedule.calendar_from_user(owner)
        self._today = self._calendar.today(now)

    def date_events(self, row: Any) -> Iterator[str]:
        """The event of an important date, and one for each of its next occurrences for which the age is known."""
        rule = event_rule(row, self._calendar)
        start = first_day(rule, year_unknown=row.year_unknown)
        name = self._name(row, prefix="person__")
        summary = _("%(occasion)s: %(name)s") % {"occasion": occasion(row.type, row.title), "name": name}
        is_over = has_ended(topic_of(row.type), row.person__deathday)
        triggers = [] if is_over else self._triggers(row)
        # All events of the date share a UID: those with a RECURRENCE-ID replace occurrences of the recurring one.
        uid, url, stamp = f"date-{row.id}", person_url(row.person_id), format_utc(row.updated_at)
        yield _event(uid, start, summary, url, stamp, triggers, rule_lines(rule, start, self._today))
        if row.year_unknown or rule.unit is None or is_over:
            return
        for day in islice(rule.between(self._today, dt.date.max), MAX_AGE_EVENTS):
            if age := age_in_words(row.type, full_years(row.date, day, self._calendar.leap_day)):
                recurrence_id = [f"RECURRENCE-ID;VALUE=DATE:{format_date(day)}"]
                yield _event(uid, day, f"{summary} · {age}", url, stamp, triggers, recurrence_id)

    def contact_event(self, row: Any) -> Iterator[str]:
        """The event of a contact reminder: on its day, or today if that has passed."""
        rule = schedule.contact_rule(row, self._calendar)
        due = rule.nth(rule.first) if rule else None
        if due is None:
            return
        name = self._name(row)
        summary = _("Get in touch with %(name)s") % {"name": name}
        triggers = [_trigger_after_start(self._calendar.hour)] if self._alarms else []
        day = max(due, self._today)
        yield _event(f"contact-{row.id}", day, summary, person_url(row.id), format_utc(row.updated_at), triggers, [])

    def _name(self, row: object, *, prefix: str = "") -> str:
        return format_name(self._owner, [getattr(row, f"{prefix}{column}") for column in COLUMNS])

    def _triggers(self, row: Any) -> list[str]:
        """The alarms of a date: at the reminder hour of the day itself, and of the days of its advance notices."""
        rule = schedule.date_rule(row, self._calendar) if self._alarms else None
        if rule is None:
            return []
        following = rule.recurrence.on_or_after(self._today)
        notices = [] if following is None else [(following - day).days for day in rule.notice_days(following)]
        return [
            _trigger_after_start(self._calendar.hour),
            *(_trigger_before_start(days * 24 - self._calendar.hour) for days in notices),
        ]


def _event(
    uid: str, day: dt.date, summary: str, url: str, stamp: str, triggers: list[str], recurrence: list[str]
) -> str:
    """An all-day VEVENT, which shows nobody as busy. Without DTEND it lasts one day (RFC 5545, 3.6.1)."""
    text = escape_text(summary)
    lines = [
        "BEGIN:VEVENT",
        f"UID:{uid}",
        f"DTSTAMP:{stamp}",
        f"DTSTART;VALUE=DATE:{format_date(day)}",
        *recurrence,
        f"SUMMARY:{text}",
        f"URL:{url}",
        "TRANSP:TRANSPARENT",
    ]
    for trigger in triggers:
        lines += ["BEGIN:VALARM", "ACTION:DISPLAY", f"TRIGGER:{trigger}", f"DESCRIPTION:{text}", "END:VALARM"]
    lines += ["END:VEVENT", ""]
    return "\r\n".join(map(fold_line, lines))


def fold_line(line: str) -> str:
    # A character has at most 4 bytes, so short lines need not be encoded.
    fits = len(line) * 4 <= _MAX_LINE_BYTES or len(line.encode()) <= _MAX_LINE_BYTES
    if fits:
        return line
    from icalendar.parser import foldline  # noqa: PLC0415 - a hundred modules that most processes never need

    return str(foldline(line))


def escape_text(text: str) -> str:
    """A TEXT value. White space is collapsed, since names may contain line breaks."""
    from icalendar import vText  # noqa: PLC0415 - as above

    return vText(" ".join(text.split())).to_ical().decode()


def format_date(day: dt.date) -> str:
    return f"{day.year:04}{day.month:02}{day.day:02}"


def format_utc(moment: dt.datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%SZ}"


def _trigger_after_start(hours: int) -> str:
    return f"PT{hours}H" if hours else "PT0S"


def _trigger_before_start(hours: int) -> str:
    """A duration of more than nothing before the day begins."""
    days, rest = divmod(hours, 24)
    return f"-P{f'{days}D' if days else ''}{f'T{rest}H' if rest else ''}"


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
