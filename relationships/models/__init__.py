"""Relationships between people. Their types stand in people, which the tie to the user is of."""

from relationships.models.answered_suggestion import AnsweredSuggestion
from relationships.models.relationship import Relationship, RelationshipQuerySet

__all__ = ["AnsweredSuggestion", "Relationship", "RelationshipQuerySet"]
