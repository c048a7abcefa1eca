"""Relationships of two people that are merged into one, and apart again."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q

from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from people.merging.merge import UndoConflictError
from people.models import Person
from relationships.models import AnsweredSuggestion, Relationship, RelationshipQuerySet

# What a merge reads of both people, each time by the same statements.
_RELATIONSHIPS = CompiledQuery(
    lambda owner_id, person_ids: Relationship.objects.owned_by(owner_id).active().filter(person_id__in=person_ids)
)
_ANSWERS = CompiledQuery(
    lambda owner_id, person_ids: (
        AnsweredSuggestion.objects.owned_by(owner_id)
        .filter(Q(person_id__in=person_ids) | Q(related_person_id__in=person_ids))
        .order_by("id")
    )
)


def move_relationships(primary: Person, secondary: Person) -> list[str]:
    """Give the secondary's pairs to the primary; returns the ids of the rows that start there now.

    What the two are to each other, and what the primary is to somebody already, stays with the secondary.
    """
    of_both = _RELATIONSHIPS.instances(owner_id=primary.owner_id, person_ids=[primary.pk, secondary.pk])
    known = {_meaning(row) for row in of_both if row.person_id == primary.pk}
    theirs = [row for row in of_both if row.person_id == secondary.pk and row.related_person_id != primary.pk]
    moved = [row.pk for row in theirs if _meaning(row) not in known]
    _start_at(primary, moved)
    return [str(row_id) for row_id in moved]


def return_relationships(primary: Person, secondary: Person, row_ids: Collection[str]) -> None:
    """Give them back as they are now. Raises UndoConflictError where one is gone, or would be there twice."""
    rows: RelationshipQuerySet = Relationship.objects.owned_by(primary.owner_id)
    moved = list(rows.filter(person=primary, pk__in=[UUID(row_id) for row_id in row_ids]))
    there = {_meaning(row) for row in rows.active().filter(person=secondary)}
    if len(moved) < len(row_ids) or any(_meaning(row) in there for row in moved if not row.is_deleted):
        raise UndoConflictError
    _start_at(secondary, [row.pk for row in moved])


def copy_answers(primary: Person, secondary: Person) -> list[str]:
    """What was answered about the secondary counts for the primary; returns the ids of the new rows."""
    of_both = _ANSWERS.instances(owner_id=primary.owner_id, person_ids=[primary.pk, secondary.pk])
    known = {_answer_of(row) for row in of_both}
    copies = []
    for row in of_both:
        old = row.pk
        if row.person_id == secondary.pk:
            row.person_id = primary.pk
        if row.related_person_id == secondary.pk:
            row.related_person_id = primary.pk
        if row.person_id != row.related_person_id and (means := _answer_of(row)) not in known:
            known.add(means)
            row.pk = new_id()
            copies.append(row)
        else:
            row.pk = old
    if copies:
        AnsweredSuggestion.objects.bulk_create(copies)
    return [str(row.pk) for row in copies]


def remove_answers(owner_id: UUID, row_ids: Collection[str]) -> None:
    """Take the copies away."""
    AnsweredSuggestion.objects.owned_by(owner_id).filter(pk__in=[UUID(row_id) for row_id in row_ids]).delete()


def _answer_of(row: AnsweredSuggestion) -> tuple[UUID, UUID | None, str, str]:
    return row.person_id, row.related_person_id, row.named, row.type_name


def _meaning(row: Relationship) -> tuple[UUID, UUID | None]:
    return row.related_person_id, row.relationship_type_id


def _start_at(person: Person, row_ids: Collection[UUID]) -> None:
    """Let these rows start at `person`, and the other rows of their pairs end there."""
    if not row_ids:
        return
    rows = Relationship.objects.owned_by(person.owner_id)
    rows.filter(pk__in=row_ids).update(person=person)
    rows.filter(inverse__in=row_ids).update(related_person=person)
