"""Writes of relationship types. After each write, a type is the inverse of its inverse, or has none."""

import datetime as dt
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claimed_id
from people.models import Person, RelationshipType
from people.palette import pick_color
from relationships.models import Relationship
from relationships.services.inverses import set_inverse
from relationships.services.type_names import check_name_free, taken_names, unique_name


class TypeInUseError(DomainError):
    """An active relationship, or an active person's relationship to the user, has this type."""

    message = "This relationship type is in use."


def create_type(*, owner: User, data: dict[str, Any], now: dt.datetime) -> RelationshipType:
    """Insert a type and set its inverse: itself, an existing type, or a new one. Raises FieldError, IdTakenError."""
    with account_write(owner):
        check_name_free(data["name"], taken_names(owner.pk))
        row = RelationshipType(id=claimed_id(data), owner=owner, created_at=now, name=data["name"], label=data["label"])
        row.color = data.get("color") or pick_color(row.name)
        row.save(force_insert=True)
        set_inverse(row, data, now, is_new=True)
    return row


def update_type(*, owner: User, type_id: UUID, data: dict[str, Any], now: dt.datetime) -> RelationshipType:
    """Change the fields that `data` contains. A new inverse changes the relationships too. Raises FieldError."""
    with account_write(owner):
        row = RelationshipType.objects.owned_by(owner).active().select_related("inverse").find(type_id)
        if "name" in data:
            check_name_free(data["name"], taken_names(owner.pk) - {row.name})
            row.name = data["name"]
        row.label = data.get("label", row.label)
        if "color" in data:
            row.color = data["color"] or pick_color(row.name)
        row.save(update_fields=["name", "label", "color", "updated_at"])
        _mark_inverses([row])
        set_inverse(row, data, now)
    return row


def delete_type(*, owner: User, type_id: UUID, now: dt.datetime) -> None:
    """Soft-delete a type, but not its inverse. Raises TypeInUseError."""
    with account_write(owner):
        row = RelationshipType.objects.find_active(owner, type_id)
        used = Relationship.objects.owned_by(owner).active().filter(relationship_type=row)
        to_user = Person.objects.owned_by(owner).active().filter(relationship_to_user=row)
        if used.exists() or to_user.exists():
            raise TypeInUseError
        RelationshipType.objects.owned_by(owner).filter(pk=row.pk).update(deleted_at=now, updated_at=now)
        _mark_inverses([row])


def restore_type(*, owner: User, type_id: UUID, now: dt.datetime) -> RelationshipType:
    """Take a type out of the trash. Raises NotDeletedError, or FieldError if its name is taken."""
    with account_write(owner):
        row = RelationshipType.objects.owned_by(owner).within_retention(now).find_deleted(type_id)
        check_name_free(row.name, taken_names(owner.pk))
        _restore([row], now)
    return row


def remove_type(*, owner: User, type_id: UUID, now: dt.datetime) -> None:
    """Permanently delete a type and clear all references to it. Raises NotDeletedError."""
    with account_write(owner):
        row = RelationshipType.objects.owned_by(owner).within_retention(now).find_deleted(type_id)
        remove_types(owner.pk, [row.pk])


def remove_types(owner_id: UUID, type_ids: Collection[UUID]) -> list[str]:
    """Permanently delete types that are in the trash, in the caller's transaction.

    Clears the type of both rows of their relationships, which are all in the trash too. Returns the files to delete
    with them: none.
    """
    types = RelationshipType.objects.owned_by(owner_id).deleted().filter(pk__in=type_ids)
    keys = list(types.values_list("pk", flat=True))
    relationships = Relationship.objects.owned_by(owner_id)
    rows = relationships.filter(relationship_type__in=keys)
    # The inverse rows first: they are found by the type, which the second UPDATE clears.
    relationships.filter(pk__in=rows.values("inverse")).update(relationship_type=None)
    rows.update(relationship_type=None)
    types.delete()
    return []


def restore_deleted_types(owner_id: UUID, type_ids: Iterable[UUID | None], now: dt.datetime) -> None:
    """Take those of `type_ids` that are in the trash out of it, because an active row refers to them again.

    A name that is taken by now gets a number as suffix. Must be called inside `account_write`.
    """
    ids = [type_id for type_id in type_ids if type_id]
    rows = list(RelationshipType.objects.owned_by(owner_id).deleted().filter(pk__in=ids)) if ids else []
    if not rows:
        return
    names = taken_names(owner_id)
    for row in rows:
        row.name = unique_name(row.name, names)
        names.add(row.name)
    _restore(rows, now)


def _restore(rows: Collection[RelationshipType], now: dt.datetime) -> None:
    for row in rows:
        row.deleted_at = None
        row.updated_at = now
    RelationshipType.unscoped.bulk_update(rows, ["name", "deleted_at", "updated_at"])
    _mark_inverses(rows)


def _mark_inverses(rows: Collection[RelationshipType]) -> None:
    """Mark the inverses as changed: the JSON of a type contains its inverse as long as that is active."""
    for row in rows:
        if row.inverse_id and not row.symmetric:
            RelationshipType.objects.owned_by(row.owner_id).active().filter(pk=row.inverse_id).mark_changed()
