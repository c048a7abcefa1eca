"""What merging two people, and undoing it, does to their relationships and answered suggestions."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q

from contacts_project.kernel.database.compiled_queries import Rows, compiled_query, query_by_ids
from contacts_project.kernel.ids import new_id
from people.merging.merge import UndoConflictError
from people.models import Person
from relationships.models import AnsweredSuggestion, Relationship, RelationshipQuerySet


@query_by_ids
def _relationships(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return Relationship.objects.owned_by(owner_id).active().filter(person_id__in=person_ids)


@query_by_ids
def _answers(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return (
        AnsweredSuggestion.objects.owned_by(owner_id)
        .filter(Q(person_id__in=person_ids) | Q(related_person_id__in=person_ids))
        .order_by("id")
    )


def move_to_primary(primary: Person, secondary: Person) -> list[str]:
    """Move the secondary's relationships to the primary. Returns the ids of the moved rows.

    Relationships between the two, and those that the primary has already, stay with the secondary, and are marked as
    changed in the change feed.
    """
    rows = _relationships.instances(owner_id=primary.owner_id, person_ids=[primary.pk, secondary.pk])
    existing = {_content(row) for row in rows if row.person_id == primary.pk}
    others = [row for row in rows if row.person_id == secondary.pk and row.related_person_id != primary.pk]
    moved = [row.pk for row in others if _content(row) not in existing]
    _set_person(primary, moved)
    if len(moved) < sum(row.person_id == secondary.pk for row in rows):
        mark_changed(primary.owner_id, [secondary.pk])
    return [str(row_id) for row_id in moved]


def return_to_secondary(primary: Person, secondary: Person, row_ids: Collection[str]) -> None:
    """Undo `move_to_primary`. Raises UndoConflictError if a row is gone or would duplicate another one."""
    rows: RelationshipQuerySet = Relationship.objects.owned_by(primary.owner_id)
    moved = list(rows.filter(person=primary, pk__in=[UUID(row_id) for row_id in row_ids]))
    existing = {_content(row) for row in rows.active().filter(person=secondary)}
    if len(moved) < len(row_ids) or any(_content(row) in existing for row in moved if not row.is_deleted):
        raise UndoConflictError
    _set_person(secondary, [row.pk for row in moved])


def copy_answered_suggestions(primary: Person, secondary: Person) -> list[str]:
    """Copy the answers about the secondary to the primary. Returns the ids of the copies."""
    rows = _answers.instances(owner_id=primary.owner_id, person_ids=[primary.pk, secondary.pk])
    existing = {_subject(row) for row in rows}
    copies = []
    for row in rows:
        if row.person_id == secondary.pk:
            row.person_id = primary.pk
        if row.related_person_id == secondary.pk:
            row.related_person_id = primary.pk
        if row.person_id != row.related_person_id and (subject := _subject(row)) not in existing:
            existing.add(subject)
            row.pk = new_id()
            copies.append(row)
    if copies:
        AnsweredSuggestion.objects.bulk_create(copies)
    return [str(row.pk) for row in copies]


def remove_answered_suggestions(owner_id: UUID, row_ids: Collection[str]) -> None:
    """Undo `copy_answered_suggestions`."""
    AnsweredSuggestion.objects.owned_by(owner_id).filter(pk__in=[UUID(row_id) for row_id in row_ids]).delete()


def _subject(row: AnsweredSuggestion) -> tuple[UUID, UUID | None, str, str]:
    return row.person_id, row.related_person_id, row.name_on_card, row.type_name


def _content(row: Relationship) -> tuple[UUID, UUID | None]:
    return row.related_person_id, row.relationship_type_id


def _set_person(person: Person, row_ids: Collection[UUID]) -> None:
    """Set `person` of these rows, and `related_person` of their inverse rows."""
    _rows_by_id.update({"person": person.pk}, owner_id=person.owner_id, row_ids=list(row_ids))
    _inverse_rows.update({"related_person": person.pk}, owner_id=person.owner_id, row_ids=list(row_ids))


def mark_changed(owner_id: UUID, person_ids: Collection[UUID]) -> None:
    """Mark the relationships of these people as changed in the change feed."""
    _relationships_of.update({}, owner_id=owner_id, person_ids=list(person_ids))


@compiled_query
def _relationships_of(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return (
        Relationship.objects.owned_by(owner_id)
        .active()
        .filter(Q(person__in=person_ids) | Q(related_person__in=person_ids))
    )


@query_by_ids
def _rows_by_id(owner_id: UUID, row_ids: Collection[UUID]) -> Rows:
    return Relationship.objects.owned_by(owner_id).filter(pk__in=row_ids)


@query_by_ids
def _inverse_rows(owner_id: UUID, row_ids: Collection[UUID]) -> Rows:
    return Relationship.objects.owned_by(owner_id).filter(inverse__in=row_ids)
