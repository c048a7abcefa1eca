"""What the routes of relationships answer, for the API description; the answers themselves are projections."""

from typing import Any, cast

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    Field,
    ListField,
    Serializer,
    SerializerMetaclass,
    UUIDField,
)

from relationships.suggestions.suggestion import REASONS


def _shape(name: str, /, **fields: "Field[Any, Any, Any, Any]") -> "type[Serializer[Any]]":
    """A serializer class. As a class body, a field named `label` would clash with the Field attribute."""
    attributes: dict[str, Any] = {**fields, "__doc__": ""}
    return cast("type[Serializer[Any]]", SerializerMetaclass(f"{name}Serializer", (Serializer,), attributes))


_Named = _shape("NamedPerson", id=UUIDField(), name=CharField())

RelationshipAnswer = _shape(
    "Relationship",
    id=UUIDField(),
    personId=UUIDField(),
    relatedPersonId=UUIDField(),
    relationshipTypeId=UUIDField(allow_null=True),
    notes=CharField(allow_null=True),
    person=_Named(),
    relatedPerson=_Named(),
    relationshipType=_shape("RelationshipLabel", id=UUIDField(), label=CharField())(allow_null=True),
    deletedAt=DateTimeField(allow_null=True),
    createdAt=DateTimeField(),
    updatedAt=DateTimeField(),
)

RelationshipTypeAnswer = _shape(
    "RelationshipType",
    id=UUIDField(),
    name=CharField(),
    label=CharField(),
    color=CharField(),
    inverseId=UUIDField(allow_null=True),
    inverse=_shape("InverseType", id=UUIDField(), name=CharField(), label=CharField())(allow_null=True),
    symmetric=BooleanField(),
    deletedAt=DateTimeField(allow_null=True),
    createdAt=DateTimeField(),
    updatedAt=DateTimeField(),
)

OrphanAnswer = _shape("Orphan", id=UUIDField(), fullName=CharField())

GraphNode = _shape(
    "GraphNode",
    id=CharField(),
    label=CharField(),
    groups=ListField(child=CharField()),
    colors=ListField(child=CharField()),
    isCenter=BooleanField(),
)

GraphEdge = _shape(
    "GraphEdge",
    source=CharField(),
    target=CharField(),
    type=CharField(allow_null=True),
    label=CharField(allow_null=True),
    color=CharField(allow_null=True),
    relationshipId=UUIDField(allow_null=True),
)

SuggestionAnswer = _shape(
    "RelationshipSuggestion",
    id=UUIDField(),
    personId=UUIDField(),
    relatedPersonId=UUIDField(allow_null=True),
    relatedName=CharField(),
    relationshipTypeId=UUIDField(allow_null=True),
    typeName=CharField(),
    reason=ChoiceField(REASONS),
    personName=CharField(),
)

SuggestionError = _shape("SuggestionError", id=UUIDField(), error=CharField())
