"""Cards that differ from the stored ones, and how they are stored: in short transactions, as whole batches."""

import datetime as dt
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_lock
from dav.cards.former_texts import keep_former_texts
from dav.models import BookCard
from people.models import Group, Person

_WRITTEN_COLUMNS = (
    *("uid", "text", "photo", "original", "etag", "plain_etag", "group_ids", "left_revision"),
    *("read_revision", "changed_revision", "plain_changed_revision", "updated_at"),
)


@dataclass(frozen=True)
class Change:
    """What `store` writes: the card as it is to be, and as it was read (None: there is none yet)."""

    card: BookCard
    before: BookCard | None


def changed_copy(before: BookCard, owner: User, **values: object) -> BookCard:
    changed = copy(before)
    # bulk_update does not set it, as save does.
    for name, value in {**values, "read_revision": owner.revision, "updated_at": timezone.now()}.items():
        setattr(changed, name, value)
    return changed


def store(owner: User, changes: list[Change]) -> list[Change]:
    """Write the changes that nobody else has written meanwhile; returns them."""
    if not changes:
        return []
    with account_lock(owner):
        known = {change.card.pk for change in changes if change.before is not None}
        current = BookCard.objects.owned_by(owner).filter(pk__in=known).values_list("pk", "read_revision")
        read = dict(current)
        # A card that was read by another process since then is at least as new as ours.
        written = [c for c in changes if c.before is None or read.get(c.card.pk) == c.before.read_revision]
        keep_former_texts(owner, [c.before for c in written if c.before is not None])
        new = _of_present_subjects(owner, [c.card for c in written if c.before is None])
        _avoid_taken_names(owner, new)
        BookCard.objects.bulk_create(new, ignore_conflicts=True)
        changed = [c.card for c in written if c.before is not None]
        if changed:
            BookCard.objects.owned_by(owner).bulk_update(changed, _WRITTEN_COLUMNS)
    return written


def _of_present_subjects(owner: User, new: Sequence[BookCard]) -> list[BookCard]:
    """Those of these new cards whose person or group was not removed for good meanwhile."""
    if not new:
        return []
    person_ids = [card.person_id for card in new if card.person_id]
    group_ids = [card.group_id for card in new if card.group_id]
    present = set(Person.objects.owned_by(owner).filter(pk__in=person_ids).values_list("pk", flat=True))
    present.update(Group.objects.owned_by(owner).filter(pk__in=group_ids).values_list("pk", flat=True))
    return [card for card in new if (card.person_id or card.group_id) in present]


def _avoid_taken_names(owner: User, new: Sequence[BookCard]) -> None:
    """Give other names to new cards whose usual name a device has given to the card of somebody else."""
    names = [card.name for card in new]
    # Without the cards of these people and groups themselves, which another process may have made meanwhile.
    others = BookCard.objects.owned_by(owner).filter(name__in=names)
    subjects = {card.person_id or card.group_id for card in new}
    taken = {
        name
        for name, person_id, group_id in others.values_list("name", "person_id", "group_id")
        if (person_id or group_id) not in subjects
    }
    for card in new:
        if card.name in taken:
            card.name = f"{card.name.removesuffix('.vcf')}-{card.pk.hex}.vcf"


def revised_at(when: dt.datetime) -> str:
    """The value of REV (RFC 6350, 6.7.4)."""
    return when.astimezone(dt.UTC).strftime("%Y%m%dT%H%M%SZ")
