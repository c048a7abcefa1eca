"""Finds what waits to be carried, whatever became of its message."""

from uuid import UUID

from django.db.models import Q

from sharing.models import CopyState, Reason, SharedCopy, ShareMembership

_MAX_OF_SWEEP = 500
"""Accounts that one sweep hands out; the next one, a minute later, goes on."""


def due_accounts() -> list[UUID]:
    """The accounts with something to carry, those that have waited longest first."""
    memberships = ShareMembership.unscoped.rows().active().filter(paused=False, owner__is_active=True)
    own = memberships.filter(due_at__isnull=False).order_by("due_at").values_list("owner_id", flat=True)
    others = memberships.filter(member__due_at__isnull=False).order_by("member__due_at")
    for_room = SharedCopy.unscoped.rows().filter(
        state=CopyState.WAITING, reason=Reason.PLAN_LIMIT, membership__deleted_at=None, owner__is_active=True
    )
    found: dict[UUID, None] = {}
    for rows in (
        own,
        others.values_list("owner_id", flat=True),
        for_room.values_list("owner_id", flat=True).distinct(),
    ):
        found |= dict.fromkeys(rows[: _MAX_OF_SWEEP * 10])
    return list(found)[:_MAX_OF_SWEEP]


def due_accounts_of(share_id: UUID) -> list[UUID]:
    """The accounts of this share with something to carry."""
    rows = ShareMembership.unscoped.rows().active().filter(share=share_id, paused=False, owner__is_active=True)
    due = rows.filter(Q(member__due_at__isnull=False) | Q(due_at__isnull=False))
    return list(due.order_by("pk").values_list("owner_id", flat=True))
