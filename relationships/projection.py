"""Answers of relationships and types, built from columns: a constant number of queries, no serializer a row."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, TypedDict
from uuid import UUID

import orjson

from accounts.models import User
from contacts_project.kernel.api.columns import TimestampText
from contacts_project.kernel.api.ids import IdHex
from contacts_project.kernel.api.json import Representation, dumps_ascii, format_id, format_timestamp
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import MissingError
from people.models import Person, RelationshipType
from people.names import COLUMNS, FULL, display_name
from people.projection.people import FETCH_SIZE
from relationships.models import Relationship, RelationshipQuerySet

# Up to so many ids are named in a query; for more, all of the account's rows are read and looked up in memory.
FEW: Final = 500


class Named(TypedDict):
    """A person in somebody else's answer."""

    id: str
    name: str


def named_people(
    owner: User,
    keys: Collection[str] | None = None,
    *,
    deleted: bool = False,
    form: str | None = None,
) -> dict[str, Named]:
    """People by the 32 digits of their id, in name order: the active (all, with `deleted`) of `keys`, or everyone.

    More than was asked for may come. `form` is the account's display format unless given.
    """
    rows: Iterable[Any]
    if keys is not None and len(keys) <= FEW and not deleted:
        rows = _FEW_NAMES.rows(owner_id=owner.pk, person_ids=[UUID(key) for key in keys])
    else:
        rows = _names(owner.pk, deleted=deleted).in_name_order().iterator()
    order, form = owner.name_order, form or owner.name_display_format
    return {row[0]: {"id": format_id(row[0]), "name": display_name(row[1:], order=order, form=form)} for row in rows}


def _names(owner_id: UUID, *, deleted: bool = False) -> Any:
    people = Person.objects.owned_by(owner_id)
    if not deleted:
        people = people.active()
    return people.values_list(IdHex("pk"), *COLUMNS)


_FEW_NAMES = CompiledQuery(lambda owner_id, person_ids: _names(owner_id).filter(pk__in=person_ids).in_name_order())


def relationship_answers(owner: User, rows: RelationshipQuerySet) -> list[orjson.Fragment]:
    """Answers as JSON, in the order of the rows, also of relationships to deleted people."""
    return [orjson.Fragment(text) for _, text in _texts(owner, rows.values_list(*_COLUMNS, *_JOINED))]


def whole_relationship(owner: User, relationship_id: UUID) -> Representation:
    """One relationship between active people, in or out of the trash itself. Raises MissingError."""
    for shown in _shown(owner, _ONE.rows(owner_id=owner.pk, relationship_id=relationship_id)).values():
        return shown
    raise MissingError


