"""Leaving a share, and removing a member. Whoever leaves or is removed keeps their people."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import FieldError, MissingError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from contacts_project.kernel.vocabularies import Vocabulary
from people.services.people import delete_people
from sharing.carry.ending import end_member, leave
from sharing.carry.made_here import unedited_people
from sharing.carry.neutral import lock_share
from sharing.models import CopyState, LogAction, SharedCopy, ShareMember, ShareMembership
from sharing.services.shares import NotHostError
from sharing.signals import announce_removal

_OWN_MEMBERSHIP = define_text("own_membership", "To leave the share yourself, end your own membership.")


class People(Vocabulary):
    """What becomes of the people when the account leaves: those that the share made, and nobody edited, may go."""

    KEEP = "keep"
    TRASH = "trash"


@dataclass(frozen=True, slots=True)
class Left:
    """How many people of the share the account keeps, and how many are in the trash."""

    kept: int
    trashed: int


def leave_share(*, owner: User, share_id: UUID, people: str, now: dt.datetime) -> Left:
    """End the account's membership. Raises MissingError."""
    with account_write(owner) as write:
        row = ShareMembership.objects.owned_by(owner).find_share(share_id)
        linked = SharedCopy.objects.owned_by(owner).filter(membership=row, state=CopyState.LINKED)
        here = set(linked.filter(person__deleted_at=None).values_list("person_id", flat=True))
        trashed = _made_here(owner, row) if people == People.TRASH else []
        leave(write, row)
        if trashed:
            delete_people(owner=owner, person_ids=trashed, options={}, now=now)
    return Left(len(here) - len(trashed), len(trashed))


def _made_here(owner: User, membership: ShareMembership) -> list[UUID]:
    """The active people that this share made here and nobody has edited since, and no other share has."""
    copies = SharedCopy.objects.owned_by(owner).filter(state=CopyState.LINKED, person__deleted_at=None)
    elsewhere = set(copies.exclude(membership=membership).values_list("person_id", flat=True))
    made = copies.filter(membership=membership, is_made_here=True, person__isnull=False)
    return sorted(unedited_people(owner, membership, made) - elsewhere)


def remove_member(*, owner: User, share_id: UUID, member_id: UUID, now: dt.datetime) -> None:
    """As the host, end another member's membership. Raises MissingError, NotHostError, FieldError."""
    with account_write(owner):
        row = ShareMembership.objects.owned_by(owner).find_share(share_id)
        if not row.member.is_host:
            raise NotHostError
        if member_id == row.pk:
            raise FieldError("memberId", _OWN_MEMBERSHIP)
        share = lock_share(share_id)
        member = ShareMember.objects.reached_by(row).filter(pk=member_id, ended_at=None).first()
        if member is None:
            raise MissingError
        end_member(share, member, LogAction.REMOVED, now, by=row.member)
        announce_removal()


def pause_groups(owner_id: UUID, group_ids: Collection[UUID]) -> None:
    """The tied groups are in the trash: nothing is carried until the member goes on. Inside the account's write."""
    rows = ShareMembership.objects.owned_by(owner_id).active().filter(group__in=group_ids, paused=False)
    rows.update(paused=True)


def leave_groups(owner_id: UUID, group_ids: Collection[UUID]) -> None:
    """The tied groups are about to be removed for good, which ends the memberships."""
    with account_write(owner_id) as write:
        for row in ShareMembership.objects.owned_by(owner_id).active().filter(group__in=group_ids):
            leave(write, row)
