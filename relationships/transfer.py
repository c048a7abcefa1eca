"""Relationship types and relationships in the document of an account (accounts.transfer)."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts.models import User
from accounts.transfer.importing import ImportRun, Item
from accounts.transfer.sections import Section, register_section
from accounts.transfer.times import Times, times_of
from contacts_project.api.fields import Color, Text
from contacts_project.api.ids import new_id
from people.models import Person
from relationships.api.serializers import TypeName
from relationships.defaults import DEFAULT_TYPES
from relationships.models import Relationship, RelationshipType
from relationships.services.types import NAME_LENGTH


class TypeShape(Times):
    name = TypeName(NAME_LENGTH, required=True)
    label = Text(NAME_LENGTH, required=True)  # type: ignore[assignment]  # hides Field.label, which no field needs
    color = Color()
    inverseId = Text(36, required=True)


class TypeSection(Section):
    """Found again by id, else by name among the active ones. A type comes with its inverse, or not at all."""

    name, order, models = "relationshipTypes", 40, (RelationshipType,)

    def export(self, owner: User) -> Iterator[dict[str, Any]]:
        for row in RelationshipType.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "name": row.name,
                "label": row.label,
                "color": row.color,
                "inverseId": str(row.inverse_id),
                "createdAt": row.created_at,
                "deletedAt": row.deleted_at,
            }

    def shape(self) -> TypeShape:
        return TypeShape()

    def write(self, run: ImportRun, items: list[Item]) -> None:
        known = run.known(RelationshipType, items)
        if items:
            _make_way(run, {row.pk for row in known.values()})
        named = {row.name: row for row in RelationshipType.objects.owned_by(run.owner).active()}
        by_source = {str(item.source_id): item for item in items}
        new: list[RelationshipType] = []
        for item in items:
            if not item.status:
                _write_whole(run, item, by_source.get(item.data["inverseId"]), known, named, new)
        RelationshipType.objects.bulk_create(new)


def _write_whole(
    run: ImportRun,
    item: Item,
    inverse: Item | None,
    known: dict[UUID, RelationshipType],
    named: dict[str, RelationshipType],
    new: list[RelationshipType],
) -> None:
    """One type with its inverse, or one that is its own."""
    if inverse is None or inverse.status or inverse.data["inverseId"] != str(item.source_id):
        run.failed(item, "Its inverse did not come in, or does not name it as its own.")
        return
    ends = [item] if inverse is item else [item, inverse]
    active = not any(end.data.get("deleted_at") for end in ends)
    for end, other in zip(ends, reversed(ends), strict=True):
        found = known.get(end.source_id)
        found = found or (named.get(end.data["name"]) if active else None)
        if found:
            run.skipped(end, found)
            if other is not end:
                run.skipped(other, found.inverse)
            return
    rows = [_row(run, end) for end in ends]
    for row, inverse_row in zip(rows, reversed(rows), strict=True):
        row.inverse = inverse_row
        if active:
            named[row.name] = row
    for end, row in zip(ends, rows, strict=True):
        run.imported(end, row)
    new += rows


def _row(run: ImportRun, item: Item) -> RelationshipType:
    values = {column: item.data[column] for column in ("name", "label", "color")}
    return RelationshipType(pk=run.new_id(item.source_id), owner=run.owner, **values, **times_of(item.data, run.now))


def _make_way(run: ImportRun, keep: set[UUID]) -> None:
    """An account that has nobody yet holds the types it was born with: those of the document take their place."""
    rows = RelationshipType.objects.owned_by(run.owner)
    born_with = {name for name, _, _ in DEFAULT_TYPES}
    if Person.objects.owned_by(run.owner).exists() or keep:
        return
    if set(rows.values_list("name", flat=True)) <= born_with:
        rows.delete()


class RelationshipShape(Times):
    personId = Text(36, required=True)
    relatedPersonId = Text(36, required=True)
    relationshipTypeId = Text(36)
    notes = Text(1000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["personId"] == attrs["relatedPersonId"]:
            raise serializers.ValidationError({"relatedPersonId": ["Nobody is related to themselves."]})
        return attrs


class RelationshipSection(Section):
    """A pair of rows is one record, as the user put it. Found again by id, else by people and type."""

    name, order, models = "relationships", 60, (Relationship,)

    def export(self, owner: User) -> Iterator[dict[str, Any]]:
        for row in Relationship.objects.owned_by(owner).one_of_each_pair().order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "personId": str(row.person_id),
                "relatedPersonId": str(row.related_person_id),
                "relationshipTypeId": row.relationship_type_id and str(row.relationship_type_id),
                "notes": row.notes,
                "createdAt": row.created_at,
                "deletedAt": row.deleted_at,
            }

    def shape(self) -> RelationshipShape:
        return RelationshipShape()

    def write(self, run: ImportRun, items: list[Item]) -> None:
        known = run.known(Relationship, items)
        active = Relationship.objects.owned_by(run.owner).active()
        taken = {_triple(row): row for row in active}
        new: list[Relationship] = []
        for item in items:
            person = run.find("people", item.data["personId"])
            related = run.find("people", item.data["relatedPersonId"])
            kind = run.find("relationshipTypes", item.data.get("relationshipTypeId"))
            if found := known.get(item.source_id):
                run.skipped(item, found)
            elif person is None or related is None or person == related:
                run.failed(item, "It does not name two people who came in.")
            elif not item.data.get("deleted_at") and (found := taken.get((person.pk, related.pk, kind and kind.pk))):
                run.skipped(item, found)
            else:
                pair = _pair(run, item, person, related, kind)
                new += pair
                run.imported(item, pair[0])
                if not pair[0].is_deleted:
                    taken |= {_triple(row): row for row in pair}
        Relationship.objects.bulk_create(new, batch_size=500)


def _pair(
    run: ImportRun, item: Item, person: Person, related: Person, kind: RelationshipType | None
) -> list[Relationship]:
    values = {"owner": run.owner, "notes": item.data.get("notes"), **times_of(item.data, run.now)}
    row = Relationship(
        pk=run.new_id(item.source_id), person=person, related_person=related, relationship_type=kind, **values
    )
    # Newer than its counterpart, whatever the clock says: the older of a pair is the one that reads as it was put.
    back = Relationship(
        pk=max(new_id(), UUID(int=row.pk.int + 1)),
        person=related,
        related_person=person,
        relationship_type=kind and kind.inverse,
        inverse=row,
        **values,
    )
    row.inverse = back
    return [row, back]


def _triple(row: Relationship) -> tuple[UUID, UUID, UUID | None]:
    return row.person_id, row.related_person_id, row.relationship_type_id


def register_transfer() -> None:
    """Register what relationships carry; once."""
    register_section(TypeSection())
    register_section(RelationshipSection())
