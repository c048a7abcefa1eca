"""Notices about contacts that a sync found on the CardDAV server and that wait to be imported (importMode notify)."""

import datetime as dt
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from notifications.ledger import AccountPlan, PlannedNotice
from notifications.notices.notice import NoticeKind


def plan_contacts_found(*, owner_id: UUID, run_id: UUID, count: int, now: dt.datetime) -> int:
    """Plan the notice for every target that is on; returns how many. A second call for the same run plans none."""
    try:
        with account_lock(owner_id):
            plan = AccountPlan(User.objects.get(pk=owner_id), now)
            plan.add(PlannedNotice(NoticeKind.CONTACTS_FOUND, run_id, plan.today, now, {"count": count}))
            return plan.write().total()
    except AccountGoneError:
        return 0
