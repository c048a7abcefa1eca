"""`sync-collection` (RFC 6578): what has changed in the book, or in a calendar, since the token of the device."""

import datetime as dt
from collections.abc import Iterator
from typing import Any
from uuid import UUID
from xml.etree.ElementTree import Element

from django.db.models import BigIntegerField, Case, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce, Greatest

from dav.filters import read_limit
from dav.models import BookCard, ListedAgain, SelectedCard
from dav.reports.address_data import CardRequest, describe_cards, read_card_request
from dav.reports.calendar_data import CalendarRequest, describe_members, read_calendar_request
from dav.resources.book import LENGTH, BookResource
from dav.resources.calendars import CalendarResource
from dav.resources.uris import Position, encode_token, member_path, read_token
from dav.selection import has_selection
from dav.xml import INSUFFICIENT_STORAGE, MISSING, dav, status_response, tag, text

_BATCH_SIZE = 200


def sync_collection(
    collection: BookResource | CalendarResource, root: Element, *, is_minimal: bool, user_agent: str
) -> Iterator[str]:
    """The changed members, those that are none any more (404), and the new token. With a limit, 507 where it cut.

    Raises DavStatusError before the first element.
    """
    owner = collection.device.owner

    def read_since() -> Position | None:
        token = (root.findtext(dav("sync-token")) or "").strip()
        return read_token(token, owner_id=owner.pk, newest=owner.revision, user_agent=user_agent) if token else None

    if isinstance(collection, CalendarResource):
        of_members, limit = read_calendar_request(root), read_limit(root)
        return _sync_calendar(collection, of_members, read_since(), limit, is_minimal=is_minimal)
    of_cards, limit = read_card_request(root), read_limit(root)
    return _sync_book(collection, of_cards, read_since(), limit, is_minimal=is_minimal)


def _describe_end(collection: BookResource | CalendarResource, end: Position) -> Iterator[str]:
    if end.card_id:
        error = tag(dav("number-of-matches-within-limits"))
        yield status_response(collection.path, INSUFFICIENT_STORAGE, error)
    yield tag(dav("sync-token"), text(encode_token(collection.device.owner.pk, end)))


def _sync_book(
    book: BookResource, request: CardRequest, since: Position | None, limit: int | None, *, is_minimal: bool
) -> Iterator[str]:
    end = Position(book.revision)
    if since is not None and not since.card_id and since.revision >= end.revision:
        yield tag(dav("sync-token"), text(encode_token(book.device.owner.pk, end)))
        return
    # A device that begins never had what has left.
    rows, column = _with_revisions(book)
    changed, left, left_column = _after(rows, column, since), None, "left_revision"
    if since is not None:
        left_cards, left_column = _left_cards(book)
        left = _after(left_cards, left_column, since)
    if limit is not None and (cut := _find_cut(changed, column, left, left_column, limit)):
        changed = _up_to(changed, column, cut)
        left = None if left is None else _up_to(left, left_column, cut)
        end = cut
    needs_text = request.wants_text or LENGTH in request.names
    for batch in book.batches(changed, _BATCH_SIZE, request.names, with_text=needs_text):
        yield from describe_cards(book, book.card_resources(batch, request.names), request, is_minimal=is_minimal)
    for name in () if left is None else left.values_list("name", flat=True).iterator(_BATCH_SIZE):
        yield status_response(member_path(book.path, name), MISSING)
    yield from _describe_end(book, end)


def _with_revisions(book: BookResource) -> tuple[QuerySet[BookCard], str]:
    """The rows of the cards, and the column or alias with the revision by which the device is told of each."""
    rows, column, device = book.cards(), book.changed_column, book.device
    later: list[Any] = []
    if book.listed_again:
        again = ListedAgain.objects.owned_by(device.owner).filter(token=device.token, card=OuterRef("pk"))
        later.append(Coalesce(Subquery(again.values("revision")), 0))
    if has_selection(device):
        selected = SelectedCard.objects.owned_by(device.owner).filter(token=device.token, card=OuterRef("pk"))
        later.append(Coalesce(Subquery(selected.values("entered_revision")), 0))
    if device.token.group_cards_revision:
        later.append(Value(device.token.group_cards_revision, BigIntegerField()))
    if not later:
        return rows, column
    return rows.annotate(told_revision=Greatest(column, *later)), "told_revision"


def _left_cards(book: BookResource) -> tuple[QuerySet[BookCard], str]:
    """The rows of the cards that this device has no more, and the column or alias with the revision of each."""
    device = book.device
    rows = BookCard.objects.owned_by(device.owner)
    left, switched = rows.exclude(left_revision=None), device.token.group_cards_revision
    if not has_selection(device) and not switched:
        return book.only_seen(left), "left_revision"
    # What has left the book counts wherever the device may have had it: the former name of a card is in no selection.
    was_there = Q(left_revision__isnull=False)
    at: list[Any] = [Coalesce("left_revision", 0)]
    if has_selection(device):
        selected = SelectedCard.objects.owned_by(device.owner).filter(token=device.token)
        was_there &= Q(uid="") | Q(pk__in=selected.values("card"))
        was_there |= Q(pk__in=selected.exclude(left_revision=None).values("card"))
        at.append(Coalesce(Subquery(selected.filter(card=OuterRef("pk")).values("left_revision")), 0))
    if switched and not device.has_group_cards:
        was_there |= Q(is_group=True)
        at.append(Case(When(is_group=True, then=Value(switched)), default=0, output_field=BigIntegerField()))
    elif not device.has_group_cards:
        was_there &= Q(is_group=False)
    left_cards = rows.filter(was_there).annotate(last_left_revision=Greatest(*at) if len(at) > 1 else at[0])
    return left_cards, "last_left_revision"


def _after(rows: QuerySet[BookCard], column: str, since: Position | None) -> QuerySet[BookCard]:
    """The rows that changed after the position, by the revision in `column`."""
    if since is None:
        return rows
    later = Q(**{f"{column}__gt": since.revision + (1 if since.card_id else 0)})
    if since.card_id:
        later |= Q(**{column: since.revision + 1}, id__gt=since.card_id)
    return rows.filter(later)


def _up_to(rows: QuerySet[BookCard], column: str, end: Position) -> QuerySet[BookCard]:
    return rows.filter(Q(**{f"{column}__lte": end.revision}) | Q(**{column: end.revision + 1}, id__lte=end.card_id))


def _find_cut(
    changed: QuerySet[BookCard], changed_column: str, left: QuerySet[BookCard] | None, left_column: str, limit: int
) -> Position | None:
    """The position behind the first `limit` changes; None if there are no more than that."""
    keys: list[tuple[int, UUID]] = []
    for rows, column in ((changed, changed_column), (left, left_column)):
        if rows is not None:
            keys += rows.order_by(column, "id").values_list(column, "id")[: limit + 1]
    if len(keys) <= limit:
        return None
    revision, card_id = sorted(keys)[limit - 1]
    return Position(revision - 1, card_id)


def _sync_calendar(
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
    yield from _describe_end(calendar, end)


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
        removed = calendar.removed(since.revision, present)
        changes += [(*pair, None) for pair in removed if _is_after(*pair, since)]
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
