"""Taking back what a run did here. The server is not touched: what differs then goes up once a run is confirmed."""

import datetime as dt
from dataclasses import dataclass, field
from uuid import UUID

from accounts.models import User
from carddav.models import Connection, Run, RunAction, RunChange, RunState
from carddav.services.connection_lock import ConnectionBusyError, locked_connection
from carddav.sync.people import load_sides, write_fields
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from people.models import Person
from people.photos.files import read_photo, upload_photo
from people.services.people import delete_people, restore_person

EDITED = "Somebody has edited this person since."
PHOTO = "The file of the former photo is missing."


class AlreadyUndoneError(DomainError):
    """Once is enough."""

    message = "This run has been undone already."


@dataclass(slots=True)
class Undone:
    """How many people are as they were before the run, and of whom not all is so, with the reason."""

    restored: int = 0
    kept: list[tuple[Person, str]] = field(default_factory=list)


def undo_run(*, owner: User, run_id: UUID, now: dt.datetime) -> Undone:
    """Put back the people whom the run changed, made or trashed, each in a transaction of its own.

    Until somebody confirms one, runs are dry. Cut off half way, it goes on when it is asked for again. Raises
    MissingError, AlreadyUndoneError, ConnectionBusyError while a run goes on, or waits to.
    """
    rows = Run.objects.owned_by(owner).filter(pk=run_id)
    run = rows.first()
    if run is None:
        raise MissingError
    if run.state != RunState.ENDED:
        raise ConnectionBusyError
    with locked_connection(owner):
        if not rows.filter(undone_at=None).exists():
            raise AlreadyUndoneError
        # A run that waits was asked for before: it would send what is put back here, which nobody has seen.
        if Run.objects.owned_by(owner).filter(dry_run=False).exclude(state=RunState.ENDED).exists():
            raise ConnectionBusyError
        undone = Undone()
        changes = RunChange.objects.owned_by(owner).filter(run=run)
        if changes.exists():
            Connection.objects.owned_by(owner).update(needs_confirmation=True)
        for change_id in list(changes.order_by("-pk").values_list("pk", flat=True)):
            _undo(owner, change_id, undone)
        rows.update(undone_at=now)
    return undone


def _undo(owner: User, change_id: UUID, undone: Undone) -> None:
    change = RunChange.objects.owned_by(owner).select_related("person").get(pk=change_id)
    photo = read_photo(change.photo) if change.photo else None
    if photo:
        upload_photo(owner_id=owner.pk, jpeg=photo)
    try:
        with account_write(owner) as write:
            person = Person.objects.owned_by(owner).get(pk=change.person_id)
            if reason := _obstacle(change, person):
                undone.kept.append((person, reason))
                return
            _put_back(owner, write, change, person, photo)
            change.delete()
            undone.restored += 1
            if change.photo and photo is None:
                undone.kept.append((person, PHOTO))
    except DomainError as error:  # the plan has no room for one more
        undone.kept.append((change.person, error.message))


def _obstacle(change: RunChange, person: Person) -> str:
    """Why the person stays as it is; empty where nothing is in the way."""
    if person.is_deleted != (change.action == RunAction.TRASHED):
        return "This person has been restored since." if not person.is_deleted else "This person is in the trash."
    return EDITED if person.revision != change.revision else ""


def _put_back(owner: User, write: AccountWrite, change: RunChange, person: Person, photo: bytes | None) -> None:
    if change.action == RunAction.TRASHED:
        restore_person(owner=owner, person=person, now=write.now)
    elif change.action == RunAction.CREATED:
        delete_people(owner=owner, person_ids=[person.pk], options={}, now=write.now)
    else:
        names = set(change.image) - ({"photo"} if change.photo and photo is None else set())
        write_fields(owner, write, load_sides(owner, [person.pk])[person.pk], change.image, names, photo)
