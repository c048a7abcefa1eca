"""Writes of relationships. Each write changes both rows of a pair in one transaction."""

import datetime as dt
from collections.abc import Collection
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.database.ids import IdHex
from contacts_project.kernel.errors import NO_SUCH_RECORD, DomainError, FieldError, MissingError, NotDeletedError
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claim_ids
from contacts_project.kernel.texts import define_text
from people.models import Person, RelationshipType
from relationships.models import Relationship, RelationshipQuerySet
from relationships.services.types import restore_deleted_types

_SELF = define_text("relationship_with_itself", "A person has no relationship with itself.")

DUPLICATE = define_text("duplicate_relationship", "These two people already have an active relationship of this type.")
NO_INVERSE = define_text("inverse_lost", "This type has lost its inverse: give it another, or make it symmetric.")


class PersonDeletedError(DomainError):
    """The relationship cannot be restored while one of its people is in the trash."""

    message = define_text("person_deleted", "One of the two people is deleted: restore them first.")


def create_relationship(
    *,
    owner: User,
    person_id: UUID,
    related_person_id: UUID,
    relationship_type: RelationshipType | None,
    notes: str | None,
    now: dt.datetime,
    relationship_id: UUID | None = None,
) -> Relationship:
    """Make the person a `relationship_type` of the related person, and insert the inverse.

    `relationship_id` is the id that the client chose for the row of the person; the inverse row gets a new one.
    Raises FieldError, IdTakenError.
    """
    if person_id == related_person_id:
        raise FieldError("relatedPersonId", _SELF)
    with account_write(owner) as write:
        if not write.is_fresh:
            # Another write may have deleted one of them since the body was validated.
            _check_active(owner, person_id, related_person_id)
        inverse_type_id = _inverse_type_id(owner, relationship_type, now)
        row, inverse = build_pair(owner.pk, person_id, related_person_id, now=now)
        if relationship_id:
            claim_ids([relationship_id])
            row.pk = inverse.inverse_id = relationship_id
        row.relationship_type, inverse.relationship_type_id = relationship_type, inverse_type_id
        row.notes = inverse.notes = notes
        _check_unique(row)
        Relationship.objects.bulk_create([row, inverse])
    return row


def build_pair(
    owner_id: UUID, person_id: UUID, related_person_id: UUID, *, now: dt.datetime
) -> tuple[Relationship, Relationship]:
    """Two unsaved rows, each the inverse of the other, without type and notes."""
    # In this order: the smaller id marks the row that has the direction in which the user entered the relationship.
    row_id, inverse_id = new_id(), new_id()
    common = {"owner_id": owner_id, "created_at": now}
    return (
        Relationship(
            id=row_id, inverse_id=inverse_id, person_id=person_id, related_person_id=related_person_id, **common
        ),
        Relationship(
            id=inverse_id, inverse_id=row_id, person_id=related_person_id, related_person_id=person_id, **common
        ),
    )


def find_relationship(owner: User, relationship_id: UUID) -> Relationship:
    """An active relationship between active people, with its inverse. Raises MissingError."""
    row: Relationship = _visible.find(owner_id=owner.pk, relationship_id=relationship_id)
    return row


@compiled_query
def _visible(owner_id: UUID, relationship_id: UUID) -> Rows:
    return Relationship.objects.owned_by(owner_id).visible().select_related("inverse").filter(pk=relationship_id)


def update_relationship(*, owner: User, row: Relationship, data: JsonObject, now: dt.datetime) -> None:
    """Change the type and notes that `data` contains, and the inverse row to match.

    `row` is from find_relationship and was read after `owner`. Raises FieldError, MissingError.
    """
    with account_write(owner) as write:
        if not write.is_fresh:
            row = find_relationship(owner, row.pk)
        inverse = row.inverse
        columns = ["updated_at", *data.keys() & {"notes", "relationship_type"}]
        row.updated_at = inverse.updated_at = now
        if "notes" in data:
            row.notes = inverse.notes = data["notes"]
        if "relationship_type" in data:
            row.relationship_type = data["relationship_type"]
            inverse.relationship_type_id = _inverse_type_id(owner, row.relationship_type, now)
            _check_unique(row)
        Relationship.objects.bulk_update([row, inverse], columns)


