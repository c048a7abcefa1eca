"""Writes of interactions: who took part, and what follows for the last contact of those people."""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import UNKNOWN_ID, FieldError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claimed_id
from people.dates.schedule import Calendar
from people.interactions.days import plan_count
from people.models import Interaction, Participation, Person
from people.services.last_contact import follow_interactions
from people.services.person_writer import PersonWriter
from people.word_index import index_interactions

_COLUMNS = ("kind", "at", "title", "notes")


def create_interaction(*, owner: User, data: Mapping[str, Any], now: dt.datetime) -> Interaction:
    """Note an interaction; lastContact of its people follows. Raises FieldError, IdTakenError.

    `data`: `person_ids` (active, as read after `owner`), `kind`, `at`, and where there is one `title`, `notes`, `id`.
    """
    with account_write(owner) as write:
        row = Interaction(id=claimed_id(data), owner=owner, created_at=now)
        if not write.is_fresh:
            _check_people(owner, data["person_ids"], present=())
        writer = PersonWriter(owner, write, now)
        _set(row, data, writer.calendar, now)
        row.save(force_insert=True)
        _insert(row, list(enumerate(data["person_ids"])))
        index_interactions(owner.pk, [row])
        follow_interactions(writer, data["person_ids"])
    return row


def update_interaction(*, owner: User, interaction_id: UUID, data: Mapping[str, Any], now: dt.datetime) -> Interaction:
    """Change what `data` names; the rest stays. Raises FieldError, MissingError.

    A person in the trash may stay among `person_ids`, and nobody else who is there may come.
    """
    with account_write(owner) as write:
        row = Interaction.objects.owned_by(owner).active().with_somebody().find(interaction_id)
        former, said = _people_of(row), (row.title, row.notes)
        people = list(data.get("person_ids", former))
        _check_people(owner, people, present=former)
        writer = PersonWriter(owner, write, now)
        _set(row, data, writer.calendar, now)
        row.save()
        if said != (row.title, row.notes):
            index_interactions(owner.pk, [row])
        _replace(row, former, people)
        follow_interactions(writer, {*former, *people})
    return row


def delete_interaction(*, owner: User, interaction_id: UUID, now: dt.datetime) -> None:
    """Move it to the trash; lastContact goes back to what it was before it. Raises MissingError."""
    _move(owner, Interaction.objects.owned_by(owner).active(), interaction_id, deleted_at=now, now=now)


def delete_interactions(*, owner: User, interaction_ids: Collection[UUID], now: dt.datetime) -> None:
    """The same for several that are active."""
    with account_write(owner) as write:
        rows = Interaction.objects.owned_by(owner).active().filter(pk__in=interaction_ids)
        rows.update(deleted_at=now, updated_at=now, counts_at=None)
        people = Participation.objects.owned_by(owner).filter(interaction__in=interaction_ids)
        follow_interactions(PersonWriter(owner, write, now), set(people.values_list("person_id", flat=True)))


def restore_interaction(*, owner: User, interaction_id: UUID, now: dt.datetime) -> None:
    """Take it out of the trash. Raises MissingError, NotDeletedError."""
    with account_write(owner):
        row = Interaction.objects.owned_by(owner).with_somebody().find_deleted(interaction_id)
        _move(owner, Interaction.objects.owned_by(owner).deleted(), row.pk, deleted_at=None, now=now)


def _move(owner: User, rows: Any, interaction_id: UUID, *, deleted_at: dt.datetime | None, now: dt.datetime) -> None:
    with account_write(owner) as write:
        row = rows.with_somebody().find(interaction_id)
        row.deleted_at, row.updated_at = deleted_at, now
        writer = PersonWriter(owner, write, now)
        plan_count(row, writer.calendar, now)
        row.save()
        follow_interactions(writer, _people_of(row))


def remove_interaction(*, owner: User, interaction_id: UUID) -> None:
    """Remove one that is in the trash for good. Raises MissingError, NotDeletedError."""
    with account_write(owner):
        Interaction.objects.owned_by(owner).with_somebody().find_deleted(interaction_id).delete()


def remove_interactions(owner_id: UUID, ids: Collection[UUID]) -> list[str]:
    """The same for the purge, inside the caller's write; no files hang on them."""
    Interaction.objects.owned_by(owner_id).deleted().filter(pk__in=ids).delete()
    return []


def _set(row: Interaction, data: Mapping[str, Any], calendar: Calendar, now: dt.datetime) -> None:
    for column in _COLUMNS:
        if column in data:
            setattr(row, column, data[column])
    row.updated_at = now
    plan_count(row, calendar, now)


def _people_of(row: Interaction) -> list[UUID]:
    """In their order."""
    rows = Participation.objects.owned_by(row.owner_id).filter(interaction=row).order_by("position", "person_id")
    return list(rows.values_list("person_id", flat=True))


def _check_people(owner: User, person_ids: Sequence[UUID], *, present: Collection[UUID]) -> None:
    """Raise for whom the account does not have, and for who is in the trash and not `present`."""
    new = [key for key in person_ids if key not in present]
    active = (
        Person.objects.owned_by(owner).active().filter(pk__in=new) if new else Person.objects.owned_by(owner).none()
    )
    known = set(active.values_list("pk", flat=True))
    for place, key in enumerate(person_ids):
        if key in new and key not in known:
            raise FieldError(f"personIds.{place}", UNKNOWN_ID)
    if person_ids and not new and not Person.objects.owned_by(owner).active().filter(pk__in=person_ids).exists():
        raise FieldError("personIds", "One of them at least must not be in the trash.")


def _insert(row: Interaction, people: Collection[tuple[int, UUID]]) -> None:
    Participation.objects.bulk_create(
        Participation(owner_id=row.owner_id, interaction=row, person_id=key, position=place, at=row.at)
        for place, key in people
    )


def _replace(row: Interaction, former: list[UUID], people: list[UUID]) -> None:
    """Make these the people, in this order, at the interaction's instant: three statements at most."""
    rows = Participation.objects.owned_by(row.owner_id).filter(interaction=row)
    if people == former:
        rows.exclude(at=row.at).update(at=row.at)
        return
    rows.delete()
    _insert(row, list(enumerate(people)))
