"""A notice: the same facts for every channel. Each channel formats them in its own way."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings

from accounts.models import User
from contacts_project.kernel.vocabularies import Vocabulary


class NoticeKind(Vocabulary):
    """The values are those of the `type` in the API contract, in responses and in the body of a webhook."""

    IMPORTANT_DATE = "reminder.important_date"
    IMPORTANT_DATE_LEAD = "reminder.important_date_lead"
    CONTACT = "reminder.contact"
    DIGEST = "digest.weekly"
    CONTACTS_FOUND = "carddav.contacts_found"
    DAV_DELETIONS = "dav.deletions"
    DAV_REFUSED = "dav.refused"
    SHARE_HELD = "share.held"
    TEST = "test"


WITHOUT_PERSON = frozenset(
    {NoticeKind.CONTACTS_FOUND, NoticeKind.DAV_DELETIONS, NoticeKind.DAV_REFUSED, NoticeKind.SHARE_HELD}
)
"""The kinds that tell of what happened, and stay relevant whatever becomes of people and dates."""


@dataclass(frozen=True)
class Notice:
    """One attempt of a delivery, as a channel gets it.

    `id` is the delivery's, and the same in every attempt (webhook-id, push topic, ntfy sequence). `expires_at` is the
    end of the account's day. `made_at` is when the delivery was planned, `sent_at` the time of this attempt, which a
    run for another time (`--now`) sets. `content` is JSON:

    - reminders: `personId`, `personName`, `date` (the occurrence, YYYY-MM-DD), `daysUntil`, `late`; those of important
      dates add `importantDateId`, `type`, `title` (null with a type), `yearUnknown`, `turns`; those of contact add
      `lastContact` (or null), `interval`, `intervalUnit`.
    - digest: `from`, `to`, `events` as GET /api/upcoming lists them, `hasMore`, `late`.
    - contacts found on a CardDAV server: `count`.
    - many deletions by a device: `tokenId`, `deviceName`, `count`, and `since`, the time of the first of them; what a
      device sent and was refused: `tokenId`, `deviceName`.
    - what another member of a share sent and is held: `shareId`, `shareName`, `memberName`, `count` of people.
    - test: nothing.
    """

    id: UUID
    kind: NoticeKind
    owner: User
    content: Mapping[str, Any]
    made_at: dt.datetime
    sent_at: dt.datetime
    expires_at: dt.datetime


def format_message_id(key: object) -> str:
    """The Message-ID for `key`: the same in every attempt, so that a mailbox can recognise a duplicate."""
    return f"<{key}@{settings.EMAIL_DOMAIN}>"
