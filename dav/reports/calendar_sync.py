"""`sync-collection` (RFC 6578) of calendars: what has changed since the token, by revisions and by the day."""

import datetime as dt
from collections.abc import Iterator
from typing import Any
from uuid import UUID
from xml.etree.ElementTree import Element

from dav.reports.calendar_data import CalendarRequest, describe_members, read_calendar_request
from dav.reports.limits import read_limit
from dav.resources.calendars import CalendarResource
from dav.resources.paths import member_path
from dav.sync_tokens import Position, encode_token, read_token
from dav.xml import INSUFFICIENT_STORAGE, MISSING, dav, status_response, tag, text


def sync_calendar(calendar: CalendarResource, root: Element, *, is_minimal: bool, user_agent: str) -> Iterator[str]:
    """The changed members, those that are none any more (404), and the new token. With a limit, 507 where it cut.

    Raises DavError before the first element.
    """
    request, limit = read_calendar_request(root), read_limit(root)
    given, owner = (root.findtext(dav("sync-token")) or "").strip(), calendar.device.owner
    since = read_token(given, owner_id=owner.pk, newest=owner.revision, user_agent=user_agent) if given else None
    return _describe(calendar, request, since, limit, is_minimal=is_minimal)


def _describe(
    calendar: CalendarResource, request: CalendarRequest, since: Position | None, limit: int | None, *, is_minimal: bool
) -> Iterator[str]:
    end = calendar.position
    changes = [] if since == end else _find_changes(calendar, since)
    if limit is not None and len(changes) > limit:
        changes = changes[:limit]
        revision, record_id, _ = changes[-1]
        end = Position(revision - 1, record_id, since.day if since else end.day)
    for _, record_id, row in changes:
        member = calendar.member(row) if row is not None else None
        if member is None:
            yield status_response(member_path(calendar.path, f"{record_id}.ics"), MISSING)
        else:
            yield from describe_members([member], request, is_minimal=is_minimal)
    if end.card_id:
        error = tag(dav("number-of-matches-within-limits"))
        yield status_response(calendar.path, INSUFFICIENT_STORAGE, error)
    yield tag(dav("sync-token"), text(encode_token(calendar.device.owner.pk, end)))


def _find_changes(calendar: CalendarResource, since: Position | None) -> list[tuple[int, UUID, Any]]:
    """Revision, id and row of what changed, in the order of the first two; the row is None for what is no member."""
    changes: list[tuple[int, UUID, Any]] = []
    present: set[UUID] = set()
    newest = calendar.device.owner.revision
    for row in _rows_to_compare(calendar, since).iterator(500):
        if calendar.days(row) is None:
            continue
        present.add(row.id)
        revision = calendar.revision_of(row)
        if not _is_after(revision, row.id, since) and since is not None and since.day is not None:
            # What changed by the day alone counts as of now, so that a listing that is cut comes to it at last.
            is_other = calendar.has_changed_by_day(row, dt.date.fromordinal(since.day))
            revision = newest if is_other else revision
            if is_other and since.revision >= newest and not since.card_id:
                changes.append((newest, row.id, row))
                continue
        if _is_after(revision, row.id, since):
            changes.append((revision, row.id, row))
    if since is not None:
        gone = calendar.gone(since.revision, present)
        changes += [(*pair, None) for pair in gone if _is_after(*pair, since)]
    return sorted(changes, key=lambda change: change[:2])


def _rows_to_compare(calendar: CalendarResource, since: Position | None) -> Any:
    """The rows of the members that may have changed since then: what did not change costs nothing."""
    rows = calendar.rows()
    if since is None or calendar.has_changed_as_whole(since.revision):
        return rows
    if calendar.changes_by_day and since.day != calendar.today.toordinal():
        return rows
    return calendar.changed(rows, since.revision)


def _is_after(revision: int, record_id: UUID, since: Position | None) -> bool:
    if since is None:
        return True
    if not since.card_id:
        return revision > since.revision
    return (revision, record_id) > (since.revision + 1, since.card_id)
