"""Which inverse a type is to have, and what a change of it does to the relationships of the type."""

import datetime as dt
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef

from contacts_project.kernel.errors import UNKNOWN_ID, FieldError
from contacts_project.kernel.ownership.models import TrashQuerySet
from people.models import Person, RelationshipType
from people.palette import pick_color
from relationships.models import Relationship, RelationshipQuerySet
from relationships.services.type_names import NAME_LENGTH, free_name, taken_names, type_name


def set_inverse(row: RelationshipType, data: dict[str, Any], now: dt.datetime, *, is_new: bool = False) -> None:
    """Give `row` the inverse that the body `data` asks for, if any; relationships follow. Raises FieldError."""
    given: RelationshipType | None = data.get("inverse")
    label: str | None = data.get("inverse_label")
    if data.get("symmetric"):
        if label or given not in {None, row}:
            raise FieldError("symmetric", "A symmetric type is its own inverse: give no other.")
        _make_symmetric(row, now)
        return
    needs_one = is_new or (row.symmetric and data.get("symmetric") is False)
    if given:
        if needs_one or given.pk != row.inverse_id:
            _pair_types(row, _assignable_inverse(given, row), now)
    elif label:
        if not _has_inverse_labelled(row, label):
            _pair_types(row, _make_inverse(row, label), now)
    elif needs_one:
        raise FieldError("inverseLabel", "A type that is not symmetric needs an inverse: inverseId or inverseLabel.")


def _assignable_inverse(given: RelationshipType, row: RelationshipType) -> RelationshipType:
    """The type that a body names, as it is now, under this lock. Raises FieldError unless it can be the inverse."""
    found: RelationshipType | None = _types(row).active().select_related("inverse").filter(pk=given.pk).first()
    if found is None:
        raise FieldError("inverseId", UNKNOWN_ID)
    if found == row:
        raise FieldError("inverseId", "A type that is not symmetric cannot be its own inverse.")
    if found.symmetric:
        raise FieldError("inverseId", "That type is symmetric: it is its own inverse.")
    if found.active_inverse:
        raise FieldError("inverseId", "That type already has another inverse.")
    return found


def _has_inverse_labelled(row: RelationshipType, label: str) -> bool:
    inverse = row.active_inverse
    return inverse is not None and inverse != row and inverse.label == label


def _make_inverse(row: RelationshipType, label: str) -> RelationshipType:
    """A type to be the other end of `row`. Its name is made from the label, with a number where that is taken."""
    name = free_name(type_name(label)[:NAME_LENGTH], taken_names(row.owner_id))
    return RelationshipType.objects.create(owner_id=row.owner_id, name=name, label=label, color=pick_color(name))


def _make_symmetric(row: RelationshipType, now: dt.datetime) -> None:
    """`row` becomes its own inverse, and so its relationships read the same from both ends."""
    former = row.inverse
    if former == row:
        return
    if former:
        _check_mergeable(row, former)
        _retype(row, _inverse_rows(row), row, now)
        _release(former, now)
    _store_inverse(row, row, now)


def _pair_types(row: RelationshipType, inverse: RelationshipType, now: dt.datetime) -> None:
    """The two become each other's inverse. What either had before is released, and its relationships follow."""
    ends = ((row, inverse), (inverse, row))
    for (end, other), rows in [(pair, _inverse_rows(pair[0])) for pair in ends]:
        _retype(end, rows, other, now)
        if end.inverse and end.inverse != end:
            _release(end.inverse, now)
    for end, other in ends:
        _store_inverse(end, other, now)


def _inverse_rows(row: RelationshipType) -> list[UUID]:
    """The other rows of the pairs that have `row`; of a symmetric type the row that was made second."""
    if row.inverse is None:
        return []
    rows = _of_type(row.inverse)
    if row.symmetric:
        rows = rows.filter(pk__gt=F("inverse"))
    return list(rows.values_list("pk", flat=True))


def _retype(row: RelationshipType, keys: Collection[UUID], to: RelationshipType, now: dt.datetime) -> None:
    if keys:
        relationships = Relationship.objects.owned_by(row.owner_id).filter(pk__in=keys)
        relationships.update(relationship_type=to, updated_at=now)


def _store_inverse(row: RelationshipType, inverse: RelationshipType, now: dt.datetime) -> None:
    _types(row).filter(pk=row.pk).update(inverse=inverse, updated_at=now)
    row.inverse = inverse


def _release(former: RelationshipType, now: dt.datetime) -> None:
    """What was an inverse goes to the trash without one, but stays where somebody relates to the user by it."""
    to_user = Person.objects.owned_by(former.owner_id).active().filter(relationship_to_user=former)
    gone_at = former.deleted_at or (None if to_user.exists() else now)
    _types(former).filter(pk=former.pk).update(inverse=None, deleted_at=gone_at, updated_at=now)


def _check_mergeable(row: RelationshipType, former: RelationshipType) -> None:
    """Raise where two people have `row` both ways: once symmetric, that would be the same relationship twice."""
    both = _of_type(former).active().filter(person=OuterRef("person"), related_person=OuterRef("related_person"))
    if _of_type(row).active().filter(Exists(both)).exists():
        raise FieldError("symmetric", "Two people are related by this type and by its inverse as well.")


def _types(row: RelationshipType) -> TrashQuerySet[RelationshipType]:
    return RelationshipType.objects.owned_by(row.owner_id)


def _of_type(row: RelationshipType) -> RelationshipQuerySet:
    return Relationship.objects.owned_by(row.owner_id).filter(relationship_type=row)
