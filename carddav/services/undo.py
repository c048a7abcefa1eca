"""Reverts what a run has changed here. The server is not changed: the differences are sent once a run is confirmed."""

import datetime as dt
from dataclasses import dataclass, field
from uuid import UUID

from accounts.models import User
from carddav.models import Connection, Run, RunAction, RunChange, RunState
from carddav.services.connections import ConnectionBusyError, locked_connection
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from contacts_project.kernel.texts import Text, define_text
from people.contents.contact import load_local_contact, write_fields
from people.models import Person
from people.photos.files import photo_paths, read_photo, upload_photo
from people.services.people import delete_people, restore_person

_IN_TRASH = define_text("in_the_trash", "This person is in the trash.")
_RESTORED = define_text("restored_since", "This person has been restored since.")

EDITED_MESSAGE = define_text("edited_since_run", "Somebody has edited this person since.")
PHOTO_MISSING_MESSAGE = define_text("former_photo_missing", "The file of the former photo is missing.")


class RunAlreadyUndoneError(DomainError):
    """The run has been undone already."""

    message = define_text("run_already_undone", "This run has been undone already.")


@dataclass(slots=True)
class RunUndo:
    """How many people were reverted, and the people who were not or not completely, with the reason."""

    restored: int = 0
    kept: list[tuple[Person, Text]] = field(default_factory=list)


def undo_run(*, owner: User, run_id: UUID, now: dt.datetime) -> RunUndo:
    """Revert the people whom the run changed, created or deleted, each in a transaction of its own.

    Until the user confirms a run, all runs are dry. An interrupted undo continues when it is requested again. Raises
    MissingError, RunAlreadyUndoneError, ConnectionBusyError while a run is queued or in progress.
    """
    rows = Run.objects.owned_by(owner).filter(pk=run_id)
    run = rows.first()
    if run is None:
        raise MissingError
    if run.state != RunState.ENDED:
        raise ConnectionBusyError
    with locked_connection(owner):
        if not rows.filter(undone_at=None).exists():
            raise RunAlreadyUndoneError
        # A queued run was requested earlier: it would send what is reverted here before the user has seen it.
        if Run.objects.owned_by(owner).filter(dry_run=False).exclude(state=RunState.ENDED).exists():
            raise ConnectionBusyError
        undone = RunUndo()
        changes = RunChange.objects.owned_by(owner).filter(run=run)
        if changes.exists():
            # Before the first change: if the undo is interrupted, no automatic run may send what was reverted so far.
            Connection.objects.owned_by(owner).update(needs_confirmation=True)
        for change_id in list(changes.order_by("-pk").values_list("pk", flat=True)):
            _undo_change(owner, change_id, undone)
        rows.update(undone_at=now)
    return undone


def _undo_change(owner: User, change_id: UUID, undone: RunUndo) -> None:
    change = RunChange.objects.owned_by(owner).select_related("person").get(pk=change_id)
    photo = read_photo(change.photo) if change.photo else None
    # Before the transaction, which must not wait for the storage.
    if photo:
        upload_photo(owner_id=owner.pk, jpeg=photo)
    try:
        with account_write(owner) as write:
            person = Person.objects.owned_by(owner).get(pk=change.person_id)
            if reason := _reason_to_keep(change, person):
                undone.kept.append((person, reason))
                return
            _revert_change(owner, write, change, person, photo)
            # In the same transaction as the change: a repeated undo finds only what is left.
            change.delete()
            undone.restored += 1
            if change.photo and photo is None:
                undone.kept.append((person, PHOTO_MISSING_MESSAGE))
    except DomainError as error:  # the price plan does not allow one more person
        undone.kept.append((change.person, error.message))


def _reason_to_keep(change: RunChange, person: Person) -> Text | None:
    """Why the person is not reverted; None if nothing prevents it."""
    if person.is_deleted != (change.action == RunAction.TRASHED):
        return _IN_TRASH if person.is_deleted else _RESTORED
    return EDITED_MESSAGE if person.revision != change.revision else None


def _revert_change(owner: User, write: AccountWrite, change: RunChange, person: Person, photo: bytes | None) -> None:
    if change.action == RunAction.TRASHED:
        restore_person(owner=owner, person=person, now=write.now)
    elif change.action == RunAction.CREATED:
        delete_people(owner=owner, person_ids=[person.pk], options={}, now=write.now)
    else:
        names = set(change.image) - ({"photo"} if change.photo and photo is None else set())
        write_fields(owner, write, load_local_contact(owner, person.pk), change.image, names, photo)


def photos_used_by_runs(owner_id: UUID, names: set[str]) -> set[str]:
    """Those of the photos that an undo needs. A run that replaces a photo leaves its file; the daily purge removes it
    once the run cannot be undone any more."""
    rows = RunChange.objects.owned_by(owner_id).filter(photo__in=names)
    return {name for name in rows.values_list("photo", flat=True) if name}


def former_photo_paths(owner_id: UUID) -> list[str]:
    """The paths of the account's files, for its deletion."""
    return photo_paths(RunChange.objects.owned_by(owner_id).exclude(photo=None).values_list("photo", flat=True))
