"""What merging two people, and undoing it, does to their relationships and answered suggestions."""

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q

from contacts_project.kernel.database.compiled_queries import Rows, query_by_ids
from contacts_project.kernel.database.expressions import IdHex, text_value
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.models import OwnedQuerySet
from people.merging.related_rows import UndoConflictError
from people.models import Person
from relationships.models import AnsweredSuggestion, Relationship, RelationshipQuerySet, is_in_order

_RELATIONSHIP, _ANSWER = "relationship", "answer"


class _Row(NamedTuple):
    """An active relationship of one of the two people, or an answer about one of them; ids as IdHex."""

    kind: str
    id: str
    person: str
    related: str | None
    type: str | None
    since: str | None
    until: str | None


@query_by_ids
def _rows_of_both(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    relationships = Relationship.objects.owned_by(owner_id).active().filter(person_id__in=person_ids)
    common = (IdHex("pk"), IdHex("person_id"), IdHex("related_person_id"))
    return relationships.values_list(
        text_value(_RELATIONSHIP), *common, IdHex("relationship_type_id"), "since", "until"
    ).union(
        _answers_about(owner_id, person_ids).values_list(
            text_value(_ANSWER), *common, text_value(""), text_value(""), text_value("")
        ),
        all=True,
    )


def _answers_about(owner_id: UUID, person_ids: Collection[UUID]) -> OwnedQuerySet[AnsweredSuggestion]:
    return AnsweredSuggestion.objects.owned_by(owner_id).filter(
        Q(person_id__in=person_ids) | Q(related_person_id__in=person_ids)
    )


def merge_relationships(primary: Person, secondary: Person) -> JsonObject:
    """Move the secondary's relationships to the primary, and copy the answers about it. Returns what undo needs.

    Of a relationship that both have the primary's stays; what it does not say of since and until comes from the other.
    """
    found = _rows_of_both.rows(owner_id=primary.owner_id, person_ids=[primary.pk, secondary.pk])
    rows = [_Row(*row) for row in found]
    relationships = [row for row in rows if row.kind == _RELATIONSHIP]
    moved = _move_to_primary(primary, secondary, relationships)
    filled = _fill_times(primary, secondary, relationships)
    has_answers = any(row.kind == _ANSWER for row in rows)  # few people have
    answers = _copy_answered_suggestions(primary, secondary) if has_answers else []
    return {"rows": moved, "answers": answers, "filled": filled}


def _move_to_primary(primary: Person, secondary: Person, rows: Sequence[_Row]) -> list[str]:
    """Returns the ids of the moved rows.

    Relationships between the two, and those that the primary has already, stay with the secondary, and are marked as
    changed in the change feed.
    """
    existing = {(row.related, row.type) for row in rows if row.person == primary.pk.hex}
    of_secondary = [row for row in rows if row.person == secondary.pk.hex]
    moved = [
        UUID(row.id)
        for row in of_secondary
        if row.related != primary.pk.hex and (row.related, row.type) not in existing
    ]
    if moved:
        _set_person(primary, moved)
    if len(moved) < len(of_secondary):
        relationships_of(primary.owner_id, [secondary.pk]).update()
    return [str(row_id) for row_id in moved]


def _fill_times(primary: Person, secondary: Person, rows: Sequence[_Row]) -> list[JsonObject]:
    """Returns the id of each filled row of the primary, with what was filled."""
    of_secondary = {(row.related, row.type): row for row in rows if row.person == secondary.pk.hex}
    filled = []
    for row in rows:
        other = of_secondary.get((row.related, row.type)) if row.person == primary.pk.hex else None
        blank = [column for column in ("since", "until") if not getattr(row, column)]
        values = {column: value for column in blank if other and (value := getattr(other, column))}
        times = {"since": row.since, "until": row.until} | values
        # Together they may say that it ended before it began: then the primary's word stands alone.
        if values and is_in_order(**times):
            _pair(primary.owner_id, UUID(row.id)).update(**values)
            filled.append({"id": row.id, **values})
    return filled


def empty_filled(owner_id: UUID, filled: Collection[JsonObject]) -> None:
    """Undo `_fill_times`, where nobody has changed it since."""
    for entry in filled:
        values = {column: entry[column] for column in ("since", "until") if column in entry}
        for column, value in values.items():
            _pair(owner_id, UUID(entry["id"])).filter(**{column: value}).update(**{column: None})


def _pair(owner_id: UUID, row_id: UUID) -> RelationshipQuerySet:
    rows: RelationshipQuerySet = Relationship.objects.owned_by(owner_id)
    return rows.filter(Q(pk=row_id) | Q(inverse=row_id))


def return_to_secondary(primary: Person, secondary: Person, row_ids: Collection[str]) -> None:
    """Undo the move of a merge. Raises UndoConflictError if a row is gone or would duplicate another one."""
    rows: RelationshipQuerySet = Relationship.objects.owned_by(primary.owner_id)
    moved = list(rows.filter(person=primary, pk__in=[UUID(row_id) for row_id in row_ids]))
    existing = {_content(row) for row in rows.active().filter(person=secondary)}
    if len(moved) < len(row_ids) or any(_content(row) in existing for row in moved if not row.is_deleted):
        raise UndoConflictError
    _set_person(secondary, [row.pk for row in moved])


def _copy_answered_suggestions(primary: Person, secondary: Person) -> list[str]:
    """Copy the answers about the secondary to the primary. Returns the ids of the copies."""
    rows = list(_answers_about(primary.owner_id, [primary.pk, secondary.pk]).order_by("id"))
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
    """Undo `_copy_answered_suggestions`."""
    AnsweredSuggestion.objects.owned_by(owner_id).filter(pk__in=[UUID(row_id) for row_id in row_ids]).delete()


def _subject(row: AnsweredSuggestion) -> tuple[UUID, UUID | None, str, str]:
    return row.person_id, row.related_person_id, row.name_on_card, row.type_name


def _content(row: Relationship) -> tuple[UUID, UUID | None]:
    return row.related_person_id, row.relationship_type_id


def _set_person(person: Person, row_ids: Collection[UUID]) -> None:
    """Set `person` of these rows, and `related_person` of their inverse rows."""
    rows: RelationshipQuerySet = Relationship.objects.owned_by(person.owner_id)
    rows.filter(pk__in=row_ids).update(person=person)
    rows.filter(inverse__in=row_ids).update(related_person=person)


def relationships_of(owner_id: UUID, person_ids: Collection[UUID]) -> RelationshipQuerySet:
    return (
        Relationship.objects.owned_by(owner_id)
        .active()
        .filter(Q(person__in=person_ids) | Q(related_person__in=person_ids))
    )
