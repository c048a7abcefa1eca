"""Relationships and their types in the change feed."""

from collections.abc import Collection
from uuid import UUID

from accounts.feed.kinds import FeedKind, RecordsById, register_feed_kind
from accounts.models import User
from people.models import RelationshipType
from relationships.models import Relationship
from relationships.projection import load_relationships, serialize_type_with_revision


def register_feed() -> None:
    """Register both kinds. Must be called once, when all models are loaded."""
    register_feed_kind(
        FeedKind(
            RelationshipType,
            20,
            _load_types,
        ),
        FeedKind(
            Relationship,
            60,
            load_relationships,
        ),
    )


def _load_types(owner: User, ids: Collection[UUID]) -> RecordsById:
    rows = RelationshipType.objects.owned_by(owner).active().filter(pk__in=ids).select_related("inverse")
    return {row.pk: serialize_type_with_revision(row) for row in rows}
