"""Cards that are not written for now: the list with reasons, and another try at the user's request."""

import datetime as dt
from uuid import UUID

from accounts.models import User
from carddav.models import Connection, Mapping, Run, Trigger
from carddav.services.runs import start_run
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ownership.account_lock import account_write


def held_back_cards(owner: User) -> list[Mapping]:
    """The account's cards that are held back, with their people; the oldest first."""
    rows = Mapping.objects.owned_by(owner).held_back().select_related("person", "connection")
    return list(rows.defer("remote_raw", "base_local", "base_remote").order_by("held_since", "pk"))


def next_try_at(mapping: Mapping) -> dt.datetime | None:
    """When a run tries the card again: at its time, but not before the next automatic run, if there are any."""
    connection, due = mapping.connection, mapping.next_try_at
    return due and (max(due, connection.next_sync_at) if connection.sync_enabled else due)


def retry_held_back(*, owner: User, person_id: UUID, now: dt.datetime) -> Run:
    """Let the next run send the person's card, also with the content that was refused; returns that run.

    A run in progress may have passed the card already: then one follows it. Raises MissingError.
    """
    with account_write(owner):
        if not Mapping.objects.owned_by(owner).held_back().filter(person=person_id).try_again(now):
            raise MissingError
        Connection.objects.owned_by(owner).filter(sync_enabled=True).update(next_sync_at=now)
    return start_run(owner=owner, trigger=Trigger.MANUAL, now=now)
