"""The change feed: one statement finds the changed records of a page, then each kind of records loads its own.

Each app registers its kinds in AppConfig.ready().
"""

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.feed.cursor import Cursor, first_cursor, read_cursor
from accounts.models import User
from contacts_project.kernel.json import JsonObject, Representation
from contacts_project.kernel.ownership.models import FeedModel, Tombstone, TrashModel

RecordsById = Mapping[UUID, Representation]
"""Records by id, each in the format of its own GET; `in_feed` is without what the feed sends as other records."""

SETTINGS = "settings"
"""The account's profile: a single record that always exists, in the row of the user."""

_SETTINGS_ORDER = 0
_TOMBSTONE_ORDER = 999  # within a revision, removals come after all changes
_MAX_UUID = UUID(int=2**128 - 1)


@dataclass(frozen=True)
class FeedKind:
    """One kind. `load(owner, ids)` returns those of the records that are active, in a constant number of queries.

    `order` sorts the records that one write has changed: a record comes after those that it refers to. Cursors contain
    it, so it must not change. `column` holds the id that clients know the record by.
    """

    model: type[FeedModel]
    order: int
    load: Callable[[User, Collection[UUID]], RecordsById]
    column: str = "id"

    @property
    def name(self) -> str:
        return self.model.FEED_TYPE


_kinds: dict[str, FeedKind] = {}
_settings: list[Callable[[User], Representation]] = []


def register_feed_kind(*kinds: FeedKind) -> None:
    """Must be called once, from AppConfig.ready()."""
    _kinds.update({kind.name: kind for kind in kinds})


def register_feed_settings(serialize: Callable[[User], Representation]) -> None:
    """Set the function that serializes the profile. Must be called once, from AppConfig.ready()."""
    _settings.append(serialize)


def settings_record(owner: User) -> Representation:
    """The profile, in the format of its GET."""
    return _settings[0](owner)


def feed_kinds() -> list[FeedKind]:
    """All registered kinds, sorted by `order`."""
    return sorted(_kinds.values(), key=lambda kind: kind.order)


def feed_types() -> list[str]:
    """The valid values of the query parameter `types`."""
    return [SETTINGS, *(kind.name for kind in feed_kinds())]


@dataclass(frozen=True)
class ChangePage:
    """Changes in the format of the API, the cursor of the next page, and whether there is more to read now."""

    changes: list[dict[str, Any]]
    cursor: str
    has_more: bool


class _Key(NamedTuple):
    """A changed record. The feed is sorted by these fields, in this order."""

    revision: int
    kind_order: int
    record_id: UUID
    kind: str


def read_changes(*, owner: User, cursor: str | None, types: Sequence[str], limit: int) -> ChangePage:
    """The changes after `cursor`, ordered by revision; without a cursor, all active records.

    Contains only what was committed when `owner` was loaded. Writes of an account are serialized (account_write), so
    everything up to its revision is visible; later writes have higher revisions and come with the next page. Raises
    FieldError, CursorExpiredError.
    """
    today = timezone.now().astimezone(dt.UTC).date()
    requested = tuple(sorted(set(types)))
    if cursor is None:
        position = first_cursor(owner, types=requested, today=today)
    else:
        position = read_cursor(cursor, owner_id=owner.pk, types=requested, newest=owner.revision, today=today)
    # One key more than the page holds, to see whether there is a next page.
    keys = _find_changed(owner, position, limit + 1) if not position.has_reached(owner.revision) else []
    page, has_more = keys[:limit], len(keys) > limit
    if has_more:
        last = page[-1]
        end = position.moved_to(last.revision, last.kind_order, last.record_id)
    else:
        end = position.moved_past(owner.revision)
    return ChangePage(list(_load_changes(owner, page, position)), end.encode(), has_more)


