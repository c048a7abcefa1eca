"""Sets the inverse of a relationship type, and updates the relationships of the type to match."""

import datetime as dt
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef

from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.ownership.models import TrashQuerySet
from people.models import Person, RelationshipType
from people.palette import pick_color
from relationships.models import Relationship, RelationshipQuerySet
from relationships.services.type_names import NAME_LENGTH, normalize_type_name, taken_names, unique_name


def set_inverse(row: RelationshipType, data: dict[str, Any], now: dt.datetime, *, is_new: bool = False) -> None:
    """Give `row` the inverse that the body `data` asks for, if any, and update its relationships. Raises FieldError."""
    given: RelationshipType | None = data.get("inverse")
    label: str | None = data.get("inverse_label")
    if data.get("symmetric"):
        if label or given not in {None, row}:
            raise FieldError("symmetric", "A symmetric type is its own inverse: give no other.")
        _make_symmetric(row, now)
        return
    needs_inverse = is_new or (row.symmetric and data.get("symmetric") is False)
    if given:
        if needs_inverse or given.pk != row.inverse_id:
            _pair_types(row, _assignable_inverse(given, row), now)
    elif label:
        inverse = row.active_inverse
        if inverse is None or inverse == row or inverse.label != label:
            name = unique_name(normalize_type_name(label)[:NAME_LENGTH], taken_names(row.owner_id))
            inverse = RelationshipType.objects.create(
                owner_id=row.owner_id, name=name, label=label, color=pick_color(name)
            )
            _pair_types(row, inverse, now)
    elif needs_inverse:
        raise FieldError("inverseLabel", "A type that is not symmetric needs an inverse: inverseId or inverseLabel.")


def _assignable_inverse(given: RelationshipType, row: RelationshipType) -> RelationshipType:
    """The type that the body names, read again under the lock. Raises FieldError if it cannot be the inverse."""
    found: RelationshipType | None = _types(row).active().select_related("inverse").filter(pk=given.pk).first()
    if found is None:
        raise FieldError("inverseId", NO_SUCH_RECORD)
    if found == row:
        raise FieldError("inverseId", "A type that is not symmetric cannot be its own inverse.")
    if found.symmetric:
        raise FieldError("inverseId", "That type is symmetric: it is its own inverse.")
    if found.active_inverse:
        raise FieldError("inverseId", "That type already has another inverse.")
    return found


def _make_symmetric(row: RelationshipType, now: dt.datetime) -> None:
    """Make `row` its own inverse, and give both rows of its relationships this type."""
    former = row.inverse
    if former == row:
        return
    if former:
        # Once symmetric, two people related by both types would have the same relationship twice.
        same_pair = (
            _of_type(former).active().filter(person=OuterRef("person"), related_person=OuterRef("related_person"))
        )
        if _of_type(row).active().filter(Exists(same_pair)).exists():
            raise FieldError("symmetric", "Two people are related by this type and by its inverse as well.")
        _set_type(row.owner_id, _ids_of_inverse_rows(row), row, now)
        _unpair(former, now)
    _store_inverse(row, row, now)


def _pair_types(row: RelationshipType, inverse: RelationshipType, now: dt.datetime) -> None:
    """Make the two each other's inverse, update their relationships, and unpair the inverses they had before."""
    # Both lists are read before the first update, which changes what the second query would find.
    ids_of_row, ids_of_inverse = _ids_of_inverse_rows(row), _ids_of_inverse_rows(inverse)
    for one, other, ids in ((row, inverse, ids_of_row), (inverse, row, ids_of_inverse)):
        _set_type(one.owner_id, ids, other, now)
        if one.inverse and one.inverse != one:
            _unpair(one.inverse, now)
    _store_inverse(row, inverse, now)
    _store_inverse(inverse, row, now)


def _ids_of_inverse_rows(row: RelationshipType) -> list[UUID]:
    """The inverse rows of the relationships of this type; of a symmetric type the newer row of each pair."""
    if row.inverse is None:
        return []
    rows = _of_type(row.inverse)
    if row.symmetric:
        rows = rows.filter(pk__gt=F("inverse"))
    return list(rows.values_list("pk", flat=True))


def _set_type(owner_id: UUID, ids: Collection[UUID], to: RelationshipType, now: dt.datetime) -> None:
    if ids:
        Relationship.objects.owned_by(owner_id).filter(pk__in=ids).update(relationship_type=to, updated_at=now)


def _store_inverse(row: RelationshipType, inverse: RelationshipType, now: dt.datetime) -> None:
    _types(row).filter(pk=row.pk).update(inverse=inverse, updated_at=now)
    row.inverse = inverse


def _unpair(former: RelationshipType, now: dt.datetime) -> None:
    """Clear the inverse of a former inverse, and move it to the trash unless it is some person's type to the user."""
    to_user = Person.objects.owned_by(former.owner_id).active().filter(relationship_to_user=former)
    deleted_at = former.deleted_at or (None if to_user.exists() else now)
    _types(former).filter(pk=former.pk).update(inverse=None, deleted_at=deleted_at, updated_at=now)


def _types(row: RelationshipType) -> TrashQuerySet[RelationshipType]:
    return RelationshipType.objects.owned_by(row.owner_id)


def _of_type(row: RelationshipType) -> RelationshipQuerySet:
    return Relationship.objects.owned_by(row.owner_id).filter(relationship_type=row)
