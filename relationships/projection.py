"""JSON of relationships and their types, built from columns: a fixed number of queries, no serializer per row."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, TypedDict
from uuid import UUID

import orjson

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, query_by_ids
from contacts_project.kernel.database.expressions import IdHex, TimestampText
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ids import format_id
from contacts_project.kernel.json import JsonObject, Representation, dumps_ascii, format_timestamp
from contacts_project.kernel.text_forms import fold
from people.models import Person, RelationshipType
from people.names import COLUMNS, FULL, display_name
from people.projection.people import FETCH_SIZE, padded_batches
from relationships.models import Relationship, RelationshipQuerySet

# With more ids than this it is cheaper to read all rows of the account and pick the wanted ones in memory.
MAX_IDS_IN_QUERY: Final = 500


class PersonReference(TypedDict):
    """A person as another record refers to it."""

    id: str
    name: str


def load_named_people(
    owner: User,
    keys: Collection[str] | None = None,
    *,
    deleted: bool = False,
    form: str | None = None,
) -> dict[str, PersonReference]:
    """People by `UUID.hex`, ordered by name: those of `keys`, or all (None).

    Only active people, unless `deleted`. With many `keys` the result also holds people that were not asked for.
    `form` is the display format, by default that of the account.
    """
    rows: Iterable[Any]
    if keys is not None and len(keys) <= MAX_IDS_IN_QUERY and not deleted:
        rows = _names_by_id.rows(owner_id=owner.pk, person_ids=[UUID(key) for key in keys])
    else:
        rows = _names(owner.pk, deleted=deleted).in_name_order().iterator()
    order, form = owner.name_order, form or owner.name_display_format
    return {key: {"id": format_id(key), "name": display_name(parts, order=order, form=form)} for key, *parts in rows}


def _names(owner_id: UUID, *, deleted: bool = False) -> Any:
    people = Person.objects.owned_by(owner_id)
    if not deleted:
        people = people.active()
    return people.values_list(IdHex("pk"), *COLUMNS)


@query_by_ids
def _names_by_id(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    rows: Rows = _names(owner_id).filter(pk__in=person_ids).in_name_order()
    return rows


def serialize_relationships(owner: User, rows: RelationshipQuerySet) -> list[orjson.Fragment]:
    """JSON of the rows, in their order. Includes relationships to deleted people."""
    return [orjson.Fragment(text) for _, text in _serialize_joined(owner, rows.values_list(*_JOINED_COLUMNS))]


def load_relationship(owner: User, relationship_id: UUID) -> Representation:
    """One relationship between active people, itself active or in the trash. Raises MissingError."""
    rows = Relationship.objects.owned_by(owner).filter(pk=relationship_id).between_active_people()
    found = _by_id(owner, list(rows.values_list(*_JOINED_COLUMNS)))
    if not found:
        raise MissingError
    return found[relationship_id]


def load_relationships(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The active relationships of `ids` between active people, by id."""
    batches = (_visible_by_ids.rows(owner_id=owner.pk, relationship_ids=batch) for batch in padded_batches(ids))
    return _by_id(owner, list(chain.from_iterable(batches)))


def _by_id(owner: User, rows: Collection[Any]) -> dict[UUID, Representation]:
    return {
        UUID(key): Representation(revision, orjson.Fragment(text))
        for (revision, key, *_), (_, text) in zip(rows, _serialize_joined(owner, rows), strict=True)
    }


def stream_relationships(owner: User) -> Iterator[bytes]:
    """JSON of every active relationship between active people, newest first, one at a time."""
    return (text.encode() for _, text in _serialize_all(owner))


def relationships_json_by_person(owner: User, person_ids: Collection[UUID] | None) -> dict[str, str]:
    """JSON of the active relationships of people, or of everyone (None): by IdHex, joined by commas."""
    if person_ids is None or len(person_ids) > MAX_IDS_IN_QUERY:
        found = _serialize_all(owner)
    else:
        found = _serialize_joined(owner, _joined_by_person.rows(owner_id=owner.pk, person_ids=list(person_ids)))
    texts: dict[str, str] = {}
    for person_key, text in found:
        before = texts.get(person_key)
        texts[person_key] = text if before is None else f"{before},{text}"
    return texts


