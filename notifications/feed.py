"""Destinations in the change feed."""

from collections.abc import Collection
from uuid import UUID

from accounts.feed.kinds import Answers, FeedKind, register_feed_kind
from accounts.models import User
from notifications.api.serializers import whole_destination
from notifications.models import Destination


def register_feed() -> None:
    """Register destinations. Called once, when all models are loaded."""
    register_feed_kind(FeedKind(Destination, 80, _serialize))


def _serialize(owner: User, ids: Collection[UUID]) -> Answers:
    rows = Destination.objects.owned_by(owner).filter(pk__in=ids)
    return {row.pk: whole_destination(row) for row in rows}
