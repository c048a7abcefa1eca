"""Relationships and types in the trash."""

from typing import Any

from accounts.models import User
from people.models import RelationshipType
from people.trash.registry import TrashKind, register_trash_kind
from relationships.models import Relationship
from relationships.projection import serialize_relationships, serialize_types
from relationships.services.relationships import remove_relationships
from relationships.services.types import remove_types


def _deleted_relationships(owner: User, rows: Any) -> list[Any]:
    return serialize_relationships(owner, rows)


def _deleted_types(owner: User, rows: Any) -> list[dict[str, Any]]:
    return serialize_types(rows.select_related("inverse"))


def register_trash() -> None:
    """Relationships before types: what refers goes before what is referred to."""
    record = "relationships.api.answers.RelationshipAnswer"
    register_trash_kind(TrashKind("relationships", Relationship, record, _deleted_relationships, remove_relationships))
    record = "relationships.api.answers.RelationshipTypeAnswer"
    register_trash_kind(TrashKind("relationshipTypes", RelationshipType, record, _deleted_types, remove_types))