def delete_relationship(*, owner: User, relationship_id: UUID, now: dt.datetime) -> None:
    """Soft-delete the pair."""
    with account_write(owner):
        row = find_relationship(owner, relationship_id)
        _pair(row).update(deleted_at=now, updated_at=now)


def restore_relationship(*, owner: User, relationship_id: UUID, now: dt.datetime) -> Relationship:
    """Take the pair out of the trash, and its types if they are there too.

    Raises NotDeletedError, PersonDeletedError, or FieldError if the same relationship was created again meanwhile.
    """
    with account_write(owner):
        row = _find_deleted(owner, relationship_id, now)
        if row.person.is_deleted or row.related_person.is_deleted:
            raise PersonDeletedError
        _check_unique(row)
        restore_deleted_types(owner.pk, [row.relationship_type_id, row.inverse.relationship_type_id], now)
        _pair(row).update(deleted_at=None, updated_at=now)
    return row


def remove_relationship(*, owner: User, relationship_id: UUID, now: dt.datetime) -> None:
    """Permanently delete a pair that is in the trash. Raises NotDeletedError."""
    with account_write(owner):
        remove_relationships(owner.pk, [_find_deleted(owner, relationship_id, now).pk])


def remove_relationships(owner_id: UUID, relationship_ids: Collection[UUID]) -> list[str]:
    """Permanently delete pairs that are in the trash, in the caller's transaction.

    Returns the files to delete with them: none.
    """
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
    # As for every other route: an active relationship is hidden while one of its people is in the trash.
    if row.person.is_deleted or row.related_person.is_deleted:
        raise MissingError
    raise NotDeletedError


def _pair(row: Relationship) -> RelationshipQuerySet:
    return Relationship.objects.owned_by(row.owner_id).filter(pk__in=[row.pk, row.inverse_id])


def _check_active(owner: User, person_id: UUID, related_person_id: UUID) -> None:
    """Raise FieldError unless both people are active."""
    fields = {person_id: "personId", related_person_id: "relatedPersonId"}
    active = {UUID(key) for (key,) in Person.objects.active_ids.rows(owner_id=owner.pk, row_ids=list(fields))}
    for key in fields.keys() - active:
        raise FieldError(fields[key], NO_SUCH_RECORD)


def _inverse_type_id(owner: User, relationship_type: RelationshipType | None, now: dt.datetime) -> UUID | None:
    """The id of the inverse of a type, None without a type. Takes the inverse out of the trash if it is there.

    Reads the type again, since the caller's instance was loaded before the account was locked.
    """
    if relationship_type is None:
        return None
    rows = _inverse_of_type.values(owner_id=owner.pk, type_id=relationship_type.pk)
    if not rows:
        raise FieldError("relationshipTypeId", NO_SUCH_RECORD)
    inverse_id: UUID | None
    inverse_id, inverse_deleted_at = rows[0]
    if inverse_id is None:
        raise FieldError("relationshipTypeId", NO_INVERSE)
    if inverse_deleted_at is not None:
        restore_deleted_types(owner.pk, [inverse_id], now)
    return inverse_id


@compiled_query
def _inverse_of_type(owner_id: UUID, type_id: UUID) -> Rows:
    return (
        RelationshipType.objects.owned_by(owner_id)
        .active()
        .filter(pk=type_id)
        .values_list("inverse_id", "inverse__deleted_at")
    )


def _check_unique(row: Relationship) -> None:
    """Raise FieldError if another active row has the same two people and type."""
    # A unique constraint refuses it too, but only with an error that names no field.
    type_key = row.relationship_type_id and row.relationship_type_id.hex
    rows = _between_two_people.rows(
        owner_id=row.owner_id, person_id=row.person_id, related_person_id=row.related_person_id
    )
    if any(key != row.pk.hex and other_type_key == type_key for key, other_type_key in rows):
        raise FieldError("relationshipTypeId", DUPLICATE)


@compiled_query
def _between_two_people(owner_id: UUID, person_id: UUID, related_person_id: UUID) -> Rows:
    return (
        Relationship.objects.owned_by(owner_id)
        .active()
        .filter(person=person_id, related_person=related_person_id)
        .values_list(IdHex("pk"), IdHex("relationship_type_id"))
    )
