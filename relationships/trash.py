"""Relationships and types in the trash."""

from typing import Any

from accounts.models import User
from people.models import RelationshipType
from people.trash.registry import TrashKind, register_trash_kind
from relationships.models import Relationship
from relationships.projection import serialize_relationships, serialize_types
from relationships.services.relationships import remove_relationships
from relationships.services.types import remove_types


def _serialize_deleted_types(owner: User, rows: Any) -> list[dict[str, Any]]:
    return serialize_types(rows.select_related("inverse"))


def register_trash() -> None:
    """Register both kinds. Must be called once, when all models are loaded."""
    # The purge runs in the order of registration: relationships refer to types, so they go first.
    record = "relationships.api.response_serializers.RelationshipResponseSerializer"
    register_trash_kind(TrashKind("relationships", Relationship, record, serialize_relationships, remove_relationships))
    record = "relationships.api.response_serializers.RelationshipTypeResponseSerializer"
    register_trash_kind(
        TrashKind("relationshipTypes", RelationshipType, record, _serialize_deleted_types, remove_types)
    )