def some_relationships(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """Those of the relationships that are active and between active people, by id."""
    rows = Relationship.objects.owned_by(owner).visible().filter(pk__in=ids)
    return _shown(owner, list(rows.values_list(*_COLUMNS, *_JOINED, "revision")))


def _shown(owner: User, rows: list[Any]) -> dict[UUID, Representation]:
    """Rows with their revision behind the columns of the answer."""
    texts = _texts(owner, rows)
    return {
        UUID(row[0]): Representation(row[-1], orjson.Fragment(text)) for row, (_, text) in zip(rows, texts, strict=True)
    }


def all_relationships(owner: User) -> Iterator[bytes]:
    """The same for every active relationship, newest first, each as JSON when it is asked for."""
    return (text.encode() for _, text in _texts_of_all(owner))


def relationship_texts(owner: User, person_ids: Collection[UUID] | None) -> dict[str, str]:
    """The same answers for the active relationships of people, of all for None: by IdHex, with commas between."""
    if person_ids is None or len(person_ids) > FEW:
        found = _texts_of_all(owner)
    else:
        found = _texts(owner, _OF_PEOPLE.rows(owner_id=owner.pk, person_ids=list(person_ids)))
    texts: dict[str, str] = {}
    for person, text in found:
        before = texts.get(person)
        texts[person] = text if before is None else f"{before},{text}"
    return texts


_COLUMNS: Final = (
    IdHex("pk"),
    IdHex("person_id"),
    IdHex("related_person_id"),
    IdHex("relationship_type_id"),
    "notes",
    TimestampText("deleted_at"),
    TimestampText("created_at"),
    TimestampText("updated_at"),
)


def _texts(owner: User, rows: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """The IdHex of `person` and the whole answer as JSON text, of each row, with which names and type have come.

    Put together of what is JSON already; dictionaries for tens of thousands of rows would cost twice the time.
    """
    order, form = owner.name_order, owner.name_display_format
    for row in rows:
        person = _person(row[1], display_name(row[8:16], order=order, form=form))
        related = _person(row[2], display_name(row[16:24], order=order, form=form))
        yield row[1], _relationship_json(row[:8], person, related, _type_json(row[3], row[24]))


def _texts_of_all(owner: User) -> Iterator[tuple[str, str]]:
    """The same for everybody's: names and types are read once each, the rows are not held."""
    order, form = owner.name_order, owner.name_display_format
    active = _names(owner.pk).iterator(chunk_size=FETCH_SIZE)
    people = {row[0]: _person(row[0], display_name(row[1:], order=order, form=form)) for row in active}
    types = {None: _type_json(None, "")} | {
        key: _type_json(key, label)
        for key, label in RelationshipType.objects.owned_by(owner).values_list(IdHex("pk"), "label")
    }
    rows = Relationship.objects.owned_by(owner).active().order_by("-created_at", "-id")
    for row in rows.values_list(*_COLUMNS).iterator(chunk_size=FETCH_SIZE):
        if row[1] in people and row[2] in people:
            yield row[1], _relationship_json(row, people[row[1]], people[row[2]], types[row[3]])


def _of_active_people(rows: RelationshipQuerySet) -> RelationshipQuerySet:
    return rows.filter(person__deleted_at=None, related_person__deleted_at=None)


# What stands in other tables: the names of both people, the type's label.
_JOINED: Final = (
    *(f"person__{column}" for column in COLUMNS),
    *(f"related_person__{column}" for column in COLUMNS),
    "relationship_type__label",
)


_ONE = CompiledQuery(
    lambda owner_id, relationship_id: _of_active_people(
        Relationship.objects.owned_by(owner_id).filter(pk=relationship_id)
    ).values_list(*_COLUMNS, *_JOINED, "revision")
)
_OF_PEOPLE = CompiledQuery(
    lambda owner_id, person_ids: (
        _of_active_people(Relationship.objects.owned_by(owner_id).active().filter(person__in=person_ids))
        .order_by("-created_at", "-id")
        .values_list(*_COLUMNS, *_JOINED)
    )
)


def _person(key: str, name: str) -> tuple[str, str]:
    """`personId` and `person`."""
    text = format_id(key)
    return text, f'{{"id":"{text}","name":{dumps_ascii(name)}}}'


def _type_json(key: str | None, label: str) -> tuple[str, str]:
    """`relationshipTypeId` and `relationshipType`."""
    return (f'"{format_id(key)}"', dumps_ascii({"id": format_id(key), "label": label})) if key else ("null", "null")


def _relationship_json(row: Any, person: tuple[str, str], related: tuple[str, str], kind: tuple[str, str]) -> str:
    key, _, _, _, notes, deleted_at, created_at, updated_at = row
    return (
        f'{{"id":"{format_id(key)}","personId":"{person[0]}","relatedPersonId":"{related[0]}",'
        f'"relationshipTypeId":{kind[0]},"notes":{dumps_ascii(notes) if notes else "null"},'
        f'"person":{person[1]},"relatedPerson":{related[1]},"relationshipType":{kind[1]},'
        f'"deletedAt":{_quoted(deleted_at)},"createdAt":"{created_at}","updatedAt":"{updated_at}"}}'
    )


def _quoted(moment: str | None) -> str:
    return f'"{moment}"' if moment else "null"


def type_answers(rows: Iterable[RelationshipType]) -> list[dict[str, Any]]:
    """Types with their inverse; `rows` come with it selected."""
    return [type_answer(row) for row in rows]


def type_answer(row: RelationshipType) -> dict[str, Any]:
    inverse = row.active_inverse
    return {
        "id": row.pk,
        "name": row.name,
        "label": row.label,
        "color": row.color,
        "inverseId": inverse and inverse.pk,
        "inverse": inverse and {"id": inverse.pk, "name": inverse.name, "label": inverse.label},
        "symmetric": row.symmetric,
        "deletedAt": format_timestamp(row.deleted_at),
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }


def whole_type(row: RelationshipType) -> Representation:
    """The same of one, with the revision of its row."""
    return Representation(row.revision, type_answer(row))


def orphan_answers(owner: User, orphans: Collection[str]) -> list[dict[str, str]]:
    """Orphans, by the 32 digits of their ids, with their full names, in name order."""
    if not orphans:
        return []
    people = named_people(owner, orphans, form=FULL)
    return [{"id": person["id"], "fullName": person["name"]} for key, person in people.items() if key in orphans]
