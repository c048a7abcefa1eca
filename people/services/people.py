"""Deletes, restores and permanently removes people, with the rows that belong to them.

Each function is one transaction under the account lock. people.services.person_writer creates and updates people.
"""

import datetime as dt
from collections.abc import Collection, Iterable
from contextlib import nullcontext
from uuid import UUID

from django.db.models import Exists, OuterRef

from accounts.models import User
from contacts_project.kernel.errors import MissingError, NotDeletedError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import account_write
from people.counts import deferred_counts
from people.extensions import EXTENSIONS
from people.models import ImportantDate, Interaction, Participation, Person
from people.services.person_writer import PersonWriter
from people.services.plan_limits import check_plan
from people.signals import announce_change, announce_deletion

#: From this many people in one statement on, recounting the account's rows is cheaper than subtracting them one by one.
RECOUNT_THRESHOLD = 500


def delete_person(*, owner: User, person_id: UUID, options: JsonMapping, now: dt.datetime) -> int:
    """Move one person to the trash, as delete_people does; returns the number of people. Raises MissingError."""
    with account_write(owner):
        count = delete_people(owner=owner, person_ids=[person_id], options=options, now=now)
        if not count:  # another request has deleted the person since it was read
            raise MissingError
    return count


def delete_people(*, owner: User, person_ids: Iterable[UUID], options: JsonMapping, now: dt.datetime) -> int:
    """Move people to the trash, with those that extensions add according to `options`; returns the number of people.

    The option `delete_from_card_dav` is passed on with the people_deleted signal.
    """
    with account_write(owner):
        active = Person.objects.owned_by(owner).active()
        chosen = set(active.filter(pk__in=list(person_ids)).values_list("pk", flat=True))
        added_by_extensions = [set(extension.before_delete(owner.pk, chosen, options)) for extension in EXTENSIONS]
        chosen = chosen.union(*added_by_extensions)
        with deferred_counts(owner.pk) if len(chosen) >= RECOUNT_THRESHOLD else nullcontext():
            count: int = active.filter(pk__in=chosen).update(
                deleted_at=now, updated_at=now, contact_due_at=None, contact_due_on=None
            )
        for extension in EXTENSIONS:
            extension.after_delete(owner.pk, chosen, options)
        if chosen:
            mark_related_changed(owner.pk, chosen)
            announce_deletion(owner.pk, sorted(chosen), from_card_dav=bool(options.get("delete_from_card_dav")))
    return count


def restore_person(*, owner: User, person: Person, now: dt.datetime) -> Person:
    """Take a person out of the trash. Raises NotDeletedError, PlanLimitError (people and reminders), MissingError.

    `person` must have been read after `owner`.
    """
    with account_write(owner) as write:
        # is_fresh: nothing was written since `owner` was read, so `person` is current.
        if not write.is_fresh:
            person = Person.objects.owned_by(owner).find(person.pk)
        if not person.is_deleted:
            raise NotDeletedError
        check_plan(owner, "people")
        if owner.plan_limit("reminders") is not None:
            dates = ImportantDate.objects.owned_by(owner).active().filter(person=person, reminder_enabled=True)
            if reminders := dates.count() + person.contact_reminder_enabled:
                check_plan(owner, "reminders", reminders)
        writer = PersonWriter(owner, write, now)
        writer.edit(person)
        person.deleted_at = None
        writer.flush()
        for extension in EXTENSIONS:
            extension.after_restore(person, now)
        mark_related_changed(owner.pk, [person.pk])
    return person


def remove_person(*, owner: User, person_id: UUID) -> list[str]:
    """Remove a person in the trash permanently, with its rows; returns the files to delete after commit.

    Raises NotDeletedError, MissingError.
    """
    with account_write(owner):
        Person.objects.owned_by(owner).find_deleted(person_id)  # under the lock: it may have been restored meanwhile
        return remove_deleted_people(owner.pk, [person_id])


def remove_deleted_people(owner_id: UUID, person_ids: Collection[UUID]) -> list[str]:
    """The same for several people, of which those that are not in the trash stay."""
    with account_write(owner_id) as write:
        rows = Person.objects.owned_by(owner_id).deleted().filter(pk__in=person_ids)
        ids, files = [], []
        for person_id, photo in rows.values_list("pk", "photo"):
            ids.append(person_id)
            files += [photo] if photo else []
        for extension in EXTENSIONS:
            files += extension.before_removal(owner_id, ids)
        interactions = Interaction.objects.owned_by(owner_id)
        # The personIds of these interactions change. Those without any person left are deleted; after the people and
        # their participations are gone, only the revision of this write still finds them.
        if interactions.of_people(rows.values("pk")).update():
            rows.delete()
            marked = interactions.filter(revision=write.revision)
            marked.exclude(Exists(Participation.unscoped.rows().filter(interaction=OuterRef("pk")))).delete()
        else:
            rows.delete()
    return files


def touch_people(owner_id: UUID, person_ids: Collection[UUID], now: dt.datetime) -> None:
    """Mark people as changed whose groups or dates have changed: both are part of their response and of their card.

    Must be called inside `account_write`.
    """
    Person.objects.owned_by(owner_id).filter(pk__in=person_ids).update(updated_at=now)
    announce_change(owner_id, list(person_ids))


def mark_related_changed(owner_id: UUID, person_ids: Collection[UUID]) -> None:
    """Mark the dates, interactions and extension rows of deleted or restored people as changed in the change feed.

    To clients these rows disappear and reappear with their person. Must be called inside `account_write`.
    """
    ImportantDate.objects.owned_by(owner_id).active().filter(person__in=person_ids).update()
    Interaction.objects.owned_by(owner_id).active().of_people(person_ids).update()
    for extension in EXTENSIONS:
        extension.mark_related_changed(owner_id, person_ids)
