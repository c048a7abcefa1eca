"""Relationship types and relationships in the document of an account (accounts.transfer)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts.models import User
from accounts.transfer.run import Ids, ImportRun, Item
from accounts.transfer.sections import Section, register_section
from accounts.transfer.times import Times, times_of
from contacts_project.kernel.api.fields import ColorField, StrictBooleanField, StrictCharField
from contacts_project.kernel.api.ids import new_id
from people.models import Person, RelationshipType
from people.related.cards import MAX_NAME
from relationships.api.serializers import TypeName
from relationships.defaults import DEFAULT_TYPES
from relationships.models import AnsweredSuggestion, Relationship
from relationships.services.type_names import NAME_LENGTH
from relationships.services.types import restore_deleted_types


class TypeShape(Times):
    name = TypeName(max_length=NAME_LENGTH)
    label = StrictCharField(max_length=NAME_LENGTH)  # type: ignore[assignment]  # hides Field.label, which no field needs
    color = ColorField()
    inverseId = StrictCharField(max_length=36, required=False, allow_null=True)


class TypeSection(Section):
    """Found again by id, else by name among the active ones. What has an inverse comes with it, or not at all."""

    name, order, models = "relationshipTypes", 40, (RelationshipType,)

    def export(self, owner: User) -> Iterator[dict[str, Any]]:
        for row in RelationshipType.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "name": row.name,
                "label": row.label,
                "color": row.color,
                "inverseId": row.inverse_id and str(row.inverse_id),
                "createdAt": row.created_at,
                "deletedAt": row.deleted_at,
            }

    def shape(self) -> TypeShape:
        return TypeShape()

    def units(self, records: list[Any]) -> Iterator[list[int]]:
        """Each with its inverse."""
        places = {record.get("id"): place for place, record in enumerate(records) if isinstance(record, dict)}
        taken: set[int] = set()
        for place, record in enumerate(records):
            inverse = places.get(str(record.get("inverseId"))) if isinstance(record, dict) else None
            unit = [one for one in dict.fromkeys([place, inverse]) if one is not None and one not in taken]
            taken.update(unit)
            if unit:
                yield unit

    def write(self, run: ImportRun, items: list[Item]) -> None:
        ids = run.find_existing(RelationshipType, items)
        present = RelationshipType.objects.owned_by(run.owner).select_related("inverse")
        if _replaces_default_types(run, ids):
            present = present.none()
        names = [item.data["name"] for item in items]
        named = run.index(self.name, {row.name: row for row in present.active().filter(name__in=names)})
        by_id = present.in_bulk(list(ids.found.values()))
        rows = _TypeRows(ids, {source: by_id[key] for source, key in ids.found.items()}, named)
        by_source = {str(item.source_id): item for item in items}
        for item in items:
            if item.status:
                continue
            inverse_id = item.data.get("inverseId")
            inverse = by_source.get(inverse_id or "")
            if inverse_id and (
                inverse is None or inverse.status or inverse.data.get("inverseId") != str(item.source_id)
            ):
                run.failed(item, "Its inverse did not come in, or does not name it as its own.")
            else:
                _write_ends(run, item, inverse, rows)
        run.insert(RelationshipType, rows.new)
        if not run.dry:
            RelationshipType.unscoped.bulk_update(rows.joined, ["inverse"])


@dataclass
class _TypeRows:
    """The types of the account, by the record's id and by name, and what the import makes of them."""

    ids: Ids
    known: dict[UUID, RelationshipType]
    named: dict[str, RelationshipType]
    new: list[RelationshipType] = field(default_factory=list)
    joined: list[RelationshipType] = field(default_factory=list)

    def find(self, end: Item) -> RelationshipType | None:
        by_name = None if end.data.get("deleted_at") else self.named.get(end.data["name"])
        return self.known.get(end.source_id) or by_name


def _write_ends(run: ImportRun, item: Item, inverse: Item | None, rows: _TypeRows) -> None:
    """One type with its inverse, or one that is its own or has none (None)."""
    ends = [item] if inverse is None or inverse is item else [item, inverse]
    found = [rows.find(end) for end in ends]
    for end, other, row in zip(ends, reversed(ends), found, strict=True):
        if row and (row.inverse or inverse is None):
            run.skipped(end, row.pk, ref=row)
            if row.inverse and other is not end:
                run.skipped(other, row.inverse.pk, ref=row.inverse)
            return
    there = [row or _row(run, end, rows) for end, row in zip(ends, found, strict=True)]
    for end, row, partner, was_there in zip(ends, there, reversed(there), found, strict=True):
        row.inverse = partner if inverse else None
        (run.skipped if was_there else run.imported)(end, row.pk, ref=row)
        (rows.joined if was_there else rows.new).append(row)
        if not row.is_deleted:
            rows.named[row.name] = row


def _row(run: ImportRun, item: Item, rows: _TypeRows) -> RelationshipType:
    values = {column: item.data[column] for column in ("name", "label", "color")}
    key = rows.ids.free[item.source_id]
    return RelationshipType(pk=key, owner=run.owner, **values, **times_of(item.data, run.now))


def _replaces_default_types(run: ImportRun, ids: Ids) -> bool:
    """Whether the types of the account are gone now, but for those of earlier batches.

    An account that has nobody yet holds the types it was born with: those of the document take their place.
    """
    made = run.single(_DefaultTypesReplaced)
    if TypeSection.name in run.started_sections:
        return made.way and run.dry
    rows = RelationshipType.objects.owned_by(run.owner)
    born_with = {name for name, _, _ in DEFAULT_TYPES}
    made.way = (
        not Person.objects.owned_by(run.owner).exists()
        and not ids.found
        and set(rows.values_list("name", flat=True)) <= born_with
    )
    if made.way and not run.dry:
        rows.delete()
    return made.way


