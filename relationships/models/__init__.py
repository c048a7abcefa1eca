"""Relationships between people, and the types that an account defines."""

from relationships.models.relationship import Relationship, RelationshipQuerySet
from relationships.models.relationship_type import RelationshipType

__all__ = ["Relationship", "RelationshipQuerySet", "RelationshipType"]