# The columns of the row of an active relationship.
_ACTIVE_COLUMNS: Final[tuple[Any, ...]] = (
    IdHex("pk"),
    IdHex("person_id"),
    IdHex("related_person_id"),
    IdHex("relationship_type_id"),
    "notes",
    "since",
    "until",
    TimestampText("created_at"),
    TimestampText("updated_at"),
)
# Of any relationship, with what other tables have: the type's label, the names of both people.
_JOINED_COLUMNS: Final[tuple[Any, ...]] = (
    "revision",
    *_ACTIVE_COLUMNS,
    TimestampText("deleted_at"),
    "relationship_type__label",
    *(f"person__{column}" for column in COLUMNS),
    *(f"related_person__{column}" for column in COLUMNS),
)
_NAME_COLUMN_COUNT: Final = len(COLUMNS)
_NAMES_FROM: Final = len(_JOINED_COLUMNS) - 2 * _NAME_COLUMN_COUNT


@query_by_ids
def _visible_by_ids(owner_id: UUID, relationship_ids: Collection[UUID]) -> Rows:
    rows = Relationship.objects.owned_by(owner_id).visible()
    return rows.filter(pk__in=relationship_ids).values_list(*_JOINED_COLUMNS)


@query_by_ids
def _joined_by_person(owner_id: UUID, person_ids: Collection[UUID]) -> Rows:
    return (
        Relationship.objects.owned_by(owner_id)
        .active()
        .filter(person__in=person_ids)
        .between_active_people()
        .order_by("-created_at", "-id")
        .values_list(*_JOINED_COLUMNS)
    )


