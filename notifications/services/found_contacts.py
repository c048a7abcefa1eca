"""News of contacts that a sync found on the server and that wait to be imported (importMode notify)."""

import datetime as dt
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from notifications.ledger import AccountPlan, Planned
from notifications.notices.notice import NoticeKind


def plan_contacts_found(*, owner_id: UUID, run_id: UUID, count: int, now: dt.datetime) -> int:
    """Make the deliveries, over every channel that is on; how many. A second time for the same run makes none."""
    try:
        with account_lock(owner_id):
            plan = AccountPlan(User.objects.get(pk=owner_id), now)
            plan.add(Planned(NoticeKind.CONTACTS_FOUND, run_id, plan.today, now, {"count": count}))
            return plan.write()
    except AccountGoneError:
        return 0
