"""Decisions about what another member sent and is held. The worker carries them out (sharing.carry.holds)."""

from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from sharing.carry.neutral import lock_share, next_sequence, notify_members, touch_membership
from sharing.models import Hold, HoldState, ShareMembership


class OwnHoldError(DomainError):
    """What is held is the member's own."""

    message = define_text("own_hold", "This is held for the others to decide.")


class NotHeldError(DomainError):
    """Nothing is held."""

    message = define_text("not_held", "Nothing is held.")


def decide_holds(*, owner: User, share_id: UUID, decision: HoldState, hold_id: UUID | None) -> None:
    """Let through or refuse what the other members sent, or that one hold.

    Raises MissingError, OwnHoldError, NotHeldError.
    """
    with account_write(owner) as write:
        share = lock_share(share_id)
        membership = ShareMembership.objects.owned_by(owner).find_share(share_id)
        rows = Hold.objects.reached_by(membership).filter(state=HoldState.OPEN, done_at=None)
        holds = list(rows if hold_id is None else rows.filter(pk=hold_id))
        others = [hold for hold in holds if hold.member_id != membership.pk]
        if not others:
            raise OwnHoldError if holds else NotHeldError
        sequence = next_sequence(share)
        for hold in others:
            hold.state, hold.decided_by_id, hold.sequence = decision, membership.pk, sequence
            hold.save(update_fields=["state", "decided_by", "sequence"])
        touch_membership(write, membership)
        notify_members(share)
