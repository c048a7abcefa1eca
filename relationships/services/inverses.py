"""Which inverse a type is to have, and what a change of it does to the relationships of the type."""

import datetime as dt
from enum import Enum
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from contacts_project.api.errors import FieldError
from contacts_project.api.ids import new_id
from people.models import Person
from relationships.models import Relationship, RelationshipQuerySet, RelationshipType


class Inverse(Enum):
    """What the inverse inputs of a body ask for."""

    AS_IT_IS = 1
    ITSELF = 2
    NEW = 3


def wanted_inverse(row: RelationshipType | None, data: dict[str, Any]) -> Inverse:
    """What `data` asks for; `row` is None for a type still to be made. Raises FieldError for a half type.

    Every type is whole, so an existing one is free to become an inverse only where it already is the inverse of `row`.
    """
    given: RelationshipType | None = data.get("inverse")
    label: str | None = data.get("inverse_label")
    if data.get("symmetric"):
        if label or given not in {None, row}:
            raise FieldError("symmetric", "A symmetric type is its own inverse: give no other.")
        return Inverse.ITSELF
    ceases_to_be_symmetric = row is None or (row.symmetric and data.get("symmetric") is False)
    if given:
        if row is None or ceases_to_be_symmetric or given.pk != row.inverse_id:
            raise FieldError("inverseId", _why_not(given, row))
        return Inverse.AS_IT_IS
    if label:
        is_named_so = row is not None and not row.symmetric and row.inverse.label == label
        return Inverse.AS_IT_IS if is_named_so else Inverse.NEW
    if ceases_to_be_symmetric:
        raise FieldError("inverseLabel", "A type that is not symmetric needs an inverse: inverseId or inverseLabel.")
    return Inverse.AS_IT_IS


def _why_not(given: RelationshipType, row: RelationshipType | None) -> str:
    if given == row:
        return "A type that is not symmetric cannot be its own inverse."
    if given.symmetric:
        return "That type is symmetric: it is its own inverse."
    return "That type already has another inverse."


def make_symmetric(row: RelationshipType, now: dt.datetime) -> None:
    """`row` becomes its own inverse, and so its relationships read the same from both ends."""
    former = row.inverse
    if former == row:
        return
    _check_mergeable(row, former)
    _of_type(former).update(relationship_type=row, updated_at=now)
    # No two types may name the same inverse, not even between two statements: step aside first.
    _types(row).filter(pk=row.pk).update(inverse_id=new_id())
    _release(former, now)
    _types(row).filter(pk=row.pk).update(inverse=row, updated_at=now)
    row.inverse = row


def give_inverse(row: RelationshipType, inverse: RelationshipType, now: dt.datetime) -> None:
    """`inverse`, not stored yet, becomes the other end of `row`; the relationships that have `row` follow."""
    former = row.inverse
    ways_back = _of_type(former)
    if former == row:
        ways_back = ways_back.filter(pk__gt=F("inverse"))
    moved = list(ways_back.values_list("pk", flat=True))
    _types(row).filter(pk=row.pk).update(inverse_id=inverse.pk, updated_at=now)
    if former != row:
        _release(former, now)
    inverse.save(force_insert=True)
    _of_type(former).filter(pk__in=moved).update(relationship_type=inverse, updated_at=now)
    row.inverse = inverse


def _release(former: RelationshipType, now: dt.datetime) -> None:
    """What was an inverse becomes whole by itself, and goes to the trash unless somebody relates to the user by it."""
    to_user = Person.objects.owned_by(former.owner_id).active().filter(relationship_to_user=former)
    gone_at = None if to_user.exists() else now
    _types(former).filter(pk=former.pk).update(inverse=former, deleted_at=gone_at, updated_at=now)


def _check_mergeable(row: RelationshipType, former: RelationshipType) -> None:
    """Raise where two people have `row` both ways: once symmetric, that would be the same relationship twice."""
    both = _of_type(former).active().filter(person=OuterRef("person"), related_person=OuterRef("related_person"))
    if _of_type(row).active().filter(Exists(both)).exists():
        raise FieldError("symmetric", "Two people are related by this type and by its inverse as well.")


def _types(row: RelationshipType) -> QuerySet[RelationshipType]:
    return RelationshipType.objects.owned_by(row.owner_id)


def _of_type(row: RelationshipType) -> RelationshipQuerySet:
    return Relationship.objects.owned_by(row.owner_id).filter(relationship_type=row)
