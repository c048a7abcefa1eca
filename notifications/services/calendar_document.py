"""The iCalendar document (RFC 5545) of a calendar feed, streamed row by row.

The icalendar library writes the header; people.dates.calendar_events formats the events.
"""

import datetime as dt
import hashlib
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import translation
from icalendar import Calendar, vText

from notifications.models import CalendarFeed
from notifications.models.destinations import CONTACT, IMPORTANT_DATE
from people.dates import schedule
from people.dates.calendar_events import EventWriter
from people.dates.upcoming import mentioned_contacts, mentioned_dates
from people.field_table import DATE_COLUMNS
from people.models import Group, Membership
from people.names import COLUMNS

_CHUNK_SIZE = 200
_DATE_COLUMNS = ("id", "person_id", *DATE_COLUMNS, "updated_at", "next_occurrence_on")


def feed_etag(feed: CalendarFeed, now: dt.datetime) -> str:
    """The feed's ETag. It changes with each write of the account, and with the day."""
    today = schedule.calendar_from_user(feed.owner).today(now)
    state = f"{settings.VERSION}|{feed.pk}|{feed.digest}|{feed.owner.revision}|{today}"
    return f'"{hashlib.sha256(state.encode()).hexdigest()[:32]}"'


def feed_document(feed: CalendarFeed, now: dt.datetime) -> Iterator[bytes]:
    """The document, in chunks of encoded text."""
    writer = EventWriter(feed.owner, alarms=feed.alarms, now=now)
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


def _dates(feed: CalendarFeed) -> Any:
    rows: Any = mentioned_dates(feed.owner)
    if feed.group_ids:
        rows = rows.filter(person_id__in=_members(feed))
    names = (f"person__{column}" for column in (*COLUMNS, "deathday"))
    return rows.order_by("id").values_list(*_DATE_COLUMNS, *names, named=True).iterator(_CHUNK_SIZE)


def _contacts(feed: CalendarFeed) -> Any:
    rows: Any = mentioned_contacts(feed.owner)
    if feed.group_ids:
        rows = rows.filter(pk__in=_members(feed))
    columns = dict.fromkeys(("id", "updated_at", *schedule.CONTACT_FIELDS, *COLUMNS))
    return rows.order_by("id").values_list(*columns, named=True).iterator(_CHUNK_SIZE)


def _members(feed: CalendarFeed) -> "QuerySet[Membership, object]":
    """The ids of the people in the feed's groups, as far as the groups are active."""
    groups = Group.objects.owned_by(feed.owner).active().filter(pk__in=feed.group_ids)
    members: QuerySet[Any, Any] = Membership.objects.owned_by(feed.owner).filter(group__in=groups.values("pk"))
    return members.values("person_id")
