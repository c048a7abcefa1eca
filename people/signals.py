"""News of people for the apps above, sent on commit, carrying ids. Receivers only enqueue.

Changes and deletions are told of accounts that are mirrored (`User.is_mirrored`): of others nobody wants to know.

people_changed   owner_id, person_ids   content of people changed (created, edited, restored, merged)
people_deleted   owner_id, person_ids, from_card_dav (bool)   people were soft-deleted
addresses_noted  owner_id   new addresses wait for the geocoder
"""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.dispatch import Signal

from contacts_project.kernel.ownership.account_lock import is_mirrored

people_changed = Signal()
people_deleted = Signal()
addresses_noted = Signal()


def announce_change(owner_id: UUID, person_ids: list[UUID]) -> None:
    """Tell the apps above on commit that the content of people changed; inside the account's write."""
    if person_ids and is_mirrored(owner_id):
        _send_on_commit(people_changed, owner_id=owner_id, person_ids=person_ids)


def announce_deletion(owner_id: UUID, person_ids: list[UUID], *, from_card_dav: bool = False) -> None:
    """The same of people that went to the trash."""
    if person_ids and is_mirrored(owner_id):
        _send_on_commit(people_deleted, owner_id=owner_id, person_ids=person_ids, from_card_dav=from_card_dav)


def _send_on_commit(news: Signal, **what: Any) -> None:
    # No partial: where it fails, Django asks a robust hook for its name, and a partial has none.
    transaction.on_commit(lambda: news.send(sender=None, **what), robust=True)
