"""A page of the change feed: which records changed, by one statement, and what they are now."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.feed.cursor import Cursor, first_cursor, read_cursor
from accounts.feed.kinds import SETTINGS, Answers, FeedKind, feed_kinds, settings_record
from accounts.models import User
from contacts_project.kernel.api.json import Representation
from contacts_project.kernel.ownership.models import TrashModel
from contacts_project.kernel.ownership.tombstones import Tombstone

_SETTINGS_PLACE = 0
_TOMBSTONE_PLACE = 999  # what was removed comes after all that was changed by the same write


@dataclass(frozen=True)
class Page:
    """Changes as the API shows them, where to go on, and whether there is more already."""

    changes: list[dict[str, Any]]
    cursor: str
    has_more: bool


class _Key(NamedTuple):
    """Which record changed: these sort as the feed tells them."""

    revision: int
    place: int
    record_id: UUID
    kind: str


def read_changes(*, owner: User, cursor: str | None, types: Sequence[str], limit: int) -> Page:
    """What changed after `cursor`, in the order of revisions; from nothing, everything that is active.

    Only what was committed when `owner` was read is told: the writes of an account stand in line (account_write), so
    all up to its revision is there to be seen, and what is written meanwhile comes with the next page, at its own
    number. Raises FieldError, CursorExpiredError.
    """
    today = timezone.now().astimezone(dt.UTC).date()
    asked = tuple(sorted(set(types)))
    if cursor is None:
        position = first_cursor(owner, types=asked, today=today)
    else:
        position = read_cursor(cursor, owner_id=owner.pk, types=asked, newest=owner.revision, today=today)
    keys = _changed(owner, position, limit + 1) if not position.has_reached(owner.revision) else []
    page, has_more = keys[:limit], len(keys) > limit
    if has_more:
        last = page[-1]
        reached = position.moved_to(last.revision, last.place, last.record_id)
    else:
        reached = position.moved_behind(owner.revision)
    return Page(list(_told(owner, page, position)), reached.written(), has_more)


def _changed(owner: User, position: Cursor, limit: int) -> list[_Key]:
    """The next records, in or out of the trash, and those that are gone: each branch reads no more of its index."""
    kinds = [kind for kind in feed_kinds() if not position.types or kind.name in position.types]
    branches: list[str] = []
    parameters: list[Any] = []
    for kind in kinds:
        # Who begins needs no word of what was in the trash before.
        condition = "(deleted_at IS NULL OR revision > %s) AND " if issubclass(kind.model, TrashModel) else ""
        branches.append(_branch(kind.model._meta.db_table, kind.place, f"'{kind.name}'", "id", condition))
        parameters += [position.began_at_revision] if condition else []
        parameters += _range(owner, position, kind.place, limit)
    if names := [kind.name for kind in kinds]:
        places = ", ".join(["%s"] * len(names))
        branches.append(
            _branch(Tombstone._meta.db_table, _TOMBSTONE_PLACE, "kind", "record_id", f"kind IN ({places}) AND ")
        )
        # What went before the client began it never had.
        since = max(position.revision, position.began_at_revision)
        start = position if since == position.revision else position.moved_behind(since)
        parameters += [*names, *_range(owner, start, _TOMBSTONE_PLACE, limit)]
    keys = list(_fetched(branches, parameters)) if branches else []
    settings = _Key(owner.settings_revision, _SETTINGS_PLACE, owner.pk, SETTINGS)
    if (not position.types or SETTINGS in position.types) and settings[:3] > _place_of(position):
        keys.append(settings)
    return sorted(keys)[:limit]


def _branch(table: str, place: int, kind: str, column: str, condition: str = "") -> str:
    return (
        f"SELECT * FROM (SELECT revision, {place} AS place, {column} AS record_id, {kind} AS kind "  # noqa: S608 - names of our own
        f"FROM {table} WHERE {condition}owner_id = %s AND (revision, {column}) > (%s, %s) AND revision <= %s "
        f"ORDER BY revision, {column} LIMIT %s) AS changed_{place}"
    )


def _range(owner: User, position: Cursor, place: int, limit: int) -> list[Any]:
    """Parameters of a branch: what comes behind the position, where kinds of one revision come by their places."""
    revision, reached, record_id = _place_of(position)
    if place > reached:  # of the same revision, all of this kind are still to come
        revision, record_id = revision - 1, _LAST_ID
    elif place < reached:  # all of this kind have been told
        record_id = _LAST_ID
    return [_stored(owner.pk), revision, _stored(record_id), owner.revision, limit]


_LAST_ID = UUID(int=2**128 - 1)


def _place_of(position: Cursor) -> tuple[int, int, UUID]:
    return position.revision, position.place, position.record_id


def _stored(key: UUID) -> UUID | str:
    return key if connection.features.has_native_uuid_field else key.hex


def _fetched(branches: list[str], parameters: list[Any]) -> Iterator[_Key]:
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(branches), parameters)
        for revision, place, record_id, kind in cursor.fetchall():
            yield _Key(revision, place, record_id if isinstance(record_id, UUID) else UUID(record_id), kind)


def _told(owner: User, keys: list[_Key], position: Cursor) -> Iterator[dict[str, Any]]:
    """The changes. The revision was read before the record: what is newer than its number is told again later."""
    kinds = {kind.name: kind for kind in feed_kinds()}
    answers: dict[str, Answers] = {}
    if any(key.kind == SETTINGS for key in keys):
        answers[SETTINGS] = {owner.pk: settings_record(owner)}
    for name, kind in kinds.items():
        ids = [key.record_id for key in keys if key.kind == name]
        answers[name] = kind.answers(owner, ids) if ids else {}
    for key in keys:
        answer = answers[key.kind].get(key.record_id)
        is_tombstone = key.place == _TOMBSTONE_PLACE
        if is_tombstone and answer is not None:
            continue  # it came back under its id, by an import: told where that was written
        if answer is None and key.revision <= position.began_at_revision:
            continue
        yield _change(key, answer, kinds.get(key.kind))


def _change(key: _Key, answer: Representation | None, kind: FeedKind | None) -> dict[str, Any]:
    record = answer and answer.body
    if kind and kind.record and answer:
        record = kind.record(answer.body)
    return {
        "type": key.kind,
        "id": str(key.record_id),
        "revision": key.revision,
        "etag": answer and answer.etag,
        "deleted": answer is None,
        "record": record,
    }
