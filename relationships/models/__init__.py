"""Relationships between people. Their types are a model of people, whose relationship to the user has a type too."""

from relationships.models.answered_suggestion import AnsweredSuggestion
from relationships.models.relationship import Relationship, RelationshipQuerySet

__all__ = ["AnsweredSuggestion", "Relationship", "RelationshipQuerySet"]
