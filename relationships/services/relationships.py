"""Writes of relationships. Each acts on both rows of a pair, in one transaction."""

import datetime as dt
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.api.ids import IdHex, new_id
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import UNKNOWN_ID, DomainError, FieldError, MissingError, NotDeletedError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claim_ids
from people.models import Person, RelationshipType
from relationships.models import Relationship, RelationshipQuerySet
from relationships.services.types import revive_types

TWICE = "These two people already have an active relationship of this type."
NO_WAY_BACK = "This type has lost its inverse: give it another, or make it symmetric."


class PersonDeletedError(DomainError):
    """A relationship cannot come back while one of its people is in the trash."""

    message = "One of the two people is deleted: restore them first."


def create_relationship(
    *,
    owner: User,
    person: Person,
    related_person: Person,
    relationship_type: RelationshipType | None,
    notes: str | None,
    now: dt.datetime,
    relationship_id: UUID | None = None,
) -> Relationship:
    """`person` becomes `relationship_type` of `related_person`, and the way back. Raises FieldError, IdTakenError.

    `relationship_id`: what the client has made for the row of `person`.
    """
    if person.pk == related_person.pk:
        raise FieldError("relatedPersonId", "A person has no relationship with itself.")
    with account_write(owner) as write:
        if not write.is_fresh:
            _check_current(owner, person, related_person)
        inverse_type_id = _inverse_of(owner, relationship_type, now)
        row, inverse = new_pair(owner.pk, person.pk, related_person.pk, now=now)
        if relationship_id:
            claim_ids([relationship_id])
            row.pk = inverse.inverse_id = relationship_id
        row.relationship_type, inverse.relationship_type_id = relationship_type, inverse_type_id
        row.notes = inverse.notes = notes
        _check_once(row)
        Relationship.objects.bulk_create([row, inverse])
    return row


def new_pair(
    owner_id: UUID, person_id: UUID, related_person_id: UUID, *, now: dt.datetime
) -> tuple[Relationship, Relationship]:
    """Two rows that know each other, without type and notes, not stored yet."""
    there, back = new_id(), new_id()
    same = {"owner_id": owner_id, "created_at": now}
    return (
        Relationship(id=there, inverse_id=back, person_id=person_id, related_person_id=related_person_id, **same),
        Relationship(id=back, inverse_id=there, person_id=related_person_id, related_person_id=person_id, **same),
    )


def update_relationship(*, owner: User, relationship_id: UUID, data: dict[str, Any], now: dt.datetime) -> Relationship:
    """Change type and notes, as far as `data` has them; the inverse is made to match. Raises FieldError."""
    with account_write(owner):
        row = Relationship.objects.owned_by(owner).visible().select_related("inverse").find(relationship_id)
        inverse = row.inverse
        if "relationship_type" in data:
            inverse.relationship_type_id = _inverse_of(owner, data["relationship_type"], now)
            row.relationship_type = data["relationship_type"]
            _check_once(row)
        if "notes" in data:
            row.notes = inverse.notes = data["notes"]
        row.updated_at = inverse.updated_at = now
        Relationship.unscoped.bulk_update([row, inverse], ["relationship_type", "notes", "updated_at"])
    return row


def delete_relationship(*, owner: User, relationship_id: UUID, now: dt.datetime) -> None:
    """Soft-delete the pair."""
    with account_write(owner):
        row = Relationship.objects.owned_by(owner).visible().find(relationship_id)
        _pair(row).update(deleted_at=now, updated_at=now)


def restore_relationship(*, owner: User, relationship_id: UUID, now: dt.datetime) -> Relationship:
    """Take the pair out of the trash, and its type too where that is there.

    Raises NotDeletedError, PersonDeletedError, FieldError when the pair was made anew meanwhile.
    """
    with account_write(owner):
        row = _find_deleted(owner, relationship_id, now)
        if row.person.is_deleted or row.related_person.is_deleted:
            raise PersonDeletedError
        _check_once(row)
        revive_types(owner.pk, [row.relationship_type_id, row.inverse.relationship_type_id], now)
        _pair(row).update(deleted_at=None, updated_at=now)
    return row


def remove_relationship(*, owner: User, relationship_id: UUID, now: dt.datetime) -> None:
    """Remove a pair that is in the trash for good. Raises NotDeletedError."""
    with account_write(owner):
        remove_relationships(owner.pk, [_find_deleted(owner, relationship_id, now).pk])


def remove_relationships(owner_id: UUID, relationship_ids: Collection[UUID]) -> list[str]:
    """Remove pairs in the trash, in the caller's transaction; no files hang on them."""
    either_row = Q(pk__in=relationship_ids) | Q(inverse__in=relationship_ids)
    Relationship.objects.owned_by(owner_id).deleted().filter(either_row).delete()
    return []


def _find_deleted(owner: User, relationship_id: UUID, now: dt.datetime) -> Relationship:
    rows = (
        Relationship.objects.owned_by(owner).within_retention(now).select_related("person", "related_person", "inverse")
    )
    row = rows.find(relationship_id)
    if row.is_deleted:
        return row
    if row.person.is_deleted or row.related_person.is_deleted:
        raise MissingError
    raise NotDeletedError


def _pair(row: Relationship) -> RelationshipQuerySet:
    return Relationship.objects.owned_by(row.owner_id).filter(pk__in=[row.pk, row.inverse_id])


def _check_current(owner: User, person: Person, related_person: Person) -> None:
    """Raise unless both are active now, under this lock, whatever they were when the body was read."""
    ends = {person.pk: "personId", related_person.pk: "relatedPersonId"}
    there = set(Person.objects.owned_by(owner).active().filter(pk__in=ends).values_list("pk", flat=True))
    for person_id in ends.keys() - there:
        raise FieldError(ends[person_id], UNKNOWN_ID)


def _inverse_of(owner: User, relationship_type: RelationshipType | None, now: dt.datetime) -> UUID | None:
    """The type of the way back, as it is now, under this lock; out of the trash, where it is there."""
    if relationship_type is None:
        return None
    row: RelationshipType | None = _TYPE.instance(owner_id=owner.pk, type_id=relationship_type.pk)
    if row is None:
        raise FieldError("relationshipTypeId", UNKNOWN_ID)
    if row.inverse is None:
        raise FieldError("relationshipTypeId", NO_WAY_BACK)
    if row.inverse.is_deleted:
        revive_types(owner.pk, [row.inverse_id], now)
    return row.inverse_id


_TYPE = CompiledQuery(
    lambda owner_id, type_id: (
        RelationshipType.objects.owned_by(owner_id).active().select_related("inverse").filter(pk=type_id)
    )
)


def _check_once(row: Relationship) -> None:
    """Raise when another active row has the same two people and type. The database would refuse it too."""
    ends = {"person_id": row.person_id, "related_person_id": row.related_person_id}
    kind = row.relationship_type_id and row.relationship_type_id.hex
    if any(key != row.pk.hex and of == kind for key, of in _BETWEEN.rows(owner_id=row.owner_id, **ends)):
        raise FieldError("relationshipTypeId", TWICE)


_BETWEEN = CompiledQuery(
    lambda owner_id, person_id, related_person_id: (
        Relationship.objects.owned_by(owner_id)
        .active()
        .filter(person=person_id, related_person=related_person_id)
        .values_list(IdHex("pk"), IdHex("relationship_type_id"))
    )
)
