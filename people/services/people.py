"""People to the trash and back, and removed for good: each a transaction under the account's lock, with everything that
hangs on the person. Creating and changing people is the writer's (people.services.person_writer)."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from accounts.models import User
from contacts_project.kernel.errors import NotDeletedError
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from people.counts import deferred_counts
from people.extensions import EXTENSIONS
from people.models import ImportantDate, Interaction, Participation, Person
from people.services.person_writer import PersonWriter
from people.services.plan_limits import check_plan
from people.signals import announce_deletion

#: Of so many people in one statement it is cheaper to count the account's rows anew than to take them off one by one.
RECOUNT_THRESHOLD = 500


def delete_people(*, owner: User, person_ids: Iterable[UUID], options: Mapping[str, Any], now: dt.datetime) -> int:
    """Move people to the trash, and those with them that the extensions add as `options` say; returns how many.

    `delete_from_card_dav` among the options travels with the news to the server.
    """
    with account_write(owner):
        active = Person.objects.owned_by(owner).active()
        chosen = set(active.filter(pk__in=list(person_ids)).values_list("pk", flat=True))
        more = [set(extension.deleting(owner.pk, chosen, options)) for extension in EXTENSIONS]
        chosen = chosen.union(*more)
        with deferred_counts(owner.pk) if len(chosen) >= RECOUNT_THRESHOLD else nullcontext():
            count: int = active.filter(pk__in=chosen).update(
                deleted_at=now, updated_at=now, contact_due_at=None, contact_due_on=None
            )
        for extension in EXTENSIONS:
            extension.deleted(owner.pk, chosen, options)
        if chosen:
            mark_related_changed(owner.pk, chosen)
            announce_deletion(owner.pk, sorted(chosen), from_card_dav=bool(options.get("delete_from_card_dav")))
    return count


def restore_person(*, owner: User, person: Person, now: dt.datetime) -> Person:
    """Take a person out of the trash. Raises NotDeletedError, PlanLimitError (people and reminders), MissingError.

    `person` was read after `owner`: it is read again only where somebody has written since.
    """
    with account_write(owner) as write:
        if not write.is_fresh:
            person = Person.objects.owned_by(owner).find(person.pk)
        if not person.is_deleted:
            raise NotDeletedError
        check_plan(owner, "people")
        if owner.plan_limit("reminders") is not None and (reminders := _reminders_of(person)):
            check_plan(owner, "reminders", reminders)
        writer = PersonWriter(owner, write, now)
        writer.edit(person)
        person.deleted_at = None
        writer.flush()
        for extension in EXTENSIONS:
            extension.restored(person, now)
        mark_related_changed(owner.pk, [person.pk])
    return person


def remove_people(*, owner: User, person_ids: Collection[UUID]) -> list[str]:
    """Remove people in the trash for good with all that hangs on them; returns the files to delete after commit."""
    with account_write(owner):
        return remove_deleted_people(owner.pk, person_ids)


def remove_deleted_people(owner_id: UUID, person_ids: Collection[UUID]) -> list[str]:
    """The same for the purge, inside the caller's write."""
    with account_write(owner_id) as write:
        return _remove(owner_id, person_ids, write)


def _remove(owner_id: UUID, person_ids: Collection[UUID], write: AccountWrite) -> list[str]:
    rows = Person.objects.owned_by(owner_id).deleted().filter(pk__in=person_ids)
    files = [photo for photo in rows.values_list("photo", flat=True) if photo]
    interactions = Interaction.objects.owned_by(owner_id)
    # Their personIds lose somebody; what nobody is left of goes, too. The revision of this write finds them again.
    if interactions.of_people(rows.values("pk")).mark_changed():
        rows.delete()
        marked = interactions.filter(revision=write.revision)
        marked.exclude(Exists(Participation.unscoped.rows().filter(interaction=OuterRef("pk")))).delete()
    else:
        rows.delete()
    return files


def mark_related_changed(owner_id: UUID, person_ids: Collection[UUID]) -> None:
    """People went to the trash or came back, and so did, for clients, what hangs on them; inside the caller's write."""
    ImportantDate.objects.owned_by(owner_id).active().filter(person__in=person_ids).mark_changed()
    Interaction.objects.owned_by(owner_id).active().of_people(person_ids).mark_changed()
    for extension in EXTENSIONS:
        extension.mark_related_changed(owner_id, person_ids)


def _reminders_of(person: Person) -> int:
    dates = ImportantDate.objects.owned_by(person.owner_id).active().filter(person=person, reminder_enabled=True)
    return int(dates.count()) + person.contact_reminder_enabled
