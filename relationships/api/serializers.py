"""Bodies that the routes of relationships take, strict and owner-scoped."""

from typing import Any

from rest_framework import serializers

from contacts_project.kernel.api.fields import Color, OwnedField, Text, Truth
from relationships.services.type_names import NAME_LENGTH, type_name


class RelationshipUpdateSerializer(serializers.Serializer[Any]):
    relationshipTypeId = OwnedField(
        "relationships.RelationshipType", source="relationship_type", required=False, allow_null=True
    )
    notes = Text(1000)


class RelationshipCreateSerializer(RelationshipUpdateSerializer):
    personId = OwnedField("people.Person", source="person")
    relatedPersonId = OwnedField("people.Person", source="related_person")


class TypeName(Text):
    """A name of a type, in the form in which it is stored."""

    def to_internal_value(self, data: Any) -> str | None:
        name = type_name(super().to_internal_value(data) or "")
        if len(name) > self.max_length:
            raise serializers.ValidationError(f"At most {self.max_length} characters in upper case.")
        return name


class RelationshipTypeSerializer(serializers.Serializer[Any]):
    """The create body, and with `partial` the update body."""

    name = TypeName(NAME_LENGTH, required=True)
    label = Text(NAME_LENGTH, required=True)  # type: ignore[assignment]  # hides Field.label, which no field needs
    color = Color(required=False, allow_null=True)
    inverseId = OwnedField("relationships.RelationshipType", source="inverse", required=False, allow_null=True)
    inverseLabel = Text(NAME_LENGTH, source="inverse_label")
    symmetric = Truth(required=False)
