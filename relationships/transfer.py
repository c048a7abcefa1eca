"""Relationship types, relationships and answered suggestions in the export and import of an account."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from accounts.models import User
from accounts.transfer.run import ImportRecord, ResolvedIds, TransferRun
from accounts.transfer.sections import Section, TimestampsSerializer, register_section, times_of
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.api.fields import ColorField, StrictBooleanField, StrictCharField
from contacts_project.kernel.ids import new_id
from contacts_project.kernel.json import Json, JsonObject
from contacts_project.kernel.texts import define_text
from people.cards.related_names import MAX_NAME
from people.models import Person, RelationshipType
from people.transfer.sections import TWO_PEOPLE_MISSING
from relationships.api.serializers import PartialDateField, TypeNameField
from relationships.models import AnsweredSuggestion, Relationship, is_in_order
from relationships.services.relationships import CONTENT, ENDS_BEFORE
from relationships.services.types import DEFAULT_TYPES, NAME_LENGTH, restore_deleted_types

_NO_INVERSE = define_text("inverse_not_imported", "Its inverse did not come in, or does not name it as its own.")
_TYPE_WITHOUT_INVERSE = define_text("type_without_inverse", "Its type has no inverse.")
_SELF = define_text("related_to_self", "Nobody is related to themselves.")


class RelationshipTypeRecordSerializer(TimestampsSerializer):
    name = TypeNameField(max_length=NAME_LENGTH)
    label = StrictCharField(max_length=NAME_LENGTH)  # type: ignore[assignment]  # hides Field.label, which no field needs
    color = ColorField()
    inverseId = StrictCharField(max_length=36, required=False, allow_null=True)


class RelationshipTypeSection(Section):
    """An existing type is found by id, else by name among the active ones. A type and its inverse are one unit."""

    name, order, models = "relationshipTypes", 40, (RelationshipType,)

    def export(self, owner: User) -> Iterator[JsonObject]:
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

    def serializer(self) -> RelationshipTypeRecordSerializer:
        return RelationshipTypeRecordSerializer()

    def units(self, records: list[Json]) -> Iterator[list[int]]:
        """Each record with its inverse."""
        # Called before the records are validated: they may be no objects, and name each other inconsistently.
        indexes = {record.get("id"): index for index, record in enumerate(records) if isinstance(record, dict)}
        assigned: set[int] = set()
        for index, record in enumerate(records):
            inverse = indexes.get(str(record.get("inverseId"))) if isinstance(record, dict) else None
            # The keys of a dictionary: a symmetric type is its own inverse, and must be in the unit once.
            unit = [one for one in dict.fromkeys([index, inverse]) if one is not None and one not in assigned]
            assigned.update(unit)
            if unit:
                yield unit

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(RelationshipType, records)
        existing = RelationshipType.objects.owned_by(run.owner).select_related("inverse")
        if _replace_default_types(run, ids):
            existing = existing.none()
        names = [record.data["name"] for record in records]
        by_name = run.index(self.name, {row.name: row for row in existing.active().filter(name__in=names)})
        by_id = existing.in_bulk(list(ids.found.values()))
        batch = _TypeBatch(ids, {source: by_id[key] for source, key in ids.found.items()}, by_name)
        by_source = {str(record.source_id): record for record in records}
        for record in records:
            # Imported already, as the inverse of an earlier record.
            if record.status:
                continue
            inverse_id = record.data.get("inverseId")
            inverse = by_source.get(inverse_id or "")
            if inverse_id and (
                inverse is None or inverse.status or inverse.data.get("inverseId") != str(record.source_id)
            ):
                run.failed(record, _NO_INVERSE)
            else:
                _import_with_inverse(run, record, inverse, batch)
        run.insert(RelationshipType, batch.to_create)
        if not run.dry:
            RelationshipType.unscoped.bulk_update(batch.to_update, ["inverse"])


@dataclass
class _TypeBatch:
    """Existing types by the id of their record and by name, and the rows that a batch of records creates or updates."""

    ids: ResolvedIds
    by_source_id: dict[UUID, RelationshipType]
    by_name: dict[str, RelationshipType]
    to_create: list[RelationshipType] = field(default_factory=list)
    to_update: list[RelationshipType] = field(default_factory=list)

    def find_existing(self, record: ImportRecord) -> RelationshipType | None:
        # Names are unique among active types only, so a record from the trash is not matched by name.
        by_name = None if record.data.get("deleted_at") else self.by_name.get(record.data["name"])
        return self.by_source_id.get(record.source_id) or by_name


def _import_with_inverse(
    run: TransferRun, record: ImportRecord, inverse: ImportRecord | None, batch: _TypeBatch
) -> None:
    """Import a type and its inverse: another record, the same one (symmetric), or None.

    An existing type keeps the inverse that it has; one without gets the inverse of the document.
    """
    ends = [record] if inverse is None or inverse is record else [record, inverse]
    existing = [batch.find_existing(end) for end in ends]
    for end, other, row in zip(ends, reversed(ends), existing, strict=True):
        if row and (row.inverse or inverse is None):
            run.skipped(end, row.pk, ref=row)
            # Records that refer to the other end get the inverse of the existing type.
            if row.inverse and other is not end:
                run.skipped(other, row.inverse.pk, ref=row.inverse)
            return
    rows = [
        row
        or RelationshipType(
            pk=batch.ids.new[end.source_id],
            owner=run.owner,
            name=end.data["name"],
            label=end.data["label"],
            color=end.data["color"],
            **times_of(end.data, run.now),
        )
        for end, row in zip(ends, existing, strict=True)
    ]
    for end, row, partner, was_existing in zip(ends, rows, reversed(rows), existing, strict=True):
        row.inverse = partner if inverse else None
        (run.skipped if was_existing else run.imported)(end, row.pk, ref=row)
        (batch.to_update if was_existing else batch.to_create).append(row)
        if not row.is_deleted:
            batch.by_name[row.name] = row


def _replace_default_types(run: TransferRun, ids: ResolvedIds) -> bool:
    """Before the first batch, delete the default types of an account without people, to make room for the document's.

    Returns whether the types in the database must be ignored: they were deleted, or a dry run would have deleted them.
    """
    default_types = run.single(_DefaultTypes)
    if RelationshipTypeSection.name in run.started_sections:
        # In later batches the database has the types of the earlier ones; in a dry run still the default types.
        return default_types.are_replaced and run.dry
    rows = RelationshipType.objects.owned_by(run.owner)
    default_names = {name for name, _, _ in DEFAULT_TYPES}
    default_types.are_replaced = (
        not Person.objects.owned_by(run.owner).exists()
        and not ids.found
        and set(rows.values_list("name", flat=True)) <= default_names
    )
    if default_types.are_replaced and not run.dry:
        rows.delete()
    return default_types.are_replaced


class _DefaultTypes:
    """Whether the run has replaced the account's default types, or would have if it were not dry."""

    are_replaced = False


