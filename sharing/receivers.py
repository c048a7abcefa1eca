"""Receivers of news of this app: they only enqueue. If a task is lost, the sweep of each minute finds the row."""

from uuid import UUID

from django.db.models.signals import post_delete
from django.dispatch import receiver

from contacts_project.kernel.ownership.account_lock import AccountWrite
from sharing.carry.carrier import mark_due
from sharing.carry.origins import note_origin
from sharing.models import ShareMembership
from sharing.signals import (
    account_due,
    announce_account,
    announce_removal,
    invitation_due,
    member_removed,
    share_changed,
)
from sharing.tasks import enqueue_carry, enqueue_ends, enqueue_share, send_invitations


def mark_write(write: AccountWrite) -> None:
    """Hook of each write of an account with shares. What a larger work writes is carried when that has ended."""
    is_part = note_origin(write)
    if mark_due(write) and not is_part:
        announce_account(write.owner_id)


@receiver(account_due)
def carry_soon(*, owner_id: UUID, **kwargs: object) -> None:
    enqueue_carry(owner_id)


@receiver(share_changed)
def carry_to_members(*, share_id: UUID, **kwargs: object) -> None:
    enqueue_share(share_id)


@receiver(invitation_due)
def send_soon(**kwargs: object) -> None:
    send_invitations.delay()


@receiver(member_removed)
def end_soon(**kwargs: object) -> None:
    enqueue_ends()


@receiver(post_delete, sender=ShareMembership)
def end_with_account(**kwargs: object) -> None:
    """A membership's row goes with its account."""
    announce_removal()