def _serialize_joined(owner: User, rows: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """IdHex of `person` and JSON of each row of `_JOINED_COLUMNS`."""
    order, form = owner.name_order, owner.name_display_format
    # A person or type that many rows name is written once.
    people: dict[str, tuple[str, str]] = {}
    types: dict[str | None, tuple[str, str]] = {}
    for row in rows:
        columns, names = row[:_NAMES_FROM], row[_NAMES_FROM:]
        _, key, person_key, related_key, type_key, *content, created_at, updated_at, deleted_at, label = columns
        if (person := people.get(person_key)) is None:
            name = display_name(names[:_NAME_COLUMN_COUNT], order=order, form=form)
            person = people[person_key] = _person_json(person_key, name)
        if (related := people.get(related_key)) is None:
            name = display_name(names[_NAME_COLUMN_COUNT:], order=order, form=form)
            related = people[related_key] = _person_json(related_key, name)
        if (kind := types.get(type_key)) is None:
            kind = types[type_key] = _type_json(type_key, label)
        yield person_key, _relationship_json(key, person, related, kind, content, created_at, updated_at, deleted_at)


def _serialize_all(owner: User) -> Iterator[tuple[str, str]]:
    """IdHex of `person` and JSON of every active relationship between active people, newest first.

    Reads names and types once each, and relationships without holding all of them in memory.
    """
    order, form = owner.name_order, owner.name_display_format
    active = _names(owner.pk).iterator(chunk_size=FETCH_SIZE)
    people = {key: _person_json(key, display_name(parts, order=order, form=form)) for key, *parts in active}
    types = {None: _type_json(None, "")} | {
        key: _type_json(key, label)
        for key, label in RelationshipType.objects.owned_by(owner).values_list(IdHex("pk"), "label")
    }
    rows = Relationship.objects.owned_by(owner).active().order_by("-created_at", "-id")
    columns = rows.values_list(*_ACTIVE_COLUMNS).iterator(chunk_size=FETCH_SIZE)
    for key, person_key, related_key, type_key, *content, created_at, updated_at in columns:
        person, related = people.get(person_key), people.get(related_key)
        # While this streams, another write may add people, a type and their relationship. Rows of new people are left
        # out; a new type between known people is read now.
        if person and related:
            if (kind := types.get(type_key)) is None:
                kind = types[type_key] = _read_type(owner, type_key)
            yield person_key, _relationship_json(key, person, related, kind, content, created_at, updated_at)


def _read_type(owner: User, key: str) -> tuple[str, str]:
    label = RelationshipType.objects.owned_by(owner).filter(pk=key).values_list("label", flat=True).first()
    return _type_json(None if label is None else key, label or "")


def _person_json(key: str, name: str) -> tuple[str, str]:
    """The values of `personId` and `person`."""
    text = format_id(key)
    return text, f'{{"id":"{text}","name":{dumps_ascii(name)}}}'


def _type_json(key: str | None, label: str) -> tuple[str, str]:
    """The values of `relationshipTypeId` and `relationshipType`."""
    return (f'"{format_id(key)}"', dumps_ascii({"id": format_id(key), "label": label})) if key else ("null", "null")


def _relationship_json(
    key: str,
    person: tuple[str, str],
    related: tuple[str, str],
    kind: tuple[str, str],
    content: Sequence[str | None],
    created_at: str,
    updated_at: str,
    deleted_at: str | None = None,
) -> str:
    (person_id, person_json), (related_id, related_json), (type_id, type_json) = person, related, kind
    notes, since, until = (dumps_ascii(text) if text else "null" for text in content)
    deleted = f'"{deleted_at}"' if deleted_at else "null"
    # Formatted as text: to build dictionaries and encode them takes twice the time for tens of thousands of rows.
    return (
        f'{{"id":"{format_id(key)}","personId":"{person_id}","relatedPersonId":"{related_id}",'
        f'"relationshipTypeId":{type_id},"notes":{notes},"since":{since},"until":{until},'
        f'"person":{person_json},"relatedPerson":{related_json},"relationshipType":{type_json},'
        f'"deletedAt":{deleted},"createdAt":"{created_at}","updatedAt":"{updated_at}"}}'
    )


def list_types(owner: User) -> list[JsonObject]:
    """The active types, sorted by label without case and accents."""
    # Sorted here, because databases collate text differently.
    types = RelationshipType.objects.owned_by(owner).active().select_related("inverse")
    rows = sorted(types, key=lambda row: (fold(row.label), row.pk))
    return [serialize_type(row) for row in rows]


def load_types(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The active types of `ids`, by id."""
    rows = RelationshipType.objects.owned_by(owner).active().filter(pk__in=ids).select_related("inverse")
    return {row.pk: serialize_type_with_revision(row) for row in rows}


def represent_type(owner: User, type_id: UUID) -> Representation:
    """One type, active or in the trash. Raises MissingError."""
    return serialize_type_with_revision(
        RelationshipType.objects.owned_by(owner).select_related("inverse").find(type_id)
    )


def serialize_type(row: RelationshipType) -> JsonObject:
    inverse = row.active_inverse
    return {
        "id": row.pk,
        "name": row.name,
        "label": row.label,
        "color": row.color,
        "inverseId": inverse and inverse.pk,
        "inverse": inverse and {"id": inverse.pk, "name": inverse.name, "label": inverse.label},
        "symmetric": row.symmetric,
        "deletedAt": row.deleted_at and format_timestamp(row.deleted_at),  # most have none
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }


def serialize_type_with_revision(row: RelationshipType) -> Representation:
    return Representation(row.revision, serialize_type(row))


def serialize_orphans(owner: User, orphans: Collection[str]) -> list[dict[str, str]]:
    """Orphans, given by `UUID.hex`, with their full names, ordered by name."""
    if not orphans:
        return []
    people = load_named_people(owner, orphans, form=FULL)
    return [{"id": person["id"], "fullName": person["name"]} for key, person in people.items() if key in orphans]
