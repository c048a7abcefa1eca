"""One batch of the carry: what its steps share, and what it changes at the end."""

import datetime as dt
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q
from django.utils.functional import cached_property

from accounts.models import User
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.ownership.models import OwnedQuerySet
from people.models import Group, Membership
from people.services.reminders import ArrivingReminders
from relationships.models import Relationship
from sharing.carry.neutral import lock_share, notify_members, touch_membership
from sharing.carry.pictures import Pictures
from sharing.decisions import travelling_fields
from sharing.models import CopyState, Share, SharedCopy, ShareMember, ShareMembership


@dataclass
class Batch:
    """A transaction that carries between an account and one of its shares, both of which are locked.

    `open_write` opens the account's write when the first row of the account is to change, so that a batch that finds
    nothing raises no revision. `is_changed`: documents have changed, which the other members have to be told.
    `is_visible`: what the membership's `share` answers has changed. `settled_revision`: what the account has written
    later belongs to a larger work that goes on, and stays at home until that has ended; None without one. `counted`:
    the copies whose changes count when it is judged what to hold; none of an answer.
    """

    owner: User
    membership: ShareMembership
    share: Share
    member: ShareMember
    now: dt.datetime
    open_write: Callable[[], AccountWrite]
    pictures: Pictures = field(default_factory=Pictures)
    is_changed: bool = False
    is_visible: bool = False
    settled_revision: int | None = None
    has_written: bool = False
    counted: set[UUID] = field(default_factory=set)

    # Django's, since that of functools holds one lock for all instances up to Python 3.11.
    @cached_property
    def reminders(self) -> ArrivingReminders:
        return ArrivingReminders(self.owner, self.membership.reminders)

    @cached_property
    def names(self) -> list[str]:
        """The fields that travel from and to this member."""
        return travelling_fields(self.membership.private)

    @property
    def group(self) -> Group:
        """The tied group. Raises MissingError if it was removed."""
        if self.membership.group is None:
            raise MissingError
        return self.membership.group

    def write(self) -> AccountWrite:
        """The account's write, opened if it is not yet."""
        self.has_written = True
        return self.open_write()

    def copies(self) -> OwnedQuerySet[SharedCopy]:
        return SharedCopy.objects.owned_by(self.owner).filter(membership=self.membership)

    def late_people(self) -> Q | None:
        """The condition on copies of people whom a work that goes on has changed, or their relationships."""
        if self.settled_revision is None:
            return None
        rows = Relationship.objects.owned_by(self.owner).filter(revision__gt=self.settled_revision)
        return Q(person__revision__gt=self.settled_revision) | Q(person__in=rows.values("person"))

    def linked(self) -> OwnedQuerySet[SharedCopy]:
        return self.copies().filter(state=CopyState.LINKED)

    def members_of_group(self, person_ids: Collection[UUID]) -> set[UUID]:
        """Those of these people who are active and in the tied group."""
        rows = Membership.objects.owned_by(self.owner).filter(group=self.membership.group_id, person__deleted_at=None)
        return set(rows.filter(person__in=person_ids).values_list("person_id", flat=True))

    def finish(self) -> None:
        """Tell the others and this member's clients what has changed."""
        if self.is_changed:
            notify_members(self.share, but=self.member.pk)
        if self.is_changed or self.is_visible:
            touch_membership(self.write(), self.membership)


def batch_of(write: AccountWrite, membership: ShareMembership) -> Batch:
    """A batch inside an open write of the account, for answers to what waits."""
    return Batch(
        owner=User.objects.get(pk=write.owner_id),
        membership=membership,
        share=lock_share(membership.share_id),
        member=membership.member,
        now=write.now,
        open_write=lambda: write,
    )
