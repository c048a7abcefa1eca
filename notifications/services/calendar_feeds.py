"""Creating, changing and deleting calendar feeds, and finding one by the secret of its URL."""

import datetime as dt

from django.conf import settings
from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.database.sqlite3.write_queue import skip_if_locked
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from notifications.models import CalendarFeed
from notifications.models.destinations import new_secret, secret_digest

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
