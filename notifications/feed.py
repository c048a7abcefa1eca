"""Destinations in the change feed."""

from collections.abc import Collection
from uuid import UUID

from accounts.feed.kinds import FeedKind, RecordsById, register_feed_kind
from accounts.models import User
from notifications.api.serializers import destination_record
from notifications.models import Destination


def register_feed() -> None:
    """Register destinations. Called once, when all models are loaded."""
    register_feed_kind(FeedKind(Destination, 80, _load_destinations))


def _load_destinations(owner: User, ids: Collection[UUID]) -> RecordsById:
    rows = Destination.objects.owned_by(owner).filter(pk__in=ids)
    return {row.pk: destination_record(row) for row in rows}
