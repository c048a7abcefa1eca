"""Builds notices as the ledger does, with example content of each kind."""

import datetime as dt
from typing import Any

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ids import new_id
from notifications.notices.notice import Notice, NoticeKind

PERSON = {"personId": "01900000-0000-7000-8000-000000000001", "personName": "Ada Lovelace"}
DATE = {
    **PERSON,
    "importantDateId": "01900000-0000-7000-8000-000000000002",
    "type": "BIRTHDAY",
    "title": None,
    "date": "2026-12-10",
    "daysUntil": 0,
    "late": False,
    "yearUnknown": False,
    "turns": 211,
}
CONTACT = {
    **PERSON,
    "date": "2026-05-04",
    "daysUntil": 0,
    "late": False,
    "lastContact": "2026-04-03",
    "interval": 1,
    "intervalUnit": "MONTHS",
}
DEVICE = {
    "tokenId": "01900000-0000-7000-8000-000000000003",
    "deviceName": "Ada's phone",
    "daysUntil": 0,
    "late": False,
}
EVENT = {**DATE, "id": "x", "kind": "important_date"}
CONTENTS: dict[NoticeKind, dict[str, Any]] = {
    NoticeKind.IMPORTANT_DATE: DATE,
    NoticeKind.IMPORTANT_DATE_LEAD: {**DATE, "daysUntil": 7},
    NoticeKind.CONTACT: CONTACT,
    NoticeKind.DIGEST: {"from": "2026-12-07", "to": "2026-12-13", "events": [EVENT]},
    NoticeKind.CONTACTS_FOUND: {"count": 3, "daysUntil": 0, "late": False},
    NoticeKind.DAV_DELETIONS: {**DEVICE, "count": 8, "since": "2026-11-26T16:00:00+00:00"},
    NoticeKind.DAV_REFUSED: DEVICE,
    NoticeKind.SHARE_HELD: {
        "shareId": "01900000-0000-7000-8000-000000000004",
        "shareName": "Family",
        "memberName": "Bob",
        "count": 8,
        "daysUntil": 0,
        "late": False,
    },
    NoticeKind.TEST: {},
}


def make_notice(owner: User, kind: NoticeKind = NoticeKind.IMPORTANT_DATE, **content: Any) -> Notice:
    now = timezone.now()
    body, expires_at = {**CONTENTS[kind], **content}, now + dt.timedelta(hours=10)
    return Notice(new_id(), kind, owner, body, made_at=now, sent_at=now, expires_at=expires_at)
