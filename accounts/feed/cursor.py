"""The cursor of GET /api/changes: how far a client has read.

A cursor is a short JSON list in URL-safe base64. It is not signed: it is a position in the caller's own feed, so a
client that alters its cursor only reads its own feed from another position.
"""

import datetime as dt
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, replace
from typing import Self
from uuid import UUID

import orjson
from django.db.models import F
from django.db.models.functions import Greatest

from accounts.models import User
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.ownership.models import TOMBSTONE_RETENTION
from contacts_project.kernel.texts import define_text

_UNKNOWN = define_text(
    "unknown_feed_cursor", "This is no cursor that was given out here: read everything anew, without one."
)
_OTHER_TYPES = define_text(
    "cursor_of_other_types", "This cursor belongs to other types: send the types that it was given out for."
)

_VERSION = 1
_AFTER_ALL_KINDS = 1000  # sorts after every FeedKind and the tombstones
_NO_ID = UUID(int=0)
# Each restore of a backup starts a new epoch of revisions: epoch n begins at revision n * _EPOCH_SIZE. The number of an
# epoch is the minutes since _EPOCH_START, so that revisions stay below 2**53, exact in JavaScript, for sixty years.
_EPOCH_SIZE = 2**28
_EPOCH_START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
# The largest integer that both databases can compare with a column.
_MAX_INTEGER = 2**63 - 1


class CursorExpiredError(DomainError):
    """The tombstones since the cursor was issued are incomplete, or the cursor is of another account or epoch."""

    message = define_text("cursor_expired", "This cursor has expired: read everything anew, without a cursor.")


@dataclass(frozen=True)
class Cursor:
    """The last record sent: `revision`, `kind_order` (FeedKind.order), `record_id`. The client has everything up to it.

    `began_at_revision` is the account's revision when the client started without a cursor: it never had what was
    deleted up to there. `types` is the filter of the request, sorted, empty for all; `issued_on` is the day (UTC).
    """

    owner_id: UUID
    types: tuple[str, ...]
    began_at_revision: int
    issued_on: dt.date
    revision: int = -1
    kind_order: int = _AFTER_ALL_KINDS
    record_id: UUID = _NO_ID

    @property
    def sort_key(self) -> tuple[int, int, UUID]:
        return self.revision, self.kind_order, self.record_id

    def moved_to(self, revision: int, kind_order: int, record_id: UUID) -> Self:
        return replace(self, revision=revision, kind_order=kind_order, record_id=record_id)

    def moved_past(self, revision: int) -> Self:
        """The cursor after every record of the revision."""
        return replace(self, revision=revision, kind_order=_AFTER_ALL_KINDS, record_id=_NO_ID)

    def has_reached(self, revision: int) -> bool:
        """Whether the client has everything up to the revision."""
        return (self.revision, self.kind_order) >= (revision, _AFTER_ALL_KINDS)

    def encode(self) -> str:
        parts = [
            _VERSION,
            self.owner_id.hex,
            ",".join(self.types),
            self.began_at_revision,
            self.issued_on.toordinal(),
            self.revision,
            self.kind_order,
            self.record_id.hex,
        ]
        return urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def read_cursor(text: str, *, owner_id: UUID, types: tuple[str, ...], newest: int, today: dt.date) -> Cursor:
    """Decode the cursor and check that it can be continued. Raises FieldError, CursorExpiredError.

    `newest` is the account's revision. A cursor of another epoch was issued before the instance was restored from a
    backup: the writes behind its revisions may be lost.
    """
    cursor = _decode(text)
    if cursor is None:
        raise FieldError("cursor", _UNKNOWN)
    is_current = is_of_epoch(cursor.began_at_revision, newest) and cursor.revision <= newest
    if cursor.owner_id != owner_id or not is_current or cursor.issued_on < today - TOMBSTONE_RETENTION:
        raise CursorExpiredError
    if cursor.types != types:
        raise FieldError("cursor", _OTHER_TYPES)
    return replace(cursor, issued_on=today)


def is_of_epoch(revision: int, newest: int) -> bool:
    """Whether an account whose revision is `newest` has had this revision, without a restored backup in between."""
    return revision // _EPOCH_SIZE == newest // _EPOCH_SIZE and revision <= newest


def _decode(text: str) -> Cursor | None:
    try:
        parts = orjson.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        version, owner, types, began, day, revision, kind_order, record_id = parts
        numbers = (began, day, revision, kind_order)
        # `type() is int`: True is an instance of int.
        if version != _VERSION or not all(type(number) is int and -1 <= number <= _MAX_INTEGER for number in numbers):
            return None
        names = tuple(types.split(",")) if types else ()
        return Cursor(UUID(owner), names, began, dt.date.fromordinal(day), revision, kind_order, UUID(record_id))
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None


def first_cursor(owner: User, *, types: tuple[str, ...], today: dt.date) -> Cursor:
    """The cursor of a client that has no records yet."""
    return Cursor(owner.pk, types, owner.revision, today)


def start_revision_epochs(now: dt.datetime) -> None:
    """Move every account to a new epoch of revisions. Must be called once its rows are restored from a backup.

    Otherwise the restored accounts would use revisions, cursors and ETags again that were issued after the backup was
    made, by the instance it was made of or by another restore of it.
    """
    minutes = int((now - _EPOCH_START) / dt.timedelta(minutes=1))
    # The clock can be wrong: the new epoch is at least the one after that of the backup.
    User.objects.update(revision=Greatest(F("revision") / _EPOCH_SIZE + 1, minutes) * _EPOCH_SIZE)
