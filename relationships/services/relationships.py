"""Writes of relationships. Each write changes both rows of a pair in one transaction."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.database.expressions import IdHex, TimestampText, text_value
from contacts_project.kernel.errors import NO_SUCH_RECORD, DomainError, FieldError, MissingError, NotDeletedError
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claim_ids
from contacts_project.kernel.texts import define_text
from people.extensions import ImportedRelationship
from people.models import Person, RelationshipType
from relationships.models import Relationship, RelationshipQuerySet, is_in_order
from relationships.services.types import restore_deleted_types

_SELF = define_text("relationship_with_itself", "A person has no relationship with itself.")

ENDS_BEFORE = define_text("ends_before_it_begins", "This must not be before `since`.")
#: What both rows of a pair say alike. `since` and `until` are `YYYY`, `YYYY-MM` or `YYYY-MM-DD`.
CONTENT = ("notes", "since", "until")

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
    type_id: UUID | None,
    now: dt.datetime,
    content: Mapping[str, str | None] | None = None,
    relationship_id: UUID | None = None,
) -> Relationship:
    """Make the person a relative of this type of the related person, and insert the inverse.

    The three ids are looked up here, among the active rows of the account. `relationship_id` is the id that the client
    chose for the row of the person; the inverse row gets a new one. `content` has any of CONTENT. Raises FieldError,
    IdTakenError.
    """
    with account_write(owner):
        state = _load_pair_state(owner.pk, person_id, related_person_id, type_id)
        for field, key in (("personId", person_id), ("relatedPersonId", related_person_id)):
            if key not in state.people:
                raise FieldError(field, NO_SUCH_RECORD)
        if person_id == related_person_id:
            raise FieldError("relatedPersonId", _SELF)
        row, inverse = build_pair(owner.pk, person_id, related_person_id, now=now)
        row.relationship_type_id, inverse.relationship_type_id = type_id, _inverse_type_id(owner, state, type_id, now)
        _set_content(row, inverse, content or {})
        if relationship_id:
            # Before the next check: a client that repeats its request is to hear that the record is there.
            claim_ids([relationship_id])
            row.pk = inverse.inverse_id = relationship_id
        _check_unique(row, state)
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
    return Relationship.objects.owned_by(owner).visible().select_related("inverse").find(relationship_id)


def update_relationship(*, owner: User, row: Relationship, data: JsonObject, now: dt.datetime) -> None:
    """Change the type, notes, `since` and `until` that `data` contains, and the inverse row to match.

    `row` is from find_relationship and was read after `owner`. Raises FieldError, MissingError.
    """
    with account_write(owner) as write:
        if not write.is_fresh:
            row = find_relationship(owner, row.pk)
        inverse = row.inverse
        columns = ["updated_at", *_set_content(row, inverse, {name: data[name] for name in CONTENT if name in data})]
        row.updated_at = inverse.updated_at = now
        if "type_id" in data:
            columns.append("relationship_type")
            row.relationship_type_id = data["type_id"]
            state = _load_pair_state(owner.pk, row.person_id, row.related_person_id, row.relationship_type_id)
            inverse.relationship_type_id = _inverse_type_id(owner, state, row.relationship_type_id, now)
            _check_unique(row, state)
        Relationship.objects.bulk_update([row, inverse], columns)


def _set_content(row: Relationship, inverse: Relationship, content: Mapping[str, str | None]) -> Iterable[str]:
    """Returns the columns. Raises FieldError if the relationship would end before it begins."""
    for column, value in content.items():
        setattr(row, column, value)
        setattr(inverse, column, value)
    if not is_in_order(row.since, row.until):
        raise FieldError("until", ENDS_BEFORE)
    return content.keys()


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
        _check_unique(row, _load_pair_state(owner.pk, row.person_id, row.related_person_id, None))
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


class _PairState(NamedTuple):
    """What decides whether two people may have a relationship of a type."""

    people: set[UUID]
    """Those of the two who are active."""
    types: list[tuple[UUID | None, bool]]
    """If the type is active, its inverse, and whether that is in the trash."""
    relationships: list[tuple[UUID, UUID | None]]
    """The active relationships of the one with the other, each with its type."""


def _load_pair_state(owner_id: UUID, person_id: UUID, related_person_id: UUID, type_id: UUID | None) -> _PairState:
    """Read all of it by one statement. Must be called inside `account_write`, so that it stays true."""
    state = _PairState(set(), [], [])
    people = Person.objects.owned_by(owner_id).active().filter(pk__in=[person_id, related_person_id])
    types = RelationshipType.objects.owned_by(owner_id).active().filter(pk=type_id or UUID(int=0))
    relationships = Relationship.objects.owned_by(owner_id).active()
    rows = people.values_list(text_value(_PERSON), IdHex("pk"), text_value("")).union(
        types.values_list(text_value(_TYPE), IdHex("inverse_id"), TimestampText("inverse__deleted_at")),
        relationships.filter(person=person_id, related_person=related_person_id).values_list(
            text_value(_RELATIONSHIP), IdHex("pk"), IdHex("relationship_type_id")
        ),
        all=True,
    )
    for kind, key, other in rows:
        if kind == _PERSON:
            state.people.add(UUID(key))
        elif kind == _TYPE:
            state.types.append((key and UUID(key), other is not None))
        else:
            state.relationships.append((UUID(key), other and UUID(other)))
    return state


_PERSON, _TYPE, _RELATIONSHIP = "person", "type", "relationship"


def _inverse_type_id(owner: User, state: _PairState, type_id: UUID | None, now: dt.datetime) -> UUID | None:
    """The id of the inverse of a type, None without a type. Takes the inverse out of the trash if it is there."""
    if type_id is None:
        return None
    if not state.types:
        raise FieldError("relationshipTypeId", NO_SUCH_RECORD)
    [(inverse_id, is_deleted)] = state.types
    if inverse_id is None:
        raise FieldError("relationshipTypeId", NO_INVERSE)
    if is_deleted:
        restore_deleted_types(owner.pk, [inverse_id], now)
    return inverse_id


def _check_unique(row: Relationship, state: _PairState) -> None:
    """Raise FieldError if another active row has the same two people and type."""
    # A unique constraint refuses it too, but only with an error that names no field.
    if any(key != row.pk and type_id == row.relationship_type_id for key, type_id in state.relationships):
        raise FieldError("relationshipTypeId", DUPLICATE)


def add_relationships(
    owner_id: UUID, relationships: Sequence[ImportedRelationship], now: dt.datetime
) -> Collection[UUID]:
    """Insert the pairs that do not exist yet. Returns the ids of their rows in the direction of `relationships`."""
    people = {relationship.person_id for relationship in relationships}
    type_ids = {relationship.type_id for relationship in relationships if relationship.type_id}
    types = RelationshipType.objects.owned_by(owner_id).active().filter(pk__in=type_ids)
    inverses: dict[UUID | None, UUID | None] = dict(types.values_list("pk", "inverse_id"))
    active = Relationship.objects.owned_by(owner_id).active().filter(person__in=people)
    existing: set[tuple[UUID, UUID, UUID | None]] = set(
        active.values_list("person_id", "related_person_id", "relationship_type_id")
    )
    rows: list[Relationship] = []
    new_ids: list[UUID] = []
    for relationship in relationships:
        # A type without an inverse cannot be used: the inverse row would have no type.
        inverse_type_id = inverses.get(relationship.type_id)
        type_id = relationship.type_id if inverse_type_id else None
        if (relationship.person_id, relationship.related_id, type_id) in existing:
            continue
        row, inverse = build_pair(owner_id, relationship.person_id, relationship.related_id, now=now)
        row.relationship_type_id, inverse.relationship_type_id = type_id, inverse_type_id
        row.notes = inverse.notes = relationship.notes
        existing |= {
            (relationship.person_id, relationship.related_id, type_id),
            (relationship.related_id, relationship.person_id, inverse_type_id),
        }
        rows += [row, inverse]
        new_ids.append(row.pk)
    Relationship.objects.bulk_create(rows)
    return new_ids
