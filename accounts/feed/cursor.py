"""How far a client has read: what GET /api/changes gives out and takes back.

A cursor is the text of a short list, in the alphabet of URLs. It is not signed: it names only a place in the caller's
own feed, and whoever alters theirs reads from another place of their own.
"""

import datetime as dt
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, replace
from typing import Any, Self
from uuid import UUID

import orjson
from django.db.models import F
from django.db.models.functions import Greatest

from accounts.models import User
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.ownership.tombstones import TOMBSTONE_RETENTION

_VERSION = 1
_BEHIND_ALL = 1000  # a place that no kind has
_NO_ID = UUID(int=0)
# An account's revisions between one restored backup and the next. The histories are numbered by the minutes since
# _FIRST_DAY: JavaScript's whole numbers last for sixty years of them.
_HISTORY = 2**28
_FIRST_DAY = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
# The widest number that both databases compare.
_MOST = 2**63 - 1


class CursorExpiredError(DomainError):
    """What was removed since the cursor was given out is no longer known, or it is no cursor of this account."""

    message = "This cursor has expired: read everything anew, without a cursor."


@dataclass(frozen=True)
class Cursor:
    """The last record told: `revision`, `place` of its kind, `record_id`. All before it is known to the client.

    `began_at_revision`: what was deleted up to there the client never had. `types` as it was asked for, sorted, empty
    for all; `issued_on`: the day (UTC) when it was given out.
    """

    owner_id: UUID
    types: tuple[str, ...]
    began_at_revision: int
    issued_on: dt.date
    revision: int = -1
    place: int = _BEHIND_ALL
    record_id: UUID = _NO_ID

    def moved_to(self, revision: int, place: int, record_id: UUID) -> Self:
        return replace(self, revision=revision, place=place, record_id=record_id)

    def moved_behind(self, revision: int) -> Self:
        """Everything up to the revision has been told."""
        return replace(self, revision=revision, place=_BEHIND_ALL, record_id=_NO_ID)

    def has_reached(self, revision: int) -> bool:
        """Whether everything up to the revision has been told."""
        return (self.revision, self.place) >= (revision, _BEHIND_ALL)

    def written(self) -> str:
        """The text of it."""
        parts = [
            _VERSION,
            self.owner_id.hex,
            ",".join(self.types),
            self.began_at_revision,
            self.issued_on.toordinal(),
            self.revision,
            self.place,
            self.record_id.hex,
        ]
        return urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def read_cursor(text: str, *, owner_id: UUID, types: tuple[str, ...], newest: int, today: dt.date) -> Cursor:
    """The cursor that `text` spells. Raises FieldError, CursorExpiredError.

    `newest` is the account's revision. A cursor that began in another history was given out before the instance was
    restored from a backup: what its numbers meant may have been lost, and others mean them now.
    """
    cursor = _parsed(text)
    if cursor is None:
        raise FieldError("cursor", "This is no cursor that was given out here: read everything anew, without one.")
    is_of_now = cursor.began_at_revision // _HISTORY == newest // _HISTORY and cursor.revision <= newest
    if cursor.owner_id != owner_id or not is_of_now or cursor.issued_on < today - TOMBSTONE_RETENTION:
        raise CursorExpiredError
    if cursor.types != types:
        raise FieldError("cursor", "This cursor belongs to other types: send the types that it was given out for.")
    return replace(cursor, issued_on=today)


def _parsed(text: str) -> Cursor | None:
    try:
        parts = orjson.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        version, owner, types, began, day, revision, place, record_id = parts
        numbers = (began, day, revision, place)
        if version != _VERSION or not all(type(number) is int and -1 <= number <= _MOST for number in numbers):
            return None
        names = tuple(types.split(",")) if types else ()
        return Cursor(UUID(owner), names, began, dt.date.fromordinal(day), revision, place, UUID(record_id))
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None


def first_cursor(owner: Any, *, types: tuple[str, ...], today: dt.date) -> Cursor:
    """Of a client that has nothing yet."""
    return Cursor(owner.pk, types, owner.revision, today)


def begin_histories(now: dt.datetime) -> None:
    """Of every account, once its rows have come out of a backup: no later revision, cursor or ETag is one of those that
    were given out since the backup was made, by what it was made of or by another restore of it."""
    minutes = int((now - _FIRST_DAY) / dt.timedelta(minutes=1))
    User.objects.update(revision=Greatest(F("revision") / _HISTORY + 1, minutes) * _HISTORY)
