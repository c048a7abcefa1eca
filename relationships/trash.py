"""Relationships and types in the trash."""

from people.models import RelationshipType
from people.trash.registry import TrashKind, register_trash_kind
from relationships.models import Relationship
from relationships.projection import serialize_relationships, serialize_types
from relationships.services.relationships import remove_relationships
from relationships.services.types import remove_types


def register_trash() -> None:
    """Register both kinds. Must be called once, when all models are loaded."""
    # The purge runs in the order of registration: relationships refer to types, so they go first.
    register_trash_kind(
        TrashKind(
            name="relationships",
            model=Relationship,
            serialize=serialize_relationships,
            remove=remove_relationships,
        )
    )
    register_trash_kind(
        TrashKind(
            name="relationshipTypes",
            model=RelationshipType,
            serialize=lambda _, rows: serialize_types(rows.select_related("inverse")),
            remove=remove_types,
        )
    )
