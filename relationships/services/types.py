"""Writes of relationship types. Every one leaves each type whole: symmetric, or one of two that name each other."""

import datetime as dt
from collections.abc import Collection, Iterable
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.api.errors import ApiError, FieldError, NotDeletedError
from contacts_project.api.ids import new_id
from contacts_project.ownership.writing import account_write
from people.models import Person
from people.palette import pick_color
from relationships.models import Relationship, RelationshipType
from relationships.services.finding import find
from relationships.services.inverses import Inverse, give_inverse, make_symmetric, wanted_inverse

NAME_LENGTH: Final = 50


class TypeInUseError(ApiError):
    """The type, or its inverse, is that of an active relationship or of an active person's tie to the user."""

    code = "in_use"
    message = "This relationship type is in use."


def type_name(text: str) -> str:
    """`text` as a name of a type: upper case, inner white space as `_`."""
    return "_".join(text.upper().split())


def create_type(*, owner: User, data: dict[str, Any], now: dt.datetime) -> RelationshipType:
    """Insert a type, and its inverse where `inverse_label` asks for one. Raises FieldError."""
    with account_write(owner):
        names = _names(owner.pk)
        _check_name_free(data["name"], names)
        inverse = wanted_inverse(None, data)
        row = RelationshipType(owner=owner, name=data["name"], label=data["label"], created_at=now)
        row.color = data.get("color") or pick_color(row.name)
        row.inverse = row
        rows = [row]
        if inverse is Inverse.NEW:
            rows.append(_new_inverse(row, data["inverse_label"], names | {row.name}))
            row.inverse = rows[1]
        RelationshipType.objects.bulk_create(rows)
    return row


def update_type(*, owner: User, type_id: str, data: dict[str, Any], now: dt.datetime) -> RelationshipType:
    """Change what `data` holds. A change of the inverse also changes the relationships that have it."""
    with account_write(owner):
        row = find(RelationshipType.objects.owned_by(owner).active().select_related("inverse"), type_id)
        names = _names(owner.pk) - {row.name}
        if "name" in data:
            _check_name_free(data["name"], names)
            row.name = data["name"]
        row.label = data.get("label", row.label)
        if "color" in data:
            row.color = data["color"] or pick_color(row.name)
        row.save(update_fields=["name", "label", "color", "updated_at"])
        inverse = wanted_inverse(row, data)
        if inverse is Inverse.ITSELF:
            make_symmetric(row, now)
        elif inverse is Inverse.NEW:
            give_inverse(row, _new_inverse(row, data["inverse_label"], names | {row.name}), now)
    return row


def delete_type(*, owner: User, type_id: str, now: dt.datetime) -> None:
    """Soft-delete a type together with its inverse. Raises TypeInUseError."""
    with account_write(owner):
        row = find(RelationshipType.objects.owned_by(owner).active(), type_id)
        ends = {row.pk, row.inverse_id}
        if is_in_use(owner.pk, ends):
            raise TypeInUseError
        RelationshipType.objects.owned_by(owner).filter(pk__in=ends).update(deleted_at=now, updated_at=now)


def restore_type(*, owner: User, type_id: str, now: dt.datetime) -> RelationshipType:
    """Take a type and its inverse out of the trash. Raises NotDeletedError, FieldError where a name is taken."""
    with account_write(owner):
        row = find(RelationshipType.objects.owned_by(owner).within_retention(now).select_related("inverse"), type_id)
        if not row.is_deleted:
            raise NotDeletedError
        for end in {row, row.inverse}:
            _check_name_free(end.name, _names(owner.pk))
        _restore([row, row.inverse], now)
    return row


def remove_type(*, owner: User, type_id: str, now: dt.datetime) -> None:
    """Remove a type and its inverse for good; what still refers to them is left without a type."""
    with account_write(owner):
        row = find(RelationshipType.objects.owned_by(owner).within_retention(now), type_id)
        if not row.is_deleted:
            raise NotDeletedError
        remove_types(owner.pk, [row.pk])


def remove_types(owner_id: UUID, type_ids: Collection[UUID]) -> list[str]:
    """Remove types in the trash, each with its inverse, in the caller's transaction; no files hang on them."""
    either_end = Q(pk__in=type_ids) | Q(inverse__in=type_ids)
    RelationshipType.objects.owned_by(owner_id).deleted().filter(either_end).delete()
    return []


def revive_types(owner_id: UUID, type_ids: Iterable[UUID | None], now: dt.datetime) -> None:
    """Take those of `type_ids` that are in the trash out of it, since something active refers to them again.

    A name that was taken meanwhile gets a number. In the caller's transaction.
    """
    wanted = [type_id for type_id in type_ids if type_id]
    either_end = Q(pk__in=wanted) | Q(inverse__in=wanted)
    rows = list(RelationshipType.objects.owned_by(owner_id).deleted().filter(either_end)) if wanted else []
    if not rows:
        return
    names = _names(owner_id)
    for row in rows:
        row.name = _free_name(row.name, names)
        names.add(row.name)
    _restore(rows, now)


def is_in_use(owner_id: UUID, type_ids: Collection[UUID]) -> bool:
    """Whether an active relationship, or an active person's tie to the user, is of one of these types."""
    used = Relationship.objects.owned_by(owner_id).active().filter(relationship_type__in=type_ids)
    to_user = Person.objects.owned_by(owner_id).active().filter(relationship_to_user__in=type_ids)
    return used.exists() or to_user.exists()


def _restore(rows: Iterable[RelationshipType], now: dt.datetime) -> None:
    for row in rows:
        row.deleted_at = None
        row.updated_at = now
    RelationshipType.unscoped.bulk_update(rows, ["name", "deleted_at", "updated_at"])


def _names(owner_id: UUID) -> set[str]:
    return set(RelationshipType.objects.owned_by(owner_id).active().values_list("name", flat=True))


def _check_name_free(name: str, taken: set[str]) -> None:
    if name in taken:
        raise FieldError("name", f"There is already a relationship type named {name}.")


def _free_name(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        ending = f"_{number}"
        name, number = wanted[: NAME_LENGTH - len(ending)] + ending, number + 1
    return name


def _new_inverse(row: RelationshipType, label: str, taken: set[str]) -> RelationshipType:
    """The other end of `row`, not stored yet. Its name is made from the label, with a number where that is taken."""
    name = _free_name(type_name(label)[:NAME_LENGTH], taken)
    return RelationshipType(
        id=new_id(), owner_id=row.owner_id, name=name, label=label, color=pick_color(name), inverse=row
    )
