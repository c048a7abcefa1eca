"""Relationships between people of one share, as entries of documents, and from them.

A relationship is in the document of the smaller id of the two, in that person's direction.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from people.entries import pair_entries
from people.extensions import RelationshipTypeSpec
from relationships.models import Relationship, is_in_order
from relationships.services.relationships import create_relationship, delete_relationship, update_relationship
from relationships.services.types import find_or_make_pair
from sharing.carry.batch import Batch
from sharing.decisions import RELATIONS, Entry, relation_entry
from sharing.models import SharedCopy, SharedPerson, SharedRelation


@dataclass
class Relations:
    """The relationships of the people of a batch. `people` are the ids of the people here by the id of their document,
    as a text."""

    people: dict[str, UUID] = field(default_factory=dict)
    rows: dict[UUID, list[Relationship]] = field(default_factory=lambda: defaultdict(list))
    shared_ids: dict[UUID, UUID] = field(default_factory=dict)

    def entries_of(self, copy: SharedCopy) -> list[tuple[dict[str, Any], Relationship]]:
        """The entries of the copy's document, each with its row."""
        if copy.person_id is None or copy.shared_id is None:
            return []
        return [
            (_entry_of(row, other), row)
            for row in self.rows[copy.person_id]
            if (other := self.shared_ids.get(row.related_person_id)) and copy.shared_id < other
        ]


def load_relations(batch: Batch, copies: Sequence[SharedCopy], documents: Mapping[UUID, SharedPerson]) -> Relations:
    """The relationships of these linked copies with people who are linked here, too."""
    found = Relations()
    named = {
        UUID(entry["person"])
        for copy in copies
        if copy.shared_id
        for fields in (copy.base_local, copy.base_remote, documents[copy.shared_id].fields)
        for entry in fields.get(RELATIONS, ())
    }
    _load_rows(batch, found, [copy.person_id for copy in copies if copy.person_id])
    related = {row.related_person_id for rows in found.rows.values() for row in rows}
    if not named and not related:
        return found
    linked = batch.linked().filter(person__deleted_at=None)
    for condition in ({"shared__in": named}, {"person__in": related}):
        for shared_id, person_id in linked.filter(**condition).values_list("shared_id", "person_id"):
            found.people[str(shared_id)] = person_id
            found.shared_ids[person_id] = shared_id
    return found


def _load_rows(batch: Batch, found: Relations, person_ids: Iterable[UUID]) -> None:
    rows = Relationship.objects.owned_by(batch.owner).visible().filter(person__in=list(person_ids)).order_by("id")
    for row in rows.select_related("relationship_type__inverse"):
        found.rows[row.person_id].append(row)


def _entry_of(row: Relationship, other: UUID) -> dict[str, Any]:
    kind = row.relationship_type
    inverse = kind.inverse if kind else None
    return relation_entry(
        person=str(other),
        type=kind.name if kind else None,
        label=kind.label if kind else None,
        inverse=inverse.name if inverse else None,
        inverseLabel=inverse.label if inverse else None,
        since=row.since,
        until=row.until,
    )


def write_relations(batch: Batch, relations: Relations, copy: SharedCopy, target: Sequence[Entry]) -> list[Entry]:
    """Give the copy's person these relationships with people of the share; returns them as they are then.

    An entry that the account cannot have, such as one that ends before it begins, is left out. Notes stay.
    """
    write, person_id = batch.write(), copy.person_id
    if person_id is None:
        return []
    own = relations.entries_of(copy)
    positions = pair_entries(RELATIONS, target, [entry for entry, _ in own], edits=True)
    kept = {position for position in positions if position is not None}
    for number, (_, removed) in enumerate(own):
        if number not in kept:
            delete_relationship(owner=batch.owner, relationship_id=removed.pk, now=write.now)
    present = {(row.related_person_id, row.relationship_type_id): row.pk for row in relations.rows[person_id]}
    for entry, position in zip(target, positions, strict=True):
        other = relations.people.get(entry["person"])
        if other is None or not is_in_order(entry["since"], entry["until"]):
            continue
        former, row = (None, None) if position is None else own[position]
        if former == entry:
            continue
        type_id = _type_of(batch, entry, row)
        holder = present.get((other, type_id))
        if holder is not None and (row is None or holder != row.pk):
            continue  # these two have one of this type already
        period = {"since": entry["since"], "until": entry["until"]}
        if row is None:
            create_relationship(
                owner=batch.owner,
                person_id=person_id,
                related_person_id=other,
                type_id=type_id,
                now=write.now,
                content=period,
            )
        else:
            update_relationship(owner=batch.owner, row=row, data={"type_id": type_id, **period}, now=write.now)
    relations.rows[person_id] = []
    _load_rows(batch, relations, [person_id])
    return [entry for entry, _ in relations.entries_of(copy)]


def _type_of(batch: Batch, entry: Entry, row: Relationship | None) -> UUID | None:
    """The account's type of that name and inverse: the one that the row has already, or another, or a new one."""
    if not entry["type"]:
        return None
    if row is not None and (kind := row.relationship_type) is not None:
        inverse = kind.inverse
        if (kind.name, inverse.name if inverse else None) == (entry["type"], entry["inverse"]):
            return kind.pk
    inverse_name = entry["inverse"] or entry["type"]
    spec = RelationshipTypeSpec(
        entry["type"],
        entry["label"] or entry["type"],
        "" if inverse_name == entry["type"] else inverse_name,
        entry["inverseLabel"] or inverse_name,
    )
    return find_or_make_pair(batch.owner.pk, spec)


def mark_related(batch: Batch, copies: Sequence[SharedCopy]) -> None:
    """Let the relationships of people who have just been linked be merged: their own documents' and those of others
    who name them."""
    people = [copy.person_id for copy in copies if copy.person_id]
    shared = [copy.shared_id for copy in copies if copy.shared_id]
    rows = Relationship.objects.owned_by(batch.owner).visible().filter(person__in=people)
    pairs = list(rows.values_list("person_id", "related_person_id"))
    documents = SharedRelation.unscoped.rows()
    naming = set(documents.filter(other__in=shared).values_list("person_id", flat=True))
    naming |= set(documents.filter(person__in=shared).values_list("person_id", flat=True))
    if pairs:
        batch.linked().filter(person__in={key for pair in pairs for key in pair}).update(is_due=True)
    if naming:
        batch.linked().filter(shared__in=naming).update(is_due=True)