class RelationshipRecordSerializer(TimestampsSerializer):
    personId = StrictCharField(max_length=36)
    relatedPersonId = StrictCharField(max_length=36)
    relationshipTypeId = StrictCharField(max_length=36, required=False, allow_null=True)
    notes = StrictCharField(max_length=1000, required=False, allow_null=True)
    since = PartialDateField(required=False, allow_null=True)
    until = PartialDateField(required=False, allow_null=True)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if attrs["personId"] == attrs["relatedPersonId"]:
            raise InvalidError({"relatedPersonId": [_SELF]})
        if not is_in_order(attrs.get("since"), attrs.get("until")):
            raise InvalidError({"until": [ENDS_BEFORE]})
        return attrs


class RelationshipSection(Section):
    """A pair is one record, in the direction that the user entered. It is found by id, else by people and type."""

    name, order, models = "relationships", 60, (Relationship,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in Relationship.objects.owned_by(owner).one_of_each_pair().order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "personId": str(row.person_id),
                "relatedPersonId": str(row.related_person_id),
                "relationshipTypeId": row.relationship_type_id and str(row.relationship_type_id),
                "notes": row.notes,
                "since": row.since,
                "until": row.until,
                "createdAt": row.created_at,
                "deletedAt": row.deleted_at,
            }

    def serializer(self) -> RelationshipRecordSerializer:
        return RelationshipRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(Relationship, records)
        people = {run.find("people", record.data["personId"]) for record in records} - {None}
        active = Relationship.objects.owned_by(run.owner).active().filter(person__in=people)
        existing = run.index(self.name, {tuple(key): pk for pk, *key in active.values_list("pk", *_NATURAL_KEY)})
        new: list[Relationship] = []
        for record in records:
            person = run.find("people", record.data["personId"])
            related = run.find("people", record.data["relatedPersonId"])
            relationship_type = run.find("relationshipTypes", record.data.get("relationshipTypeId"))
            natural_key = (person, related, relationship_type and relationship_type.pk)
            if found := ids.found.get(record.source_id):
                run.skipped(record, found)
            elif person is None or related is None or person == related:
                run.failed(record, TWO_PEOPLE_MISSING)
            elif relationship_type and relationship_type.inverse is None:
                run.failed(record, _TYPE_WITHOUT_INVERSE)
            elif not record.data.get("deleted_at") and (found := existing.get(natural_key)):
                run.skipped(record, found)
            else:
                pair = _build_pair(run, record, ids.new[record.source_id], (person, related), relationship_type)
                new += pair
                type_ids = [record.data.get("relationshipTypeId")]
                missing = run.describe_missing(relationshipTypeId=("relationshipTypes", type_ids))
                run.imported(record, pair[0].pk, missing)
                if not pair[0].is_deleted:
                    existing |= {tuple(getattr(row, column) for column in _NATURAL_KEY): row.pk for row in pair}
        run.insert(Relationship, new)
        if not run.dry:
            # An active relationship must not have a type that is in the trash.
            restore_deleted_types(
                run.owner.pk, {row.relationship_type_id for row in new if not row.is_deleted}, run.now
            )


