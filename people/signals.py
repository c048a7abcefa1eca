"""Signals of this app, sent on commit with ids as arguments. Receivers only enqueue tasks.

Changes and deletions are sent only for accounts with a CardDAV connection (`User.is_mirrored`): nothing else receives
them.

people_changed   owner_id, person_ids   people were created, edited, restored or merged
people_deleted   owner_id, person_ids, from_card_dav (bool)   people were soft-deleted
addresses_enqueued   owner_id   there are new addresses to geocode
"""

from uuid import UUID

from django.db import transaction
from django.dispatch import Signal

from contacts_project.kernel.ownership.account_lock import is_mirrored

people_changed = Signal()
people_deleted = Signal()
addresses_enqueued = Signal()


def announce_change(owner_id: UUID, person_ids: list[UUID]) -> None:
    """Send people_changed on commit. Must be called inside `account_write`."""
    if person_ids and is_mirrored(owner_id):
        _send_on_commit(people_changed, owner_id=owner_id, person_ids=person_ids)


def announce_deletion(owner_id: UUID, person_ids: list[UUID], *, from_card_dav: bool = False) -> None:
    """Send people_deleted on commit. Must be called inside `account_write`."""
    if person_ids and is_mirrored(owner_id):
        _send_on_commit(people_deleted, owner_id=owner_id, person_ids=person_ids, from_card_dav=from_card_dav)


def _send_on_commit(signal: Signal, **arguments: object) -> None:
    # A lambda, not a partial: if a robust hook fails, Django logs its __qualname__, which a partial does not have.
    transaction.on_commit(lambda: signal.send(sender=None, **arguments), robust=True)
