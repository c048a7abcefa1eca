"""Creates, updates, deletes and restores interactions, and updates the last contact of their people."""

import datetime as dt
from collections.abc import Collection, Sequence
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.client_ids import claimed_id
from contacts_project.kernel.texts import define_text
from people.dates.schedule import Calendar
from people.lookup import index_interactions
from people.models import Interaction, Participation, Person
from people.models.dates import InteractionQuerySet
from people.services.last_contact import set_counts_at, update_last_contacts
from people.services.person_writer import PersonWriter

_ALL_DELETED = define_text("participants_deleted", "One of them at least must not be in the trash.")

_COLUMNS = ("kind", "at", "title", "notes")


def create_interaction(*, owner: User, data: JsonMapping, now: dt.datetime) -> Interaction:
    """Insert an interaction and update lastContact of its people. Raises FieldError, IdTakenError.

    `data` has `person_ids` (of active people, checked after `owner` was read), `kind`, `at`, and optionally `title`,
    `notes` and `id`.
    """
    with account_write(owner) as write:
        row = Interaction(id=claimed_id(data), owner=owner, created_at=now)
        if not write.is_fresh:
            _check_people(owner, data["person_ids"], present=())
        writer = PersonWriter(owner, write, now)
        _set_fields(row, data, writer.calendar, now)
        row.save(force_insert=True)
        _insert_participations(row, list(enumerate(data["person_ids"])))
        index_interactions(owner.pk, [row])
        update_last_contacts(writer, data["person_ids"])
    return row


def find_interaction(owner: User, interaction_id: UUID) -> Interaction:
    """An active interaction with an active participant. Raises MissingError."""
    return Interaction.objects.owned_by(owner).active().with_active_people().find(interaction_id)


def update_interaction(*, owner: User, interaction_id: UUID, data: JsonMapping, now: dt.datetime) -> Interaction:
    """Update the fields in `data`. Raises FieldError, MissingError.

    `person_ids` may keep people in the trash, but not add any.
    """
    with account_write(owner) as write:
        row = find_interaction(owner, interaction_id)
        former, former_texts = _participant_ids(row), (row.title, row.notes)
        people = list(data.get("person_ids", former))
        _check_people(owner, people, present=former)
        writer = PersonWriter(owner, write, now)
        _set_fields(row, data, writer.calendar, now)
        row.save()
        if former_texts != (row.title, row.notes):
            index_interactions(owner.pk, [row])
        _replace_participations(row, former, people)
        update_last_contacts(writer, {*former, *people})
    return row


def delete_interaction(*, owner: User, interaction_id: UUID, now: dt.datetime) -> None:
    """Move an interaction to the trash and recompute lastContact of its people. Raises MissingError."""
    _set_deleted_at(owner, Interaction.objects.owned_by(owner).active(), interaction_id, deleted_at=now, now=now)


def delete_interactions(*, owner: User, interaction_ids: Collection[UUID], now: dt.datetime) -> None:
    """The same for several active interactions."""
    with account_write(owner) as write:
        rows = Interaction.objects.owned_by(owner).active().filter(pk__in=interaction_ids)
        rows.update(deleted_at=now, updated_at=now, counts_at=None)
        people = Participation.objects.owned_by(owner).filter(interaction__in=interaction_ids)
        update_last_contacts(PersonWriter(owner, write, now), set(people.values_list("person_id", flat=True)))


def restore_interaction(*, owner: User, interaction_id: UUID, now: dt.datetime) -> None:
    """Take an interaction out of the trash. Raises MissingError, NotDeletedError."""
    with account_write(owner):
        row = Interaction.objects.owned_by(owner).with_active_people().find_deleted(interaction_id)
        _set_deleted_at(owner, Interaction.objects.owned_by(owner).deleted(), row.pk, deleted_at=None, now=now)


def _set_deleted_at(
    owner: User, rows: InteractionQuerySet, interaction_id: UUID, *, deleted_at: dt.datetime | None, now: dt.datetime
) -> None:
    with account_write(owner) as write:
        row = rows.with_active_people().find(interaction_id)
        row.deleted_at, row.updated_at = deleted_at, now
        writer = PersonWriter(owner, write, now)
        set_counts_at(row, writer.calendar, now)
        row.save()
        update_last_contacts(writer, _participant_ids(row))


def remove_interaction(*, owner: User, interaction_id: UUID) -> None:
    """Permanently remove an interaction in the trash. Raises MissingError, NotDeletedError."""
    with account_write(owner):
        Interaction.objects.owned_by(owner).with_active_people().find_deleted(interaction_id).delete()


def remove_interactions(owner_id: UUID, ids: Collection[UUID]) -> list[str]:
    """The same for the purge, inside its `account_write`. Returns no files, because interactions have none."""
    Interaction.objects.owned_by(owner_id).deleted().filter(pk__in=ids).delete()
    return []


def _set_fields(row: Interaction, data: JsonMapping, calendar: Calendar, now: dt.datetime) -> None:
    for column in _COLUMNS:
        if column in data:
            setattr(row, column, data[column])
    row.updated_at = now
    set_counts_at(row, calendar, now)


def _participant_ids(row: Interaction) -> list[UUID]:
    """In the order of `personIds`."""
    rows = Participation.objects.owned_by(row.owner_id).filter(interaction=row).order_by("position", "person_id")
    return list(rows.values_list("person_id", flat=True))


def _check_people(owner: User, person_ids: Sequence[UUID], *, present: Collection[UUID]) -> None:
    """Raise FieldError for unknown or deleted people who are not `present`, or if all people are deleted."""
    new = [key for key in person_ids if key not in present]
    active = (
        Person.objects.owned_by(owner).active().filter(pk__in=new) if new else Person.objects.owned_by(owner).none()
    )
    known = set(active.values_list("pk", flat=True))
    for index, key in enumerate(person_ids):
        if key in new and key not in known:
            raise FieldError(f"personIds.{index}", NO_SUCH_RECORD)
    if person_ids and not new and not Person.objects.owned_by(owner).active().filter(pk__in=person_ids).exists():
        raise FieldError("personIds", _ALL_DELETED)


def _insert_participations(row: Interaction, people: Collection[tuple[int, UUID]]) -> None:
    Participation.objects.bulk_create(
        Participation(owner_id=row.owner_id, interaction=row, person_id=key, position=index, at=row.at)
        for index, key in people
    )


def _replace_participations(row: Interaction, former: list[UUID], people: list[UUID]) -> None:
    """Store `people` in this order, with the interaction's instant, in a constant number of statements."""
    rows = Participation.objects.owned_by(row.owner_id).filter(interaction=row)
    if people == former:
        rows.exclude(at=row.at).update(at=row.at)
        return
    rows.delete()
    _insert_participations(row, list(enumerate(people)))