def _find_changed(owner: User, position: Cursor, limit: int) -> list[_Key]:
    """The next records that were changed, trashed or removed. Each branch reads at most `limit` rows of its index."""
    kinds = [kind for kind in feed_kinds() if not position.types or kind.name in position.types]
    branches: list[str] = []
    parameters: list[Any] = []
    for kind in kinds:
        # A new client never had what was in the trash when it began, so it needs no deletion of that.
        condition = "(deleted_at IS NULL OR revision > %s) AND " if issubclass(kind.model, TrashModel) else ""
        branches.append(_select(kind.model._meta.db_table, kind.order, f"'{kind.name}'", kind.column, condition))
        parameters += [position.began_at_revision] if condition else []
        parameters += _select_parameters(owner, position, kind.order, limit)
    if names := [kind.name for kind in kinds]:
        placeholders = ", ".join(["%s"] * len(names))
        branches.append(
            _select(Tombstone._meta.db_table, _TOMBSTONE_ORDER, "kind", "record_id", f"kind IN ({placeholders}) AND ")
        )
        # The client never had what was removed before it began.
        since = max(position.revision, position.began_at_revision)
        start = position if since == position.revision else position.moved_past(since)
        parameters += [*names, *_select_parameters(owner, start, _TOMBSTONE_ORDER, limit)]
    keys = list(_fetch_keys(branches, parameters)) if branches else []
    settings = _Key(owner.settings_revision, _SETTINGS_ORDER, owner.pk, SETTINGS)
    if (not position.types or SETTINGS in position.types) and settings[:3] > position.sort_key:
        keys.append(settings)
    return sorted(keys)[:limit]


def _select(table: str, kind_order: int, kind: str, column: str, condition: str = "") -> str:
    # SQLite takes ORDER BY and LIMIT of one branch of a UNION only in a subquery.
    return (
        f"SELECT * FROM (SELECT revision, {kind_order} AS kind_order, {column} AS record_id, {kind} AS kind "  # noqa: S608 - names of our own
        f"FROM {table} WHERE {condition}owner_id = %s AND (revision, {column}) > (%s, %s) AND revision <= %s "
        f"ORDER BY revision, {column} LIMIT %s) AS changed_{kind_order}"
    )


def _select_parameters(owner: User, position: Cursor, kind_order: int, limit: int) -> list[UUID | str | int]:
    """The parameters of `_select`: the rows after the position, where a revision is sorted by `kind_order`."""
    revision, record_id = position.revision, position.record_id
    if kind_order > position.kind_order:  # none of this kind of the position's revision has been sent
        revision, record_id = revision - 1, _MAX_UUID
    elif kind_order < position.kind_order:  # all of this kind of the position's revision have been sent
        record_id = _MAX_UUID
    return [_to_column(owner.pk), revision, _to_column(record_id), owner.revision, limit]


def _to_column(key: UUID) -> UUID | str:
    # Raw SQL passes no field of Django's, which would convert: SQLite stores a UUID as 32 hex digits.
    return key if connection.features.has_native_uuid_field else key.hex


def _fetch_keys(branches: list[str], parameters: list[UUID | str | int]) -> Iterator[_Key]:
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(branches), parameters)
        for revision, kind_order, record_id, kind in cursor.fetchall():
            yield _Key(revision, kind_order, record_id if isinstance(record_id, UUID) else UUID(record_id), kind)


def _load_changes(owner: User, keys: list[_Key], position: Cursor) -> Iterator[JsonObject]:
    """The changes, with the records as they are now.

    The keys were read first, so a record can be newer than the revision of its key: the feed then sends it again later.
    """
    kinds = {kind.name: kind for kind in feed_kinds()}
    records: dict[str, RecordsById] = {}
    if any(key.kind == SETTINGS for key in keys):
        records[SETTINGS] = {owner.pk: settings_record(owner)}
    for name, kind in kinds.items():
        ids = [key.record_id for key in keys if key.kind == name]
        records[name] = kind.load(owner, ids) if ids else {}
    for key in keys:
        record = records[key.kind].get(key.record_id)
        is_tombstone = key.kind_order == _TOMBSTONE_ORDER
        if is_tombstone and record is not None:
            continue  # an import has created it again with its id: the feed sends it at the revision of that write
        if record is None and key.revision <= position.began_at_revision:
            continue  # deleted between the two reads, and the client never had it
        yield _serialize_change(key, record)


def _serialize_change(key: _Key, record: Representation | None) -> JsonObject:
    body = record and (record.in_feed or record.body)
    return {
        "type": key.kind,
        "id": str(key.record_id),
        "revision": key.revision,
        "etag": record and record.etag,
        "deleted": record is None,
        "record": body,
    }
