"""Finds what waits to be carried, whatever became of its message."""

import datetime as dt
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from people.services.plan_limits import remaining_in_plan
from sharing.models import Reason, SharedCopy, ShareMembership

_MAX_OF_SWEEP = 500
"""Accounts that one sweep hands out; the next one, a minute later, goes on."""


def due_accounts() -> list[UUID]:
    """The accounts with something to carry, those that have waited longest first."""
    memberships = ShareMembership.unscoped.rows().active().filter(paused=False, owner__is_active=True)
    own = memberships.filter(due_at__isnull=False).order_by("due_at").values_list("owner_id", flat=True)
    others = memberships.filter(member__due_at__isnull=False).order_by("member__due_at")
    found: dict[UUID, None] = {}
    for rows in (own, others.values_list("owner_id", flat=True)):
        found |= dict.fromkeys(rows[: _MAX_OF_SWEEP * 10])
    return list(found)[:_MAX_OF_SWEEP]


def wake_for_room(*, now: dt.datetime) -> None:
    """Let those be carried who wait for room in a plan that has some by now."""
    waiting = SharedCopy.unscoped.rows().filter(reason=Reason.PLAN_LIMIT, membership__deleted_at=None)
    owners = User.objects.filter(pk__in=waiting.values("owner_id"), is_active=True)
    # Whoever has no room stays among them: in any order of their own the last would never be looked at.
    for owner in owners.order_by("?")[:_MAX_OF_SWEEP]:
        room = remaining_in_plan(owner, "people")
        if room is None or room > 0:
            rows = SharedCopy.objects.owned_by(owner).filter(reason=Reason.PLAN_LIMIT)
            memberships = ShareMembership.objects.owned_by(owner).active().filter(due_at=None)
            memberships.filter(pk__in=rows.values("membership")).update(due_at=now)


def due_accounts_of(share_id: UUID) -> list[UUID]:
    """The accounts of this share with something to carry."""
    rows = ShareMembership.unscoped.rows().active().filter(share=share_id, paused=False, owner__is_active=True)
    due = rows.filter(Q(member__due_at__isnull=False) | Q(due_at__isnull=False))
    return list(due.order_by("pk").values_list("owner_id", flat=True))
