"""The iCalendar document (RFC 5545) of a calendar feed, streamed row by row.

The icalendar library writes the header, escapes and folds. Events are formatted here and not with its components, which
are too slow for the 60,000 events of 10,000 dates with their ages.
"""

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext as _
from icalendar import Calendar, vText
from icalendar.parser import foldline

from accounts.models import User
from notifications.models import CalendarFeed
from notifications.models.calendar_feed import CONTACT, IMPORTANT_DATE
from people.dates import schedule
from people.dates.calendar_rules import first_day, rule_lines
from people.dates.occasions import age_in_words, occasion
from people.dates.recurrence import full_years
from people.dates.upcoming import event_rule
from people.links import person_url
from people.models import Group, ImportantDate, Membership, Person
from people.names import COLUMNS, format_name

# How many of the next occurrences have an event of their own, with the age in its summary.
_MAX_AGE_EVENTS = 5
_CHUNK_SIZE = 200
_MAX_LINE_BYTES = 75  # RFC 5545, 3.1
_DATE_COLUMNS = (
    *("id", "person_id", "type", "title", "date", "year_unknown", "updated_at", "next_occurrence_on"),
    *("reminder_enabled", "reminder_type", "reminder_interval", "reminder_interval_unit", "reminder_lead_days"),
    "extra_lead_days",
)


def feed_etag(feed: CalendarFeed, now: dt.datetime) -> str:
    """The feed's ETag. It changes with each write of the account, and with the day."""
    today = schedule.calendar_from_user(feed.owner).today(now)
    state = f"{settings.VERSION}|{feed.pk}|{feed.digest}|{feed.owner.revision}|{today}"
    return f'"{hashlib.sha256(state.encode()).hexdigest()[:32]}"'


def feed_document(feed: CalendarFeed, now: dt.datetime) -> Iterator[bytes]:
    """The document, in chunks of encoded text."""
    writer = _EventWriter(feed.owner, alarms=feed.alarms, now=now)
    language = feed.language or feed.owner.language
    yield _header(feed)
    sources: list[Iterator[str]] = []
    if IMPORTANT_DATE in feed.kinds:
        sources.append(chain.from_iterable(map(writer.date_events, _dates(feed))))
    if CONTACT in feed.kinds:
        sources.append(chain.from_iterable(map(writer.contact_event, _contacts(feed))))
    events = chain.from_iterable(sources)
    while True:
        # Not around the yield: the server may run other code in this thread before it asks for the next chunk.
        with translation.override(language):
            chunk = "".join(islice(events, _CHUNK_SIZE))
        if not chunk:
            break
        yield chunk.encode()
    yield b"END:VCALENDAR\r\n"


def _header(feed: CalendarFeed) -> bytes:
    calendar = Calendar()
    calendar.add("prodid", "-//Contact network service//Calendar feed//EN")
    calendar.add("version", "2.0")
    calendar.add("calscale", "GREGORIAN")
    calendar["x-wr-calname"] = vText(" ".join(feed.name.split()))  # add() does not escape properties it does not know
    calendar.add("x-wr-timezone", feed.owner.time_zone)
    calendar.add("refresh-interval", dt.timedelta(hours=12), parameters={"VALUE": "DURATION"})
    calendar.add("x-published-ttl", "PT12H")
    return bytes(calendar.to_ical()).removesuffix(b"END:VCALENDAR\r\n")


def _dates(feed: CalendarFeed) -> Iterable[Any]:
    rows = ImportantDate.objects.owned_by(feed.owner).active().filter(person__deleted_at=None)
    if feed.group_ids:
        rows = rows.filter(person_id__in=_members(feed))
    names = (f"person__{column}" for column in (*COLUMNS, "deathday"))
    return rows.order_by("id").values_list(*_DATE_COLUMNS, *names, named=True).iterator(_CHUNK_SIZE)


def _contacts(feed: CalendarFeed) -> Iterable[Any]:
    rows = Person.objects.owned_by(feed.owner).active().filter(contact_reminder_enabled=True)
    if feed.group_ids:
        rows = rows.filter(pk__in=_members(feed))
    columns = dict.fromkeys(("id", "updated_at", *schedule.CONTACT_FIELDS, *COLUMNS))
    return rows.order_by("id").values_list(*columns, named=True).iterator(_CHUNK_SIZE)


def _members(feed: CalendarFeed) -> QuerySet[Any, Any]:
    """The ids of the people in the feed's groups, as far as the groups are active."""
    groups = Group.objects.owned_by(feed.owner).active().filter(pk__in=feed.group_ids)
    members: QuerySet[Any, Any] = Membership.objects.owned_by(feed.owner).filter(group__in=groups.values("pk"))
    return members.values("person_id")


class _EventWriter:
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
        is_over = schedule.is_birthday_of_deceased(row.type, row.person__deathday)
        triggers = [] if is_over else self._triggers(row)
        # All events of the date share a UID: those with a RECURRENCE-ID replace occurrences of the recurring one.
        uid, url, stamp = f"date-{row.id}", person_url(row.person_id), _format_utc(row.updated_at)
        yield _event(uid, start, summary, url, stamp, triggers, rule_lines(rule, start, self._today))
        if row.year_unknown or rule.unit is None or is_over:
            return
        for day in islice(rule.between(self._today, dt.date.max), _MAX_AGE_EVENTS):
            if age := age_in_words(row.type, full_years(row.date, day, self._calendar.leap_day)):
                recurrence_id = [f"RECURRENCE-ID;VALUE=DATE:{_format_date(day)}"]
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
        yield _event(f"contact-{row.id}", day, summary, person_url(row.id), _format_utc(row.updated_at), triggers, [])

    def _name(self, row: Any, *, prefix: str = "") -> str:
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
    text = _escape_text(summary)
    lines = [
        "BEGIN:VEVENT",
        f"UID:{uid}",
        f"DTSTAMP:{stamp}",
        f"DTSTART;VALUE=DATE:{_format_date(day)}",
        *recurrence,
        f"SUMMARY:{text}",
        f"URL:{url}",
        "TRANSP:TRANSPARENT",
    ]
    for trigger in triggers:
        lines += ["BEGIN:VALARM", "ACTION:DISPLAY", f"TRIGGER:{trigger}", f"DESCRIPTION:{text}", "END:VALARM"]
    lines += ["END:VEVENT", ""]
    return "\r\n".join(map(_fold_line, lines))


def _fold_line(line: str) -> str:
    # A character has at most 4 bytes, so short lines need not be encoded.
    fits = len(line) * 4 <= _MAX_LINE_BYTES or len(line.encode()) <= _MAX_LINE_BYTES
    return line if fits else str(foldline(line))


def _escape_text(text: str) -> str:
    """A TEXT value. White space is collapsed, since names may contain line breaks."""
    return vText(" ".join(text.split())).to_ical().decode()


def _format_date(day: dt.date) -> str:
    return f"{day.year:04}{day.month:02}{day.day:02}"


def _format_utc(moment: dt.datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%SZ}"


def _trigger_after_start(hours: int) -> str:
    return f"PT{hours}H" if hours else "PT0S"


def _trigger_before_start(hours: int) -> str:
    """A duration of more than nothing before the day begins."""
    days, rest = divmod(hours, 24)
    return f"-P{f'{days}D' if days else ''}{f'T{rest}H' if rest else ''}"
