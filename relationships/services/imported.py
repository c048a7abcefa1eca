"""Relationships and types that a file of another product brings, many at a time, inside the caller's write."""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from contacts_project.kernel.api.ids import new_id
from people.extensions import ImportedTie, TieType
from people.models import RelationshipType
from people.palette import pick_color
from relationships.models import Relationship
from relationships.services.relationships import new_pair


def ensure_types(owner_id: UUID, wanted: Sequence[TieType]) -> Mapping[str, UUID]:
    """The active types by these names, with what is missing made. A type that is there keeps its inverse."""
    names = {name for kind in wanted for name in (kind.name, kind.inverse) if name}
    active = RelationshipType.objects.owned_by(owner_id).active().filter(name__in=names)
    found = dict(active.values_list("name", "pk"))
    made: dict[str, RelationshipType] = {}
    for kind in wanted:
        if not kind.name or kind.name in found or kind.name in made:
            continue
        row = made[kind.name] = _type(owner_id, kind.name, kind.label)
        if not kind.inverse:
            row.inverse_id = row.pk
        elif kind.inverse in made:
            made[kind.inverse].inverse_id, row.inverse_id = row.pk, made[kind.inverse].pk
        elif kind.inverse not in found:
            back = made[kind.inverse] = _type(owner_id, kind.inverse, kind.inverse_label)
            back.inverse_id, row.inverse_id = row.pk, back.pk
        else:
            row.inverse_id = row.pk  # the inverse has another one here
    RelationshipType.objects.bulk_create(made.values())
    return {**found, **{name: row.pk for name, row in made.items()}}


def _type(owner_id: UUID, name: str, label: str) -> RelationshipType:
    return RelationshipType(id=new_id(), owner_id=owner_id, name=name, label=label or name, color=pick_color(name))


def add_relationships(owner_id: UUID, ties: Sequence[ImportedTie], now: dt.datetime) -> Collection[UUID]:
    """Pairs that are not there yet; returns the ids of the rows that read as the ties do."""
    people = {tie.person_id for tie in ties}
    kinds = {tie.type_id for tie in ties if tie.type_id}
    types = RelationshipType.objects.owned_by(owner_id).active().filter(pk__in=kinds)
    inverses = dict(types.values_list("pk", "inverse_id"))
    active = Relationship.objects.owned_by(owner_id).active().filter(person__in=people)
    there: set[tuple[UUID, UUID, UUID | None]] = set(
        active.values_list("person_id", "related_person_id", "relationship_type_id")
    )
    rows: list[Relationship] = []
    made: list[UUID] = []
    for tie in ties:
        kind = tie.type_id if inverses.get(tie.type_id) else None  # type: ignore[arg-type]  # None is in no table
        back = inverses[kind] if kind else None
        if (tie.person_id, tie.related_id, kind) in there:
            continue
        row, other = new_pair(owner_id, tie.person_id, tie.related_id, now=now)
        row.relationship_type_id, other.relationship_type_id = kind, back
        row.notes = other.notes = tie.notes
        there |= {(tie.person_id, tie.related_id, kind), (tie.related_id, tie.person_id, back)}
        rows += [row, other]
        made.append(row.pk)
    Relationship.objects.bulk_create(rows)
    return made
