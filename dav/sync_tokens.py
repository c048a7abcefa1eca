"""Sync-tokens (RFC 6578, 4): opaque URIs of the account, the revision up to which the device is told, and the day."""

import datetime as dt
import re
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.feed.cursor import is_of_epoch
from contacts_project.kernel.ownership.tombstones import TOMBSTONE_RETENTION
from dav.errors import DavError
from dav.xml import dav

_TOKEN = re.compile(r"[a-z]+://[^/]+/dav/sync/([0-9a-f]{32})/([0-9]{1,19})-([0-9]{6,7})(?:-([0-9a-f]{32}))?")


class Position(NamedTuple):
    """How far a device was told: everything up to `revision`, and in the next one the cards up to `card_id`.

    `card_id` is None except in a listing that was cut by a limit. `day`, the ordinal of a date, is that of the token;
    of a position that is still to be encoded it may be None: today.
    """

    revision: int
    card_id: UUID | None = None
    day: int | None = None


def encode_token(owner_id: UUID, position: Position) -> str:
    # A URI with a slash: some clients take any other text for a ctag, and then list everything at each sync.
    tail = f"-{position.card_id.hex}" if position.card_id else ""
    day = timezone.now().date().toordinal() if position.day is None else position.day
    return f"{settings.BASE_URL}/dav/sync/{owner_id.hex}/{position.revision}-{day}{tail}"


def read_token(token: str, *, owner_id: UUID, newest: int, user_agent: str) -> Position:
    """The position of a token. Raises DavError (`valid-sync-token`) for one that is foreign, made up or too old.

    `newest`: the account's revision. Thunderbird never syncs a book again after 403, so it gets 400.
    """
    found = _TOKEN.fullmatch(token.strip())
    today = timezone.now().date().toordinal()
    # The calendars' days are those of the account's zone, where it may be tomorrow.
    days = range(today - TOMBSTONE_RETENTION // dt.timedelta(days=1), today + 2)
    if found is None or found[1] != owner_id.hex or not is_of_epoch(int(found[2]), newest) or int(found[3]) not in days:
        status = 400 if "Thunderbird/" in user_agent else 403
        raise DavError(status, dav("valid-sync-token"), "This sync-token is not valid any more: list everything.")
    return Position(int(found[2]), UUID(found[4]) if found[4] else None, int(found[3]))