class _DefaultTypesReplaced:
    """Whether this run did, or a dry one would have."""

    way = False


class RelationshipShape(Times):
    personId = StrictCharField(max_length=36)
    relatedPersonId = StrictCharField(max_length=36)
    relationshipTypeId = StrictCharField(max_length=36, required=False, allow_null=True)
    notes = StrictCharField(max_length=1000, required=False, allow_null=True)

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
        ids = run.find_existing(Relationship, items)
        people = {run.find("people", item.data["personId"]) for item in items} - {None}
        active = Relationship.objects.owned_by(run.owner).active().filter(person__in=people)
        taken = run.index(self.name, {tuple(triple): pk for pk, *triple in active.values_list("pk", *_TRIPLE)})
        new: list[Relationship] = []
        for item in items:
            person = run.find("people", item.data["personId"])
            related = run.find("people", item.data["relatedPersonId"])
            kind = run.find("relationshipTypes", item.data.get("relationshipTypeId"))
            if found := ids.found.get(item.source_id):
                run.skipped(item, found)
            elif person is None or related is None or person == related:
                run.failed(item, "It does not name two people who came in.")
            elif kind and kind.inverse is None:
                run.failed(item, "Its type has no inverse.")
            elif not item.data.get("deleted_at") and (found := taken.get((person, related, kind and kind.pk))):
                run.skipped(item, found)
            else:
                pair = _pair(run, item, ids.free[item.source_id], (person, related), kind)
                new += pair
                kinds = [item.data.get("relationshipTypeId")]
                run.imported(item, pair[0].pk, run.describe_missing(relationshipTypeId=("relationshipTypes", kinds)))
                if not pair[0].is_deleted:
                    taken |= {tuple(getattr(row, column) for column in _TRIPLE): row.pk for row in pair}
        run.insert(Relationship, new)
        if not run.dry:
            restore_deleted_types(
                run.owner.pk, {row.relationship_type_id for row in new if not row.is_deleted}, run.now
            )


class AnswerShape(Times):
    personId = StrictCharField(max_length=36)
    relatedPersonId = StrictCharField(max_length=36, required=False, allow_null=True)
    named = StrictCharField(max_length=MAX_NAME, required=False, allow_null=True)
    typeName = StrictCharField(max_length=20)
    accepted = StrictBooleanField()


class AnswerSection(Section):
    """Answered suggestions. Found again by what they are about."""

    name, order, models = "answeredSuggestions", 65, (AnsweredSuggestion,)

    def export(self, owner: User) -> Iterator[dict[str, Any]]:
        for row in AnsweredSuggestion.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "personId": str(row.person_id),
                "relatedPersonId": row.related_person_id and str(row.related_person_id),
                "named": row.named or None,
                "typeName": row.type_name,
                "accepted": row.accepted,
                "createdAt": row.created_at,
            }

    def shape(self) -> AnswerShape:
        return AnswerShape()

    def write(self, run: ImportRun, items: list[Item]) -> None:
        ids = run.find_existing(AnsweredSuggestion, items)
        people = {run.find("people", item.data["personId"]) for item in items} - {None}
        rows = AnsweredSuggestion.objects.owned_by(run.owner).filter(person__in=people)
        known = run.index(self.name, {tuple(said): pk for pk, *said in rows.values_list("pk", *_ANSWER)})
        new = []
        for item in items:
            person = run.find("people", item.data["personId"])
            related = run.find("people", item.data.get("relatedPersonId"))
            named = item.data.get("named") or ""
            said = (person, related, named, item.data["typeName"])
            if person is None or person == related or not (related or named):
                run.failed(item, "It does not name two people who came in.")
            elif found := ids.found.get(item.source_id) or known.get(said):
                run.skipped(item, found)
            else:
                values = dict(zip(_ANSWER, said, strict=True)) | {"accepted": item.data["accepted"]}
                made = times_of(item.data, run.now)["created_at"]
                row = AnsweredSuggestion(pk=ids.free[item.source_id], owner=run.owner, created_at=made, **values)
                new.append(row)
                known[said] = row.pk
                run.imported(item, row.pk)
        run.insert(AnsweredSuggestion, new)


_ANSWER = ("person_id", "related_person_id", "named", "type_name")
_TRIPLE = ("person_id", "related_person_id", "relationship_type_id")


def _pair(
    run: ImportRun, item: Item, key: UUID, people: tuple[UUID, UUID], kind: RelationshipType | None
) -> list[Relationship]:
    values = {"owner": run.owner, "notes": item.data.get("notes"), **times_of(item.data, run.now)}
    row = Relationship(pk=key, person_id=people[0], related_person_id=people[1], relationship_type=kind, **values)
    # Newer than its counterpart, whatever the clock says: the older of a pair is the one that reads as it was put.
    back = Relationship(
        pk=max(new_id(), UUID(int=row.pk.int + 1)),
        person_id=people[1],
        related_person_id=people[0],
        relationship_type=kind and kind.inverse,
        inverse=row,
        **values,
    )
    row.inverse = back
    return [row, back]


def register_transfer() -> None:
    """Register what relationships carry; once."""
    register_section(TypeSection())
    register_section(RelationshipSection())
    register_section(AnswerSection())
