"""Writes of people: each a transaction in the account's turn, with everything that hangs on the person."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.http import Http404

from accounts.models import User
from contacts_project.kernel.api.errors import FieldError, NotDeletedError
from contacts_project.kernel.api.fields import UNKNOWN_ID
from contacts_project.kernel.ownership.writing import account_write
from people import schedule
from people.aspects import aspects
from people.cards import forget_lines
from people.documents import settle
from people.geocoding import note_addresses
from people.lookup import refresh_lookup
from people.models import ImportantDate, Person
from people.names import COLUMNS as NAME_COLUMNS
from people.names import NameParts, search_key, sort_key
from people.services.custom_fields import set_values
from people.services.groups import set_groups
from people.services.important_dates import replace_dates
from people.services.plan import check_plan
from people.signals import people_changed, people_deleted

SCALARS = (
    *NAME_COLUMNS,
    "organization",
    "job_title",
    "gender",
    "anniversary",
    "last_contact",
    "notes",
    "relationship_to_user",
    "contact_reminder_enabled",
    "contact_reminder_interval",
    "contact_reminder_interval_unit",
    "card_dav_sync_enabled",
    "uid",
    "card_lines",
)
_CONTACT = {
    "last_contact",
    "contact_reminder_enabled",
    "contact_reminder_interval",
    "contact_reminder_interval_unit",
}


def create_person(*, owner: User, data: Mapping[str, Any], now: dt.datetime) -> Person:
    """Insert a person with all that its data names. Raises PlanLimitError, FieldError.

    `data` holds validated values by column, documents as lists of entries (people.documents), `groups` and
    `relationship_to_user` as rows, `important_dates` and `custom_field_values` as their services take them.
    """
    data = dict(data)
    with account_write(owner):
        check_plan(owner, "people")
        for aspect in aspects():
            aspect.check_create(data)
        person = Person(owner=owner, created_at=now)
        _write(person, data, now)
        for aspect in aspects():
            aspect.created(person, data)
        announce_change(owner.pk, [person.pk])
    return person


def update_person(*, person: Person, data: Mapping[str, Any], now: dt.datetime) -> Person:
    """Write what `data` names, replacing sets as a whole; the rest stays. Raises FieldError, Http404."""
    with account_write(person.owner_id):
        person = _current(person, Person.objects.owned_by(person.owner_id).active())
        _write(person, data, now)
        announce_change(person.owner_id, [person.pk])
    return person


def delete_people(*, owner: User, person_ids: Iterable[UUID], options: Mapping[str, Any], now: dt.datetime) -> int:
    """Move people to the trash, and those with them that the aspects add as `options` say; returns how many.

    `delete_from_card_dav` among the options travels with the news to the server.
    """
    with account_write(owner):
        active = Person.objects.owned_by(owner).active()
        chosen = set(active.filter(pk__in=list(person_ids)).values_list("pk", flat=True))
        more = [set(aspect.deleting(owner.pk, chosen, options)) for aspect in aspects()]
        chosen = chosen.union(*more)
        count: int = active.filter(pk__in=chosen).update(
            deleted_at=now, updated_at=now, revision=F("revision") + 1, contact_due_at=None, contact_due_on=None
        )
        news = partial(
            people_deleted.send,
            sender=Person,
            owner_id=owner.pk,
            person_ids=sorted(chosen),
            from_card_dav=bool(options.get("delete_from_card_dav")),
        )
        if chosen:
            transaction.on_commit(news, robust=True)
    return count


def restore_person(*, person: Person, now: dt.datetime) -> Person:
    """Take a person out of the trash. Raises NotDeletedError, PlanLimitError (people and reminders), Http404."""
    owner = person.owner
    with account_write(owner):
        person = _current(person, Person.objects.owned_by(owner))
        if person.deleted_at is None:
            raise NotDeletedError
        check_plan(owner, "people")
        if reminders := _reminders_of(person):
            check_plan(owner, "reminders", reminders)
        person.deleted_at = None
        person.revision += 1
        note_addresses(owner, [person])
        schedule.plan_contact(person, schedule.calendar_of(owner), now)
        person.save()
        for aspect in aspects():
            aspect.restored(person, now)
        announce_change(owner.pk, [person.pk])
    return person


def remove_people(*, owner: User, person_ids: Collection[UUID]) -> list[str]:
    """Remove people in the trash for good with all that hangs on them; returns the files to delete after commit."""
    with account_write(owner):
        return remove_deleted_people(owner.pk, person_ids)


def remove_deleted_people(owner_id: UUID, person_ids: Collection[UUID]) -> list[str]:
    """The same for the purge, inside the caller's transaction."""
    rows = Person.objects.owned_by(owner_id).deleted().filter(pk__in=person_ids)
    files = [photo for photo in rows.values_list("photo", flat=True) if photo]
    rows.delete()
    return files


def announce_change(owner_id: UUID, person_ids: list[UUID]) -> None:
    """Tell the apps above on commit that the content of people changed."""
    news = partial(people_changed.send, sender=Person, owner_id=owner_id, person_ids=person_ids)
    transaction.on_commit(news, robust=True)


def set_name_keys(person: Person) -> None:
    """Compute the columns by which a person is sorted and searched."""
    parts = NameParts(*(getattr(person, column) for column in NAME_COLUMNS))
    person.sort_key, person.search_key = sort_key(parts), search_key(parts)


def _write(person: Person, data: Mapping[str, Any], now: dt.datetime) -> None:
    was_reminding = not person._state.adding and person.contact_reminder_enabled
    for column in data.keys() & set(SCALARS):
        setattr(person, column, data[column])
    for field in data.keys() & set(Person.DOCUMENTS):
        setattr(person, field, settle(field, data[field], getattr(person, field)))
        forget_lines(person, field)
    if "addresses" in data:
        note_addresses(person.owner_id, [person])
    set_name_keys(person)
    if data.get("relationship_to_user"):
        _check_type(person)
    if data.keys() & _CONTACT:
        _plan_contact(person, was_reminding, now)
    person.revision += 1
    person.save()
    refresh_lookup(person.owner_id, [person])
    if "groups" in data:
        set_groups(person=person, groups=data["groups"])
    if "custom_field_values" in data:
        set_values(person=person, entries=data["custom_field_values"])
    if "important_dates" in data:
        replace_dates(person=person, entries=data["important_dates"], now=now)


def _plan_contact(person: Person, was_reminding: bool, now: dt.datetime) -> None:
    if person.contact_reminder_enabled:
        person.contact_reminder_interval = person.contact_reminder_interval or 1
        person.contact_reminder_interval_unit = person.contact_reminder_interval_unit or "MONTHS"
        if not was_reminding:
            check_plan(person.owner, "reminders")
    schedule.plan_contact(person, schedule.calendar_of(person.owner_id), now)


def _check_type(person: Person) -> None:
    """Raise where the type was deleted since the body was read."""
    row: Any = person.relationship_to_user
    if not type(row).objects.owned_by(person.owner_id).active().filter(pk=row.pk).exists():
        raise FieldError("relationshipToUserId", UNKNOWN_ID)


def _reminders_of(person: Person) -> int:
    dates = ImportantDate.objects.owned_by(person.owner_id).active().filter(person=person, reminder_enabled=True)
    return int(dates.count()) + person.contact_reminder_enabled


def _current(person: Person, rows: Any) -> Person:
    """The row as it is now, in this turn."""
    found: Person | None = rows.filter(pk=person.pk).first()
    if found is None:
        raise Http404
    return found
