"""Merges rows that refer to a person: memberships, important dates, custom field values, dismissed duplicates."""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import Q

from contacts_project.kernel.database.compiled_queries import Rows, compiled_query, query_by_ids
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import define_text
from people.entries import date_entry, pair_entries
from people.models import (
    CustomFieldTemplate,
    CustomFieldValue,
    DuplicateDismissal,
    Group,
    ImportantDate,
    Membership,
    Person,
)
from people.services.dismissals import add_dismissals
from people.word_index import index_values


class UndoConflictError(DomainError):
    """Data that the merge changed was changed again since, so the merge cannot be reverted."""

    message = define_text("undo_conflict", "This merge cannot be undone any more: what it changed was changed again.")


@query_by_ids
def _memberships(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return Membership.objects.owned_by(owner_id).filter(person_id__in=person_ids)


@query_by_ids
def _dates(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return (
        ImportantDate.objects.owned_by(owner_id).active().filter(person_id__in=person_ids).order_by("created_at", "id")
    )


@query_by_ids
def _values(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return CustomFieldValue.objects.owned_by(owner_id).filter(person_id__in=person_ids)


@compiled_query
def _dismissals(owner_id: UUID, person_id: UUID) -> Rows:
    return DuplicateDismissal.objects.owned_by(owner_id).filter(Q(first_id=person_id) | Q(second_id=person_id))


@query_by_ids
def _memberships_by_id(owner_id: UUID, row_ids: Collection[UUID]) -> Rows:
    return Membership.objects.owned_by(owner_id).filter(pk__in=row_ids)


@query_by_ids
def _dates_by_id(owner_id: UUID, row_ids: Collection[UUID]) -> Rows:
    return ImportantDate.objects.owned_by(owner_id).active().filter(pk__in=row_ids)


def move_groups(primary: Person, secondary: Person) -> list[str]:
    """Put the primary into the secondary's groups; returns the ids of the groups that are new to it."""
    of_both = _memberships.instances(owner_id=primary.owner_id, person_ids=[primary.pk, secondary.pk])
    known = {row.group_id for row in of_both if row.person_id == primary.pk}
    new = [row for row in of_both if row.person_id == secondary.pk and row.group_id not in known]
    row_ids = [row.pk for row in new]
    _memberships_by_id.update({"person": primary.pk}, owner_id=primary.owner_id, row_ids=row_ids)
    return [str(row.group_id) for row in new]


def restore_groups(primary: Person, secondary: Person, group_ids: Iterable[str]) -> None:
    """Make the secondary the member of these groups again, in place of the primary. Removed groups are skipped."""
    rows = Membership.objects.owned_by(primary.owner_id)
    ids = [UUID(key) for key in group_ids]
    # Not an UPDATE: either person may have been added to or removed from a group since the merge.
    rows.filter(person=primary, group__in=ids).delete()
    present = set(rows.filter(person=secondary, group__in=ids).values_list("group_id", flat=True))
    groups = Group.objects.owned_by(primary.owner_id).filter(pk__in=ids).exclude(pk__in=present)
    Membership.objects.bulk_create(
        Membership(owner_id=primary.owner_id, person=secondary, group=group) for group in groups
    )


def move_dates(primary: Person, secondary: Person) -> list[str]:
    """Move the dates that are new to the primary; returns their ids.

    A person has one date of a type, and one of a title on one day; a repeated date stays with the secondary. A moved
    date keeps its id and its next reminder, so that no reminder is sent twice.
    """
    of_both = _dates.instances(owner_id=primary.owner_id, person_ids=[primary.pk, secondary.pk])
    current = [date_entry(row) for row in of_both if row.person_id == primary.pk]
    others = [row for row in of_both if row.person_id == secondary.pk]
    pairs = pair_entries("important_dates", [date_entry(row) for row in others], current)
    moved = [row.pk for row, index in zip(others, pairs, strict=True) if index is None]
    _dates_by_id.update({"person": primary.pk}, owner_id=primary.owner_id, row_ids=moved)
    return [str(key) for key in moved]


def restore_dates(primary: Person, secondary: Person, date_ids: Iterable[str]) -> None:
    """Move them back as they are now.

    Raises UndoConflictError where one was removed, or the secondary has another date of its type by now.
    """
    ids = [UUID(key) for key in date_ids]
    rows = ImportantDate.objects.owned_by(primary.owner_id)
    moved = list(rows.filter(person=primary, pk__in=ids))
    # Dates in the trash do not count for the unique constraint on the type.
    types = {row.type for row in moved if row.type and row.deleted_at is None}
    if len(moved) < len(ids) or rows.active().filter(person=secondary, type__in=types).exists():
        raise UndoConflictError
    rows.filter(pk__in=ids).update(person=secondary)


def move_values(primary: Person, secondary: Person) -> list[JsonObject]:
    """Move the values of templates for which the primary has no value; returns the data that recreates them."""
    of_both = _values.instances(owner_id=primary.owner_id, person_ids=[primary.pk, secondary.pk])
    known = {row.template_id for row in of_both if row.person_id == primary.pk}
    new = [row for row in of_both if row.person_id == secondary.pk and row.template_id not in known]
    if new:
        rows = CustomFieldValue.objects.owned_by(primary.owner_id)
        rows.filter(pk__in=[row.pk for row in new]).update(person=primary)
    return [{"id": str(row.pk), "template": str(row.template_id), "value": row.value} for row in new]


def restore_values(primary: Person, secondary: Person, moved: list[JsonObject]) -> None:
    """Move them back; a value that was cleared since the merge is recreated, unless its template was removed."""
    rows = CustomFieldValue.objects.owned_by(primary.owner_id)
    present = set(rows.filter(person=primary, pk__in=[value["id"] for value in moved]).values_list("pk", flat=True))
    rows.filter(pk__in=present).update(person=secondary)
    templates = CustomFieldTemplate.objects.owned_by(primary.owner_id).in_bulk([UUID(v["template"]) for v in moved])
    recreated = [
        CustomFieldValue(
            id=UUID(value["id"]),
            owner_id=primary.owner_id,
            person=secondary,
            template_id=UUID(value["template"]),
            value=value["value"],
        )
        for value in moved
        if UUID(value["id"]) not in present and UUID(value["template"]) in templates
    ]
    CustomFieldValue.objects.bulk_create(recreated)
    # Search words hang on the value's row: the moved values have kept theirs.
    index_values(primary.owner_id, recreated)


def copy_dismissals(primary: Person, secondary: Person) -> list[str]:
    """Copy the secondary's dismissed pairs to the primary; returns the ids of the new rows."""
    rows = _dismissals.instances(owner_id=primary.owner_id, person_id=secondary.pk)
    others = {key for row in rows for key in (row.first_id, row.second_id)} - {primary.pk, secondary.pk}
    if not others:
        return []
    return [str(key) for key in add_dismissals(primary.owner_id, [(primary.pk, other) for other in others])]


def delete_dismissals(owner_id: UUID, ids: Iterable[str]) -> None:
    DuplicateDismissal.objects.owned_by(owner_id).filter(pk__in=[UUID(key) for key in ids]).delete()
