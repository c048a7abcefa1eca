"""Signals of this app, sent on commit with ids as arguments. Receivers only enqueue tasks.

account_due   owner_id   writes of the account wait to be carried into its shares
share_changed   share_id   changes of the share wait to be carried to its members
member_removed             the rows of a member who was removed, or whose account was deleted, wait to be ended
invitation_due             the mail of an invitation waits to be sent
share_held   share_id, member_id   what a member sent is held for the others to decide
"""

from uuid import UUID

from django.db import transaction
from django.dispatch import Signal

account_due = Signal()
share_changed = Signal()
member_removed = Signal()
invitation_due = Signal()
share_held = Signal()


def announce_account(owner_id: UUID) -> None:
    """Send account_due on commit."""
    # Lambdas, not partials: if a robust hook fails, Django logs its __qualname__, which a partial does not have.
    transaction.on_commit(lambda: account_due.send(sender=None, owner_id=owner_id), robust=True)


def announce_share(share_id: UUID) -> None:
    """Send share_changed on commit."""
    transaction.on_commit(lambda: share_changed.send(sender=None, share_id=share_id), robust=True)


def announce_invitation() -> None:
    """Send invitation_due on commit."""
    transaction.on_commit(lambda: invitation_due.send(sender=None), robust=True)


def announce_removal() -> None:
    """Send member_removed on commit."""
    transaction.on_commit(lambda: member_removed.send(sender=None), robust=True)


def announce_hold(share_id: UUID, member_id: UUID) -> None:
    """Send share_held on commit."""
    transaction.on_commit(lambda: share_held.send(sender=None, share_id=share_id, member_id=member_id), robust=True)
