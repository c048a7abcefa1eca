"""What relationships add to a person: rows in the answer, connectedThroughId, orphans on deletion."""

import datetime as dt
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q
from rest_framework.serializers import Field

from contacts_project.kernel.api.fields import OwnedField, OwnedIdsField, StrictBooleanField
from contacts_project.kernel.errors import UNKNOWN_ID, FieldError
from people.extensions import ImportedRelationship, PersonExtension, RelationshipTypeSpec
from people.models import Person
from relationships.api.answers import RelationshipAnswer
from relationships.models import Relationship
from relationships.projection import relationships_json_by_person
from relationships.services.imported import add_relationships, ensure_types
from relationships.services.merge import (
    copy_answered_suggestions,
    move_to_primary,
    remove_answered_suggestions,
    return_to_secondary,
)
from relationships.services.orphans import orphans_to_delete
from relationships.services.relationships import NO_INVERSE, create_relationship
from relationships.services.types import restore_deleted_types


class RelationshipsExtension(PersonExtension):
    name = "relationships"
    rows = staticmethod(relationships_json_by_person)

    def answer_field(self) -> "Field[Any, Any, Any, Any]":
        return RelationshipAnswer(many=True, read_only=True)

    def body_fields(self) -> dict[str, "Field[Any, Any, Any, Any]"]:
        through = {"source": "connected_through", "required": False, "allow_null": True, "write_only": True}
        return {"connectedThroughId": OwnedField("people.Person", **through)}

    def delete_fields(self) -> dict[str, "Field[Any, Any, Any, Any]"]:
        return {
            "deleteOrphans": StrictBooleanField(source="delete_orphans", required=False),
            "orphanIds": OwnedIdsField("people.Person", source="orphan_ids", required=False, allow_null=True),
        }

    def check_create(self, data: dict[str, Any]) -> None:
        """With connectedThroughId, relationshipToUserId is the type of the relationship to that person."""
        if through := data.get("connected_through"):
            if not Person.objects.owned_by(through.owner_id).active().filter(pk=through.pk).exists():
                raise FieldError("connectedThroughId", UNKNOWN_ID)
            data["connected_as"] = kind = data.pop("relationship_to_user", None)
            if kind and kind.inverse_id is None:
                raise FieldError("relationshipToUserId", NO_INVERSE)

    def created(self, person: Person, data: Mapping[str, Any]) -> None:
        if through := data.get("connected_through"):
            create_relationship(
                owner=person.owner,
                person=person,
                related_person=through,
                relationship_type=data["connected_as"],
                notes=None,
                now=person.created_at,
            )

    def deleting(self, owner_id: UUID, person_ids: Collection[UUID], options: Mapping[str, Any]) -> Collection[UUID]:
        return orphans_to_delete(owner_id, person_ids, options)

    def restored(self, person: Person, now: dt.datetime) -> None:
        """What the person is to the user comes back with the person."""
        restore_deleted_types(person.owner_id, [person.relationship_to_user_id], now)

    def mark_related_changed(self, owner_id: UUID, person_ids: Collection[UUID]) -> None:
        theirs = Q(person__in=person_ids) | Q(related_person__in=person_ids)
        Relationship.objects.owned_by(owner_id).active().filter(theirs).mark_changed()

    def merging(self, primary: Person, secondary: Person, now: dt.datetime) -> Any:
        return {"rows": move_to_primary(primary, secondary), "answers": copy_answered_suggestions(primary, secondary)}

    def unmerging(self, primary: Person, secondary: Person, image: Any) -> None:
        parts = image if isinstance(image, dict) else {"rows": image, "answers": []}  # of older versions
        return_to_secondary(primary, secondary, parts["rows"])
        remove_answered_suggestions(primary.owner_id, parts["answers"])

    def ensure_relationship_types(self, owner_id: UUID, wanted: Sequence[RelationshipTypeSpec]) -> Mapping[str, UUID]:
        return ensure_types(owner_id, wanted)

    def add_relationships(
        self, owner_id: UUID, relationships: Sequence[ImportedRelationship], now: dt.datetime
    ) -> Collection[UUID]:
        return add_relationships(owner_id, relationships, now)

    def relationships_changed_since(
        self, owner_id: UUID, person_ids: Collection[UUID], revision: int
    ) -> Iterable[tuple[UUID, int]]:
        rows = Relationship.objects.owned_by(owner_id).visible().filter(person__in=person_ids, revision__gt=revision)
        return list(rows.values_list("person_id", "revision"))

    def delete_relationships(
        self, owner_id: UUID, relationship_ids: Collection[UUID], own_revisions: Container[int], now: dt.datetime
    ) -> None:
        rows = (
            Relationship.objects.owned_by(owner_id)
            .active()
            .filter(Q(pk__in=relationship_ids) | Q(inverse__in=relationship_ids))
        )
        mine = [key for key, revision in rows.values_list("pk", "revision") if revision in own_revisions]
        rows.filter(pk__in=mine).update(deleted_at=now, updated_at=now)
