"""Tasks of sharing. Each may run twice or be killed: the state is in the rows."""

from functools import partial
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from contacts_project.kernel.pending_messages import end_pending, enqueue_once
from sharing.carry.carrier import carry_account
from sharing.carry.ending import (
    end_members_without_account,
    end_membership,
    has_members_to_end,
    removed_memberships,
)
from sharing.carry.sweep import due_accounts, due_accounts_of, wake_for_room
from sharing.services.mail import send_due_invitations
from sharing.services.purge import purge_shares


@shared_task
def carry(owner_id: str) -> None:
    """Carry what waits for one account. If that is much, others get their turn in between."""
    end_pending(f"carry:{owner_id}")
    if carry_account(UUID(owner_id)):
        enqueue_carry(UUID(owner_id))


def enqueue_carry(owner_id: UUID) -> None:
    """Enqueue an account, unless its message is in the queue already."""
    enqueue_once(f"carry:{owner_id}", partial(carry.delay, str(owner_id)))


@shared_task
def carry_share(share_id: str) -> None:
    """Enqueue the accounts to which changes of the share wait to be carried."""
    end_pending(f"share:{share_id}")
    for owner_id in due_accounts_of(UUID(share_id)):
        enqueue_carry(owner_id)


def enqueue_share(share_id: UUID) -> None:
    """Enqueue a share, unless its message is in the queue already."""
    enqueue_once(f"share:{share_id}", partial(carry_share.delay, str(share_id)))


@shared_task
def sweep() -> None:
    """Every minute: enqueue the accounts for which something waits, such as after a message was lost."""
    wake_for_room(now=timezone.now())
    for owner_id in due_accounts():
        enqueue_carry(owner_id)
    if has_members_to_end():
        enqueue_ends()


@shared_task
def end_members() -> None:
    """End the memberships of members who were removed, and the members whose accounts were deleted."""
    end_pending("share-ends")
    for owner_id, membership_id in removed_memberships():
        end_membership(owner_id, membership_id)
    end_members_without_account(timezone.now())


def enqueue_ends() -> None:
    enqueue_once("share-ends", end_members.delay)


@shared_task
def send_invitations() -> None:
    """After an invitation, and every minute: send the mails that are due."""
    send_due_invitations(now=timezone.now())


@shared_task
def purge() -> None:
    """Every day: what has ended, and what has been kept long enough."""
    purge_shares(now=timezone.now())
