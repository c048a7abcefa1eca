"""The JSON of interactions: two statements for any number of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.database.ids import IdHex
from contacts_project.kernel.ids import format_id
from contacts_project.kernel.json import JsonObject, Representation, format_timestamp
from people.models import Interaction, Participation
from people.names import COLUMNS, format_name


def serialize_interactions(owner: User, rows: Iterable[Interaction]) -> list[JsonObject]:
    """The rows in their order. `people` has the active participants, `personIds` all of them."""
    listed = list(rows)
    people = _load_participants(owner, [row.pk for row in listed])
    return [_serialize_interaction(row, *people[row.pk]) for row in listed]


def serialize_interactions_by_id(owner: User, ids: Collection[UUID]) -> list[JsonObject]:
    """The active interactions among `ids`, in the order of the ids."""
    found = Interaction.objects.owned_by(owner).active().in_bulk(ids)
    return serialize_interactions(owner, [found[key] for key in ids if key in found])


def represent_interactions(owner: User, ids: Collection[UUID]) -> dict[UUID, Representation]:
    """The interactions among `ids` that are active and have an active participant, by id."""
    rows = list(Interaction.objects.owned_by(owner).active().with_active_people().filter(pk__in=ids))
    return {
        row.pk: Representation(row.revision, body)
        for row, body in zip(rows, serialize_interactions(owner, rows), strict=True)
    }


def represent_interaction(owner: User, interaction_id: UUID) -> Representation:
    """One interaction, active or in the trash. Raises MissingError."""
    row = Interaction.objects.owned_by(owner).find(interaction_id)
    return Representation(row.revision, serialize_interactions(owner, [row])[0])


def participant_ids(owner: User) -> dict[UUID, list[str]]:
    """The ids of the participants of every interaction, by its id."""
    rows = Participation.objects.owned_by(owner).order_by("position", "person_id")
    found: dict[UUID, list[str]] = defaultdict(list)
    for interaction_id, person_id in rows.values_list("interaction_id", "person_id").iterator():
        found[interaction_id].append(str(person_id))
    return found


def _load_participants(owner: User, ids: list[UUID]) -> dict[UUID, tuple[list[str], list[dict[str, str]]]]:
    """By interaction, the ids of all its participants, and the ids and names of the active ones."""
    found: dict[UUID, tuple[list[str], list[dict[str, str]]]] = defaultdict(lambda: ([], []))
    rows = Participation.objects.owned_by(owner).filter(interaction__in=ids).order_by("position", "person_id")
    names = (f"person__{column}" for column in COLUMNS)
    participants = rows.values_list("interaction_id", IdHex("person_id"), "person__deleted_at", *names)
    for interaction_id, person_key, deleted_at, *parts in participants:
        person_ids, people = found[interaction_id]
        person_id = format_id(person_key)
        person_ids.append(person_id)
        if deleted_at is None:
            people.append({"id": person_id, "name": format_name(owner, parts)})
    return found


def _serialize_interaction(row: Interaction, person_ids: list[str], people: list[dict[str, str]]) -> JsonObject:
    return {
        "id": str(row.pk),
        "personIds": person_ids,
        "kind": row.kind,
        "at": format_timestamp(row.at),
        "title": row.title,
        "notes": row.notes,
        "people": people,
        "deletedAt": format_timestamp(row.deleted_at),
        "createdAt": format_timestamp(row.created_at),
        "updatedAt": format_timestamp(row.updated_at),
    }
