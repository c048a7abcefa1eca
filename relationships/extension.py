"""What relationships add to people: entries in responses, connectedThroughId, deletion of orphans, merging, imports."""

import datetime as dt
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q
from rest_framework.serializers import Field

from contacts_project.kernel.api.fields import OwnedIdField, OwnedIdsField, StrictBooleanField
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.json import JsonMapping, JsonObject
from contacts_project.kernel.texts import define_text
from people.extensions import ImportedRelationship, PersonExtension, RelationshipTypeSpec
from people.models import Person
from relationships.api.serializers import RelationshipResponseSerializer
from relationships.models import Relationship
from relationships.orphans import find_orphans
from relationships.projection import relationships_json_by_person
from relationships.services.merge import (
    empty_filled,
    merge_relationships,
    relationships_of,
    remove_answered_suggestions,
    return_to_secondary,
)
from relationships.services.relationships import NO_INVERSE, add_relationships, create_relationship
from relationships.services.types import ensure_types, restore_deleted_types

_NOT_AN_ORPHAN = define_text("not_an_orphan", "This person would not become an orphan.")


class RelationshipsExtension(PersonExtension):
    name = "relationships"
    rows = staticmethod(relationships_json_by_person)

    def response_field(self) -> "Field[Any, Any, Any, Any]":
        return RelationshipResponseSerializer(many=True, read_only=True)

    def related_pairs(self, owner_id: UUID, today: dt.date) -> Iterable[tuple[UUID, UUID]]:
        rows = Relationship.objects.owned_by(owner_id).active().one_of_each_pair().lasting(today)
        return rows.values_list("person_id", "related_person_id").iterator(chunk_size=5000)

    def body_fields(self) -> dict[str, "Field[Any, Any, Any, Any]"]:
        options = {"source": "connected_through_id", "required": False, "allow_null": True, "write_only": True}
        return {"connectedThroughId": OwnedIdField("people.Person", **options)}

    def delete_fields(self) -> dict[str, "Field[Any, Any, Any, Any]"]:
        return {
            "deleteOrphans": StrictBooleanField(source="delete_orphans", required=False),
            "orphanIds": OwnedIdsField("people.Person", source="orphan_ids", required=False, allow_null=True),
        }

    def check_create(self, owner_id: UUID, data: JsonObject) -> None:
        """With connectedThroughId, relationshipToUserId is the type of the relationship to that person."""
        if through_id := data.get("connected_through_id"):
            # Checked again under the lock: another request may have deleted the person since the body was validated.
            if not Person.objects.active_ids(owner_id, [through_id]):
                raise FieldError("connectedThroughId", NO_SUCH_RECORD)
            # Removed from `data`, so that the new person has no relationship to the user.
            data["connected_as"] = relationship_type = data.pop("relationship_to_user", None)
            if relationship_type and relationship_type.inverse_id is None:
                # `create_relationship` refuses it too, but names the field relationshipTypeId, which this body lacks.
                raise FieldError("relationshipToUserId", NO_INVERSE)

    def after_create(self, person: Person, data: JsonMapping) -> None:
        if through_id := data.get("connected_through_id"):
            create_relationship(
                owner=person.owner,
                person_id=person.pk,
                related_person_id=through_id,
                type_id=data["connected_as"].pk if data["connected_as"] else None,
                now=person.created_at,
            )

    def before_delete(self, owner_id: UUID, person_ids: Collection[UUID], options: JsonMapping) -> Collection[UUID]:
        """All orphans, or those in `orphan_ids`; none without `delete_orphans`. Raises FieldError for anybody else."""
        if not options.get("delete_orphans"):
            return ()
        orphans = {UUID(orphan) for orphan in find_orphans(owner_id, person_ids)}
        named: list[UUID] | None = options.get("orphan_ids")
        if named is None:
            return orphans
        for index, person_id in enumerate(named):
            if person_id not in orphans:
                raise FieldError(f"orphanIds.{index}", _NOT_AN_ORPHAN)
        return named

    def after_restore(self, person: Person, now: dt.datetime) -> None:
        # An active person must not have a type that is in the trash.
        restore_deleted_types(person.owner_id, [person.relationship_to_user_id], now)

    def mark_related_changed(self, owner_id: UUID, person_ids: Collection[UUID]) -> None:
        relationships_of(owner_id, person_ids).update()

    def merge(self, primary: Person, secondary: Person, now: dt.datetime) -> JsonObject:
        return merge_relationships(primary, secondary)

    def undo_merge(self, primary: Person, secondary: Person, image: JsonObject | list[JsonObject]) -> None:
        # Merges by versions without answered suggestions stored the list of rows alone, and can still be undone.
        parts = image if isinstance(image, dict) else {"rows": image, "answers": []}
        return_to_secondary(primary, secondary, parts["rows"])
        remove_answered_suggestions(primary.owner_id, parts["answers"])
        empty_filled(primary.owner_id, parts.get("filled", []))

    def ensure_relationship_types(self, owner_id: UUID, specs: Sequence[RelationshipTypeSpec]) -> Mapping[str, UUID]:
        return ensure_types(owner_id, specs)

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
        unedited = [key for key, revision in rows.values_list("pk", "revision") if revision in own_revisions]
        rows.filter(pk__in=unedited).update(deleted_at=now, updated_at=now)
