"""Notices about what devices did: many deletions, with a link that brings all of them back, and what was refused."""

import datetime as dt
from collections.abc import Callable
from uuid import UUID, uuid5

from accounts.models import User
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from notifications.ledger import AccountPlan, PlannedNotice
from notifications.models import Delivery
from notifications.notices.notice import NoticeKind

UndoDeletions = Callable[[User, UUID, dt.datetime, dt.datetime], int]
"""Brings back what a device (the id of its token) deleted since a time, and returns how many records came back."""

_undo: list[UndoDeletions] = []


def register_undo_of_deletions(undo: UndoDeletions) -> None:
    """Called by the composition root: this app does not know that of the devices."""
    _undo[:] = [undo]


def plan_deletions(
    *, owner_id: UUID, token_id: UUID, name: str, count: int, since: dt.datetime, now: dt.datetime
) -> int:
    """Plan the notice of many deletions for every target that is on; returns how many."""
    content = {"tokenId": str(token_id), "deviceName": name, "count": count, "since": format_timestamp(since)}
    return _plan(NoticeKind.DAV_DELETIONS, owner_id, uuid5(token_id, since.isoformat()), content, now)


def plan_refused(*, owner_id: UUID, token_id: UUID, name: str, now: dt.datetime) -> int:
    """Plan the notice of what was refused: at most one for each day of the account."""
    return _plan(NoticeKind.DAV_REFUSED, owner_id, owner_id, {"tokenId": str(token_id), "deviceName": name}, now)


def undo_deletions_of(delivery: Delivery, now: dt.datetime) -> int:
    """Bring back what the notice tells of, and what the device has deleted since."""
    content = delivery.content
    return _undo[0](delivery.owner, UUID(content["tokenId"]), dt.datetime.fromisoformat(content["since"]), now)


def _plan(kind: NoticeKind, owner_id: UUID, source_id: UUID, content: JsonObject, now: dt.datetime) -> int:
    try:
        with account_lock(owner_id):
            plan = AccountPlan(User.objects.get(pk=owner_id), now)
            plan.add(PlannedNotice(kind, source_id, plan.today, now, content))
            return plan.write().total()
    except AccountGoneError:
        return 0
