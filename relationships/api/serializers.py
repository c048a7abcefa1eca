"""Serializers of relationships and their types: first bodies of requests, then components of responses.

Responses are built in `relationships.projection`; the components below only describe them.
"""

import datetime as dt
import re
from typing import Any, cast
from uuid import UUID

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
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

from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import (
    NO_SUCH_DAY,
    ClientIdField,
    ColorField,
    LockedIdField,
    OwnedField,
    StrictBooleanField,
    StrictCharField,
)
from contacts_project.kernel.errors import NO_SUCH_RECORD
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.texts import define_text
from relationships.services.types import NAME_LENGTH, normalize_type_name
from relationships.suggestions.suggestion import REASONS

_PARTIAL_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?", re.ASCII)
_NOT_A_PARTIAL_DATE = define_text("not_a_partial_date", "This must be YYYY, YYYY-MM or YYYY-MM-DD.")
_LONG_UPPER_CASE = define_text("too_long_in_upper_case", "At most %(limit)s characters in upper case.")


class PartialDateField(StrictCharField):
    """A day, a month or a year: `YYYY-MM-DD`, `YYYY-MM` or `YYYY`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=10, **kwargs)

    def to_internal_value(self, data: object) -> Any:
        text = super().to_internal_value(data)
        if not _PARTIAL_DATE.fullmatch(text or ""):
            raise InvalidError(_NOT_A_PARTIAL_DATE)
        try:
            dt.date.fromisoformat(f"{text}-01-01"[:10])
        except ValueError:
            raise InvalidError(NO_SUCH_DAY) from None
        return text


class RelationshipUpdateSerializer(serializers.Serializer[Any]):
    relationshipTypeId = LockedIdField(source="type_id", required=False, allow_null=True)
    notes = StrictCharField(max_length=1000, required=False, allow_null=True)
    since = PartialDateField(required=False, allow_null=True)
    until = PartialDateField(required=False, allow_null=True)


class RelationshipCreateSerializer(RelationshipUpdateSerializer):
    id = ClientIdField(required=False, source="relationship_id", help_text="Of the row of personId.")
    personId = LockedIdField(source="person_id")
    relatedPersonId = LockedIdField(source="related_person_id")


class TypeNameField(StrictCharField):
    """The name of a type; validates to the normal form, in which it is stored."""

    def to_internal_value(self, data: object) -> Any:
        name = normalize_type_name(super().to_internal_value(data) or "")
        # Checked again, because upper case can be longer: "ß" becomes "SS".
        if len(name) > self.max_length:
            raise InvalidError(_LONG_UPPER_CASE.format(limit=self.max_length))
        return name


class RelationshipTypeSerializer(serializers.Serializer[Any]):
    """What a new type and, with `partial`, a change of one say."""

    name = TypeNameField(max_length=NAME_LENGTH)
    label = StrictCharField(max_length=NAME_LENGTH)  # type: ignore[assignment]  # hides Field.label, which no field needs
    color = ColorField(required=False, allow_null=True)
    inverseId = OwnedField("people.RelationshipType", source="inverse", required=False, allow_null=True)
    inverseLabel = StrictCharField(max_length=NAME_LENGTH, required=False, allow_null=True, source="inverse_label")
    symmetric = StrictBooleanField(required=False)


class NewRelationshipTypeSerializer(RelationshipTypeSerializer):
    """The create body."""

    id = ClientIdField(required=False)


@extend_schema_serializer(component_name="Answer")  # a published name, which generated clients use
class SuggestionIdsSerializer(serializers.Serializer[Any]):
    """Ids of suggestions."""

    ids = serializers.ListField(child=StrictCharField(max_length=100, allow_blank=True), min_length=1, max_length=500)

    def validate_ids(self, ids: list[str]) -> list[UUID]:
        """The ids in the order of the body, without repetitions."""
        keys = [parse_id(key) for key in ids]
        unknown = {str(index): [NO_SUCH_RECORD] for index, key in enumerate(keys) if key is None}
        if unknown:
            raise InvalidError(unknown)
        return list(dict.fromkeys(key for key in keys if key))


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
    since=CharField(allow_null=True, help_text="`YYYY`, `YYYY-MM` or `YYYY-MM-DD`."),
    until=CharField(allow_null=True, help_text="As `since`."),
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
    isUser=BooleanField(help_text="The user: the node `user`, or the person that the profile names as `mePersonId`."),
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
