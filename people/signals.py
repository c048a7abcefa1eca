"""News of people for the apps above, sent on commit, carrying ids. Receivers only enqueue.

people_changed   owner_id, person_ids   content of people changed (created, edited, restored, merged)
people_deleted   owner_id, person_ids, from_card_dav (bool)   people were soft-deleted
addresses_noted  owner_id   new addresses wait for the geocoder
"""

from functools import partial
from uuid import UUID

from django.db import transaction
from django.dispatch import Signal

people_changed = Signal()
people_deleted = Signal()
addresses_noted = Signal()


def announce_change(owner_id: UUID, person_ids: list[UUID]) -> None:
    """Tell the apps above on commit that the content of people changed."""
    if person_ids:
        news = partial(people_changed.send, sender=None, owner_id=owner_id, person_ids=person_ids)
        transaction.on_commit(news, robust=True)
