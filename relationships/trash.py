"""Relationships and types in the trash."""

from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from people.trash import TrashKind, register_trash_kind
from relationships.models import Relationship, RelationshipType
from relationships.projection import relationship_answers, type_answers
from relationships.services.relationships import remove_relationships
from relationships.services.types import remove_types


def _deleted_relationships(owner_id: UUID) -> list[Any]:
    rows = Relationship.objects.owned_by(owner_id).deleted().within_retention(timezone.now())
    return relationship_answers(User.objects.get(pk=owner_id), rows, newest="deleted_at", deleted=True)


def _deleted_types(owner_id: UUID) -> list[dict[str, Any]]:
    rows = (
        RelationshipType.objects.owned_by(owner_id).deleted().within_retention(timezone.now()).select_related("inverse")
    )
    return type_answers(rows.order_by("-deleted_at", "-id"))


def register_trash() -> None:
    """Relationships before types: what refers goes before what is referred to."""
    register_trash_kind(TrashKind("relationships", Relationship, _deleted_relationships, remove_relationships))
    register_trash_kind(TrashKind("relationshipTypes", RelationshipType, _deleted_types, remove_types))
