"""What a calendar feed answers: an iCalendar document (RFC 5545), written row by row as the database gives them.

The icalendar library writes the head, escapes and folds. Its components are not made for each event: 10,000 dates with
their ages are 60,000 of them.
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
from people.dates.recurrence import turns
from people.dates.upcoming import event_rule
from people.links import person_url
from people.models import Group, ImportantDate, Membership, Person
from people.names import COLUMNS, NameParts, display_name

# The next occurrences that say how old somebody turns.
_AGES = 5
_ROWS_AT_ONCE = 200
_LINE_BYTES = 75
_DATE_COLUMNS = (
    *("id", "person_id", "type", "title", "date", "year_unknown", "updated_at", "next_occurrence_on"),
    *("reminder_enabled", "reminder_type", "reminder_interval", "reminder_interval_unit", "reminder_lead_days"),
    "extra_lead_days",
)


def feed_etag(feed: CalendarFeed, now: dt.datetime) -> str:
    """The validator of what the feed answers: it changes with each write of the account, and with the day."""
    today = schedule.calendar_from_user(feed.owner).today(now)
    state = f"{settings.VERSION}|{feed.pk}|{feed.digest}|{feed.owner.revision}|{today}"
    return f'"{hashlib.sha256(state.encode()).hexdigest()[:32]}"'


def feed_document(feed: CalendarFeed, now: dt.datetime) -> Iterator[bytes]:
    """The document in pieces."""
    writer = _EventWriter(feed.owner, alarms=feed.alarms, now=now)
    language = feed.language or feed.owner.language
    yield _head(feed)
    sources: list[Iterator[str]] = []
    if IMPORTANT_DATE in feed.kinds:
        sources.append(chain.from_iterable(map(writer.date_events, _dates(feed))))
    if CONTACT in feed.kinds:
        sources.append(chain.from_iterable(map(writer.contact_event, _contacts(feed))))
    events = chain.from_iterable(sources)
    while True:
        with translation.override(language):
            piece = "".join(islice(events, _ROWS_AT_ONCE))
        if not piece:
            break
        yield piece.encode()
    yield b"END:VCALENDAR\r\n"


def _head(feed: CalendarFeed) -> bytes:
    head = Calendar()
    head.add("prodid", "-//Contact network service//Calendar feed//EN")
    head.add("version", "2.0")
    head.add("calscale", "GREGORIAN")
    head["x-wr-calname"] = vText(" ".join(feed.name.split()))  # add() would not escape what it does not know
    head.add("x-wr-timezone", feed.owner.time_zone)
    head.add("refresh-interval", dt.timedelta(hours=12), parameters={"VALUE": "DURATION"})
    head.add("x-published-ttl", "PT12H")
    return bytes(head.to_ical()).removesuffix(b"END:VCALENDAR\r\n")


def _dates(feed: CalendarFeed) -> Iterable[Any]:
    rows = ImportantDate.objects.owned_by(feed.owner).active().filter(person__deleted_at=None)
    if feed.group_ids:
        rows = rows.filter(person_id__in=_members(feed))
    names = (f"person__{column}" for column in (*COLUMNS, "deathday"))
    return rows.order_by("id").values_list(*_DATE_COLUMNS, *names, named=True).iterator(_ROWS_AT_ONCE)


def _contacts(feed: CalendarFeed) -> Iterable[Any]:
    rows = Person.objects.owned_by(feed.owner).active().filter(contact_reminder_enabled=True)
    if feed.group_ids:
        rows = rows.filter(pk__in=_members(feed))
    columns = dict.fromkeys(("id", "updated_at", *schedule.CONTACT_FIELDS, *COLUMNS))
    return rows.order_by("id").values_list(*columns, named=True).iterator(_ROWS_AT_ONCE)


def _members(feed: CalendarFeed) -> QuerySet[Any, Any]:
    """The ids of the people in its groups, those that are active."""
    groups = Group.objects.owned_by(feed.owner).active().filter(pk__in=feed.group_ids)
    members: QuerySet[Any, Any] = Membership.objects.owned_by(feed.owner).filter(group__in=groups.values("pk"))
    return members.values("person_id")


class _EventWriter:
    """Rows as VEVENTs, in the language that is active."""

    def __init__(self, owner: User, *, alarms: bool, now: dt.datetime) -> None:
        self._owner, self._alarms = owner, alarms
        self._calendar = schedule.calendar_from_user(owner)
        self._today = self._calendar.today(now)

    def date_events(self, row: Any) -> Iterator[str]:
        """One for an important date, and one for each of its next occurrences that says an age."""
        rule = event_rule(row, self._calendar)
        start = first_day(rule, year_unknown=row.year_unknown)
        name = self._name(getattr(row, f"person__{column}") for column in COLUMNS)
        summary = _("%(occasion)s: %(name)s") % {"occasion": occasion(row.type, row.title), "name": name}
        is_over = schedule.is_birthday_of_dead(row.type, row.person__deathday)
        triggers = [] if is_over else self._triggers(row)
        # The same for all events of the date: a client takes those with a RECURRENCE-ID for changed occurrences.
        uid, url, stamp = f"date-{row.id}", person_url(row.person_id), _stamp(row.updated_at)
        yield _event(uid, start, summary, url, stamp, triggers, rule_lines(rule, start, self._today))
        if row.year_unknown or rule.unit is None or is_over:
            return
        for day in islice(rule.between(self._today, dt.date.max), _AGES):
            if age := age_in_words(row.type, turns(row.date, day, self._calendar.leap_day)):
                own = [f"RECURRENCE-ID;VALUE=DATE:{_digits(day)}"]
                yield _event(uid, day, f"{summary} · {age}", url, stamp, triggers, own)

    def contact_event(self, row: Any) -> Iterator[str]:
        """One for a contact reminder: on its day, and from then on today until it was heeded."""
        rule = schedule.contact_rule(row, self._calendar)
        due = rule.nth(rule.first) if rule else None
        if due is None:
            return
        name = self._name(getattr(row, column) for column in COLUMNS)
        summary = _("Get in touch with %(name)s") % {"name": name}
        triggers = [_after(self._calendar.hour)] if self._alarms else []
        day = max(due, self._today)
        yield _event(f"contact-{row.id}", day, summary, person_url(row.id), _stamp(row.updated_at), triggers, [])

    def _name(self, parts: Iterable[Any]) -> str:
        owner = self._owner
        return display_name(NameParts(*parts), order=owner.name_order, form=owner.name_display_format)

    def _triggers(self, row: Any) -> list[str]:
        """When the alarms of a date go off: at the reminder hour of the day, and of the days of its notices."""
        rule = schedule.date_rule(row, self._calendar) if self._alarms else None
        if rule is None:
            return []
        following = rule.recurrence.on_or_after(self._today)
        notices = [] if following is None else [(following - day).days for day in rule.notice_days(following)]
        return [_after(self._calendar.hour), *(_before(days * 24 - self._calendar.hour) for days in notices)]


def _event(
    uid: str, day: dt.date, summary: str, url: str, stamp: str, triggers: list[str], recurrence: list[str]
) -> str:
    """A VEVENT of a whole day. It ends with that day (RFC 5545, 3.6.1), and keeps nobody busy."""
    said = _text(summary)
    lines = [
        "BEGIN:VEVENT",
        f"UID:{uid}",
        f"DTSTAMP:{stamp}",
        f"DTSTART;VALUE=DATE:{_digits(day)}",
        *recurrence,
        f"SUMMARY:{said}",
        f"URL:{url}",
        "TRANSP:TRANSPARENT",
    ]
    for trigger in triggers:
        lines += ["BEGIN:VALARM", "ACTION:DISPLAY", f"TRIGGER:{trigger}", f"DESCRIPTION:{said}", "END:VALARM"]
    lines += ["END:VEVENT", ""]
    return "\r\n".join(line if len(line) * 4 <= _LINE_BYTES else _folded(line) for line in lines)


def _folded(line: str) -> str:
    return line if len(line.encode()) <= _LINE_BYTES else str(foldline(line))


def _text(words: str) -> str:
    """A TEXT value on one line: names may hold line breaks."""
    return vText(" ".join(words.split())).to_ical().decode()


def _digits(day: dt.date) -> str:
    return f"{day.year:04}{day.month:02}{day.day:02}"


def _stamp(moment: dt.datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%SZ}"


def _after(hours: int) -> str:
    return f"PT{hours}H" if hours else "PT0S"


def _before(hours: int) -> str:
    """A duration of more than nothing before the day begins."""
    days, rest = divmod(hours, 24)
    return f"-P{f'{days}D' if days else ''}{f'T{rest}H' if rest else ''}"
