"""Relationships and types from an imported file, in bulk. Must be called inside `account_write`."""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from contacts_project.kernel.ids import new_id
from people.extensions import ImportedRelationship, RelationshipTypeSpec
from people.models import RelationshipType
from people.palette import pick_color
from relationships.models import Relationship
from relationships.services.relationships import build_pair


def ensure_types(owner_id: UUID, specs: Sequence[RelationshipTypeSpec]) -> Mapping[str, UUID]:
    """The ids of the active types with these names. Creates missing ones; existing ones keep their inverse."""
    names = {name for kind in specs for name in (kind.name, kind.inverse) if name}
    active = RelationshipType.objects.owned_by(owner_id).active().filter(name__in=names)
    existing = dict(active.values_list("name", "pk"))
    new: dict[str, RelationshipType] = {}
    for kind in specs:
        if not kind.name or kind.name in existing or kind.name in new:
            continue
        row = new[kind.name] = _build_type(owner_id, kind.name, kind.label)
        if not kind.inverse:
            row.inverse_id = row.pk
        elif kind.inverse in new:
            new[kind.inverse].inverse_id, row.inverse_id = row.pk, new[kind.inverse].pk
        elif kind.inverse not in existing:
            inverse = new[kind.inverse] = _build_type(owner_id, kind.inverse, kind.inverse_label)
            inverse.inverse_id, row.inverse_id = row.pk, inverse.pk
        else:
            # The account has a type of that name, with another inverse: leave it, and make this one symmetric.
            row.inverse_id = row.pk
    RelationshipType.objects.bulk_create(new.values())
    return existing | {name: row.pk for name, row in new.items()}


def _build_type(owner_id: UUID, name: str, label: str) -> RelationshipType:
    return RelationshipType(id=new_id(), owner_id=owner_id, name=name, label=label or name, color=pick_color(name))


def add_relationships(
    owner_id: UUID, relationships: Sequence[ImportedRelationship], now: dt.datetime
) -> Collection[UUID]:
    """Insert the pairs that do not exist yet. Returns the ids of their rows in the direction of `relationships`."""
    people = {relationship.person_id for relationship in relationships}
    type_ids = {relationship.type_id for relationship in relationships if relationship.type_id}
    types = RelationshipType.objects.owned_by(owner_id).active().filter(pk__in=type_ids)
    inverses: dict[UUID | None, UUID | None] = dict(types.values_list("pk", "inverse_id"))
    active = Relationship.objects.owned_by(owner_id).active().filter(person__in=people)
    existing: set[tuple[UUID, UUID, UUID | None]] = set(
        active.values_list("person_id", "related_person_id", "relationship_type_id")
    )
    rows: list[Relationship] = []
    new_ids: list[UUID] = []
    for relationship in relationships:
        # A type without an inverse cannot be used: the inverse row would have no type.
        inverse_type_id = inverses.get(relationship.type_id)
        type_id = relationship.type_id if inverse_type_id else None
        if (relationship.person_id, relationship.related_id, type_id) in existing:
            continue
        row, inverse = build_pair(owner_id, relationship.person_id, relationship.related_id, now=now)
        row.relationship_type_id, inverse.relationship_type_id = type_id, inverse_type_id
        row.notes = inverse.notes = relationship.notes
        existing |= {
            (relationship.person_id, relationship.related_id, type_id),
            (relationship.related_id, relationship.person_id, inverse_type_id),
        }
        rows += [row, inverse]
        new_ids.append(row.pk)
    Relationship.objects.bulk_create(rows)
    return new_ids
