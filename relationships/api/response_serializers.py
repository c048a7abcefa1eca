"""Serializers that describe the responses in the API description. The responses are built in `projection`."""

from typing import Any, cast

from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    DictField,
    Field,
    ListField,
    Serializer,
    SerializerMetaclass,
    UUIDField,
)

from relationships.suggestions.suggestion import REASONS


def _build_serializer(name: str, /, **fields: "Field[Any, Any, Any, Any]") -> "type[Serializer[Any]]":
    """The serializer class of a component. In a class body, a field named `label` would clash with `Field.label`."""
    optional = tuple(key for key, field in fields.items() if not field.required and not field.read_only)
    attributes: dict[str, Any] = {**fields, "optional": optional, "__doc__": ""}
    return cast("type[Serializer[Any]]", SerializerMetaclass(f"{name}Serializer", (Serializer,), attributes))


_NamedPersonSerializer = _build_serializer("NamedPerson", id=UUIDField(), name=CharField())

RelationshipResponseSerializer = _build_serializer(
    "Relationship",
    id=UUIDField(),
    personId=UUIDField(),
    relatedPersonId=UUIDField(),
    relationshipTypeId=UUIDField(allow_null=True),
    notes=CharField(allow_null=True),
    person=_NamedPersonSerializer(),
    relatedPerson=_NamedPersonSerializer(),
    relationshipType=_build_serializer("RelationshipLabel", id=UUIDField(), label=CharField())(allow_null=True),
    deletedAt=DateTimeField(allow_null=True),
    createdAt=DateTimeField(),
    updatedAt=DateTimeField(),
)

RelationshipTypeResponseSerializer = _build_serializer(
    "RelationshipType",
    id=UUIDField(),
    name=CharField(),
    label=CharField(),
    color=CharField(),
    inverseId=UUIDField(allow_null=True),
    inverse=_build_serializer("InverseType", id=UUIDField(), name=CharField(), label=CharField())(allow_null=True),
    symmetric=BooleanField(),
    deletedAt=DateTimeField(allow_null=True),
    createdAt=DateTimeField(),
    updatedAt=DateTimeField(),
)

OrphanSerializer = _build_serializer("Orphan", id=UUIDField(), fullName=CharField())

GraphNodeSerializer = _build_serializer(
    "GraphNode",
    id=CharField(),
    label=CharField(),
    groups=ListField(child=CharField()),
    colors=ListField(child=CharField()),
    isCenter=BooleanField(),
)

GraphEdgeSerializer = _build_serializer(
    "GraphEdge",
    source=CharField(),
    target=CharField(),
    type=CharField(allow_null=True),
    label=CharField(allow_null=True),
    color=CharField(allow_null=True),
    relationshipId=UUIDField(allow_null=True),
)

SuggestionSerializer = _build_serializer(
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

SuggestionErrorSerializer = _build_serializer(
    "SuggestionError", id=UUIDField(), error=CharField(), code=CharField(), params=DictField(required=False)
)
