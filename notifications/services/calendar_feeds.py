"""Calendar feeds: their writes, and the iCalendar document (RFC 5545) that a feed's URL answers, streamed row by row.

The icalendar library writes the header of a document; people.dates.calendar_events formats the events.
"""

import datetime as dt
import hashlib
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import translation

from accounts.models import User
from contacts_project.kernel.database.sqlite3 import skip_if_locked
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from notifications.models import CalendarFeed
from notifications.models.destinations import CONTACT, IMPORTANT_DATE, new_secret, secret_digest
from people.dates import schedule
from people.dates.calendar_events import EventWriter
from people.dates.upcoming import mentioned_contacts, mentioned_dates
from people.field_table import DATE_COLUMNS
from people.models import Group, Membership
from people.names import COLUMNS

MAX_FEEDS = 20
# `last_read_at` is written at most this often: a calendar program that polls must not cause a write each time.
_LAST_READ_RESOLUTION = dt.timedelta(minutes=1)


class TooManyFeedsError(DomainError):
    """The account has MAX_FEEDS already."""

    message = define_text("too_many_feeds", "An account has at most %(limit)s calendar feeds.").format(limit=MAX_FEEDS)


def create_feed(*, owner: User, values: JsonObject) -> tuple[CalendarFeed, str]:
    """Create a feed; returns it with its URL, which is not shown again. Raises TooManyFeedsError."""
    secret = new_secret()
    with account_write(owner) as write:
        if CalendarFeed.objects.owned_by(owner).count() >= MAX_FEEDS:
            raise TooManyFeedsError
        row = CalendarFeed.objects.create(
            owner=owner, digest=secret_digest(secret), revision=write.revision, created_at=write.now, **values
        )
    return row, feed_url(secret)


def update_feed(*, feed: CalendarFeed, values: JsonObject) -> CalendarFeed:
    """Set columns of the feed. Raises MissingError if it was deleted."""
    with account_write(feed.owner) as write:
        row = CalendarFeed.objects.owned_by(feed.owner_id).find(feed.pk)
        for name, value in values.items():
            setattr(row, name, value)
        row.revision = write.revision
        row.save()
    return row


def rotate_feed(*, feed: CalendarFeed) -> tuple[CalendarFeed, str]:
    """Give the feed a new URL, which is returned; the old one stops working. Raises MissingError."""
    secret = new_secret()
    return update_feed(feed=feed, values={"digest": secret_digest(secret), "last_read_at": None}), feed_url(secret)


def delete_feed(*, feed: CalendarFeed) -> None:
    """Delete the feed; its URL stops working at once. Raises MissingError."""
    with account_write(feed.owner):
        CalendarFeed.objects.owned_by(feed.owner_id).find(feed.pk).delete()


def feed_url(secret: str) -> str:
    """The URL at which calendar programs read the feed."""
    return f"{settings.BASE_URL}/calendar/{secret}.ics"


def feed_at(*, secret: str, now: dt.datetime) -> CalendarFeed:
    """The feed with this secret, with its owner. Updates `last_read_at`, at most once a minute. Raises MissingError."""
    rows = CalendarFeed.unscoped.rows()
    found: CalendarFeed | None = (
        rows.select_related("owner").filter(digest=secret_digest(secret), owner__is_active=True).first()
    )
    if found is None:
        raise MissingError
    if found.last_read_at is None or found.last_read_at < now - _LAST_READ_RESOLUTION:
        stale = Q(last_read_at__isnull=True) | Q(last_read_at__lt=now - _LAST_READ_RESOLUTION)
        # Skipped if another process is writing: reading a feed must not wait for it.
        with skip_if_locked():
            rows.filter(stale, pk=found.pk).update(last_read_at=now)
    return found


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
    from icalendar import Calendar, vText  # noqa: PLC0415 - a hundred modules that most processes never need

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