class AnsweredSuggestionRecordSerializer(TimestampsSerializer):
    personId = StrictCharField(max_length=36)
    relatedPersonId = StrictCharField(max_length=36, required=False, allow_null=True)
    named = StrictCharField(max_length=MAX_NAME, required=False, allow_null=True)
    typeName = StrictCharField(max_length=20)
    accepted = StrictBooleanField()


class AnsweredSuggestionSection(Section):
    """An existing answer is found by id, else by people, name on the card and type."""

    name, order, models = "answeredSuggestions", 65, (AnsweredSuggestion,)

    def export(self, owner: User) -> Iterator[JsonObject]:
        for row in AnsweredSuggestion.objects.owned_by(owner).order_by("pk").iterator():
            yield {
                "id": str(row.pk),
                "personId": str(row.person_id),
                "relatedPersonId": row.related_person_id and str(row.related_person_id),
                "named": row.name_on_card or None,
                "typeName": row.type_name,
                "accepted": row.accepted,
                "createdAt": row.created_at,
            }

    def serializer(self) -> AnsweredSuggestionRecordSerializer:
        return AnsweredSuggestionRecordSerializer()

    def write(self, run: TransferRun, records: list[ImportRecord]) -> None:
        ids = run.find_existing(AnsweredSuggestion, records)
        people = {run.find("people", record.data["personId"]) for record in records} - {None}
        rows = AnsweredSuggestion.objects.owned_by(run.owner).filter(person__in=people)
        existing = run.index(self.name, {tuple(key): pk for pk, *key in rows.values_list("pk", *_ANSWER_NATURAL_KEY)})
        new = []
        for record in records:
            person = run.find("people", record.data["personId"])
            related = run.find("people", record.data.get("relatedPersonId"))
            name_on_card = record.data.get("named") or ""
            natural_key = (person, related, name_on_card, record.data["typeName"])
            if person is None or person == related or not (related or name_on_card):
                run.failed(record, TWO_PEOPLE_MISSING)
            elif found := ids.found.get(record.source_id) or existing.get(natural_key):
                run.skipped(record, found)
            else:
                values = dict(zip(_ANSWER_NATURAL_KEY, natural_key, strict=True)) | {
                    "accepted": record.data["accepted"]
                }
                created_at = times_of(record.data, run.now)["created_at"]
                row = AnsweredSuggestion(pk=ids.new[record.source_id], owner=run.owner, created_at=created_at, **values)
                new.append(row)
                existing[natural_key] = row.pk
                run.imported(record, row.pk)
        run.insert(AnsweredSuggestion, new)


# Two active rows with the same values of these columns are the same relationship, or the same answer.
_NATURAL_KEY = ("person_id", "related_person_id", "relationship_type_id")
_ANSWER_NATURAL_KEY = ("person_id", "related_person_id", "name_on_card", "type_name")


def _build_pair(
    run: TransferRun,
    record: ImportRecord,
    key: UUID,
    people: tuple[UUID, UUID],
    relationship_type: RelationshipType | None,
) -> list[Relationship]:
    content = {column: record.data.get(column) for column in CONTENT}
    values = {"owner": run.owner, **content, **times_of(record.data, run.now)}
    row = Relationship(
        pk=key, person_id=people[0], related_person_id=people[1], relationship_type=relationship_type, **values
    )
    # The larger id marks the inverse row (`one_of_each_pair`). `key` has the time of the id in the document, which may
    # be ahead of this clock: then the id that follows `key` is the larger one.
    inverse = Relationship(
        pk=max(new_id(), UUID(int=row.pk.int + 1)),
        person_id=people[1],
        related_person_id=people[0],
        relationship_type=relationship_type and relationship_type.inverse,
        inverse=row,
        **values,
    )
    row.inverse = inverse
    return [row, inverse]


def register_transfer() -> None:
    """Register the sections. Must be called once, when all models are loaded."""
    register_section(RelationshipTypeSection())
    register_section(RelationshipSection())
    register_section(AnsweredSuggestionSection())
