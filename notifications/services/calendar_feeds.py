"""Calendar feeds: made, changed, given another address; found by their address."""

import datetime as dt
from typing import Any

from django.conf import settings
from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.database.write_lock import skip_if_locked
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.ownership.account_lock import account_write
from notifications.models import CalendarFeed
from notifications.models.calendar_feed import new_secret, secret_digest

MOST_FEEDS = 20
_USE_RESOLUTION = dt.timedelta(minutes=1)


class TooManyFeedsError(DomainError):
    """The account has as many as there may be."""

    message = f"An account has at most {MOST_FEEDS} calendar feeds."


def create_feed(*, owner: User, values: dict[str, Any]) -> tuple[CalendarFeed, str]:
    """Make a feed; the address comes with it, this once. Raises TooManyFeedsError."""
    secret = new_secret()
    with account_write(owner) as write:
        if CalendarFeed.objects.owned_by(owner).count() >= MOST_FEEDS:
            raise TooManyFeedsError
        row = CalendarFeed.objects.create(
            owner=owner, digest=secret_digest(secret), revision=write.revision, created_at=write.now, **values
        )
    return row, feed_url(secret)


def update_feed(*, feed: CalendarFeed, values: dict[str, Any]) -> CalendarFeed:
    """Change what it tells of. Raises MissingError where it is gone."""
    with account_write(feed.owner) as write:
        row = CalendarFeed.objects.owned_by(feed.owner_id).find(feed.pk)
        for name, value in values.items():
            setattr(row, name, value)
        row.revision = write.revision
        row.save()
    return row


def rotate_feed(*, feed: CalendarFeed) -> tuple[CalendarFeed, str]:
    """Give it another address; the one before is nobody's from now on. Raises MissingError."""
    secret = new_secret()
    return update_feed(feed=feed, values={"digest": secret_digest(secret), "last_read_at": None}), feed_url(secret)


def delete_feed(*, feed: CalendarFeed) -> None:
    """End it, at once."""
    with account_write(feed.owner):
        CalendarFeed.objects.owned_by(feed.owner_id).find(feed.pk).delete()


def feed_url(secret: str) -> str:
    """Where calendars read it."""
    return f"{settings.BASE_URL}/calendar/{secret}.ics"


def feed_at(*, secret: str, now: dt.datetime) -> CalendarFeed:
    """The feed with this secret, and its owner, noting at most once a minute that it was read. Raises MissingError."""
    rows = CalendarFeed.unscoped.rows()
    found: CalendarFeed | None = (
        rows.select_related("owner").filter(digest=secret_digest(secret), owner__is_active=True).first()
    )
    if found is None:
        raise MissingError
    if found.last_read_at is None or found.last_read_at < now - _USE_RESOLUTION:
        stale = Q(last_read_at__isnull=True) | Q(last_read_at__lt=now - _USE_RESOLUTION)
        with skip_if_locked():
            rows.filter(stale, pk=found.pk).update(last_read_at=now)
    return found
