"""Notices about the account instead of a person: contacts found on its server, what devices deleted or sent in vain,
what another member of a share sent and is held.

They stay relevant whatever becomes of people and dates (`WITHOUT_PERSON`).
"""

import datetime as dt
from collections.abc import Callable
from uuid import UUID, uuid5

from accounts.models import User
from contacts_project.kernel.json import JsonObject, format_timestamp
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from notifications.ledger import DueNotice, DueNotices
from notifications.models import Delivery
from notifications.notices.notice import NoticeKind


def notify_contacts_found(*, owner_id: UUID, run_id: UUID, count: int, now: dt.datetime) -> int:
    """Write the notice of contacts that a sync found and that wait to be imported (importMode notify).

    As those below, for every target that is on; returns how many. A second call for the same run writes none.
    """
    return _write_notice(NoticeKind.CONTACTS_FOUND, owner_id, run_id, {"count": count}, now)


def notify_deletions(
    *, owner_id: UUID, token_id: UUID, name: str, count: int, since: dt.datetime, now: dt.datetime
) -> int:
    """Write the notice of many deletions by a device, whose link brings all of them back."""
    content = {"tokenId": str(token_id), "deviceName": name, "count": count, "since": format_timestamp(since)}
    return _write_notice(NoticeKind.DAV_DELETIONS, owner_id, uuid5(token_id, since.isoformat()), content, now)


def notify_refused(*, owner_id: UUID, token_id: UUID, name: str, now: dt.datetime) -> int:
    """Write the notice of what a device sent and was refused: at most one for each day of the account."""
    return _write_notice(
        NoticeKind.DAV_REFUSED, owner_id, owner_id, {"tokenId": str(token_id), "deviceName": name}, now
    )


def notify_share_held(
    *, owner_id: UUID, share_id: UUID, share_name: str, member_name: str, count: int, now: dt.datetime
) -> int:
    """Write the notice of what another member of a share sent and is held: at most one for each day of the account."""
    content = {"shareId": str(share_id), "shareName": share_name, "memberName": member_name, "count": count}
    return _write_notice(NoticeKind.SHARE_HELD, owner_id, owner_id, content, now)


def _write_notice(kind: NoticeKind, owner_id: UUID, source_id: UUID, content: JsonObject, now: dt.datetime) -> int:
    try:
        with account_lock(owner_id):
            notices = DueNotices(User.objects.get(pk=owner_id), now)
            notices.add(DueNotice(kind, source_id, notices.today, now, content))
            return notices.write().total()
    except AccountGoneError:
        return 0


UndoDeletions = Callable[[User, UUID, dt.datetime, dt.datetime], int]
"""Brings back what a device (the id of its token) deleted since a time, and returns how many records came back."""

_undo: list[UndoDeletions] = []


def register_undo_of_deletions(undo: UndoDeletions) -> None:
    """Called by the composition root: this app does not know that of the devices."""
    _undo[:] = [undo]


def undo_deletions_of(delivery: Delivery, now: dt.datetime) -> int:
    """Bring back what the notice tells of, and what the device has deleted since."""
    content = delivery.content
    return _undo[0](delivery.owner, UUID(content["tokenId"]), dt.datetime.fromisoformat(content["since"]), now)
