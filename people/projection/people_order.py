"""The orders of the people list, and the ids of one page in each. Pages are stable: ties by name, then id.

NULL stands last in both directions, and favourites may come first. Databases disagree about the place of NULL and use
no index for a condition in ORDER BY, so an order is a row of segments, each of which is the order of an index:
favourites with a value, favourites without one, others with a value, others without one. A page reads only the segments
that it touches.
"""

import datetime as dt
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.db.models import QuerySet

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import CompiledQuery, Rows, compiled_query
from contacts_project.kernel.database.ids import IdHex
from people.dates.next_dates import next_days
from people.dates.schedule import calendar_from_user
from people.models import Person
from people.models.person import ALWAYS


class Sort(StrEnum):
    """What the list may be sorted by."""

    NAME = "name"
    LAST_CONTACT = "lastContact"
    CREATED_AT = "createdAt"
    NEXT_DATE = "nextDate"


class Order(NamedTuple):
    """One order of the list; the default is that without `sort`."""

    sort: Sort = Sort.NAME
    is_descending: bool = False
    favourites_first: bool = False


_COLUMNS = {
    Sort.NAME: "sort_key",
    Sort.LAST_CONTACT: "last_contact",
    Sort.CREATED_AT: "created_at",
    Sort.NEXT_DATE: "next_date_on",
}
_NULLABLE = {Sort.LAST_CONTACT, Sort.NEXT_DATE}


def ordered_segments(people: QuerySet[Person], order: Order) -> Iterator[QuerySet[Person]]:
    """The people in the order, as querysets to read one after the other."""
    favourites = [people.filter(favourite=True), people.filter(favourite=False)] if order.favourites_first else [people]
    column = _COLUMNS[order.sort]
    by_name = () if order.sort is Sort.NAME else ("sort_key",)
    for rows in favourites:
        known = rows.filter(**{f"{column}__isnull": False}) if order.sort in _NULLABLE else rows
        yield known.order_by(f"-{column}" if order.is_descending else column, *by_name, "id")
        if order.sort in _NULLABLE:
            yield rows.filter(**{f"{column}__isnull": True}).order_by("sort_key", "id")


def ordered_ids(owner: User, people: QuerySet[Person], order: Order, *, now: dt.datetime) -> list[UUID]:
    """The ids of all the people in the order."""
    if order.sort is Sort.NEXT_DATE and (days := _unknown_next_days(owner, now)) is not None:
        return _sort_by_next_day(people, order, days)
    return [key for rows in ordered_segments(people, order) for key in rows.values_list("pk", flat=True)]


def page_ids(
    owner: User, people: QuerySet[Person], order: Order, *, limit: int, offset: int, now: dt.datetime
) -> list[UUID]:
    """The ids of a page in the order."""
    if order.sort is Sort.NEXT_DATE and (days := _unknown_next_days(owner, now)) is not None:
        return _sort_by_next_day(people, order, days)[offset : offset + limit]
    return read_page(map(_Rows, ordered_segments(people, order)), limit=limit, offset=offset)


def marked_page_ids(
    owner: User, marks: Mapping[str, bool], order: Order, *, limit: int, offset: int, now: dt.datetime
) -> list[UUID]:
    """As `page_ids`, of all active people with these marks, by statements that are built once."""
    if order.sort is Sort.NEXT_DATE and (days := _unknown_next_days(owner, now)) is not None:
        people = Person.objects.owned_by(owner).active().filter(**marks)
        return _sort_by_next_day(people, order, days)[offset : offset + limit]
    queries = _compiled_segments(order, frozenset(marks.items()))
    return read_page((_Marked(owner.pk, *pair) for pair in queries), limit=limit, offset=offset)


class _Segment(Protocol):
    """People of an order, to read one page of."""

    def read_ids(self, limit: int, offset: int) -> list[UUID]: ...
    def count_rows(self) -> int: ...


class _Rows(NamedTuple):
    """A segment of any filter."""

    rows: QuerySet[Person]

    def read_ids(self, limit: int, offset: int) -> list[UUID]:
        return list(self.rows.values_list("pk", flat=True)[offset : offset + limit])

    def count_rows(self) -> int:
        return int(self.rows.count())


class _Marked(NamedTuple):
    """A segment of the people with some marks."""

    owner_id: UUID
    query: CompiledQuery
    select: Callable[[UUID], QuerySet[Person]]

    def read_ids(self, limit: int, offset: int) -> list[UUID]:
        return [UUID(key) for (key,) in self.query.rows(owner_id=self.owner_id, limit=limit, offset=offset)]

    def count_rows(self) -> int:
        return int(self.select(self.owner_id).count())


@functools.cache
def _compiled_segments(
    order: Order, marks: frozenset[tuple[str, bool]]
) -> list[tuple[CompiledQuery, Callable[[UUID], QuerySet[Person]]]]:
    """For each segment of the order its query, and a function that returns its rows in an account."""

    def select(owner_id: UUID, number: int) -> QuerySet[Person]:
        people = Person.objects.owned_by(owner_id).active().filter(**dict(marks))
        return next(islice(ordered_segments(people, order), number, None))

    def compile_segment(number: int) -> CompiledQuery:
        return CompiledQuery(
            lambda owner_id, limit, offset: select(owner_id, number).values_list(IdHex("pk"))[offset : offset + limit]
        )

    length = sum(1 for _ in ordered_segments(Person.unscoped.rows(), order))
    return [(compile_segment(number), functools.partial(select, number=number)) for number in range(length)]


def _unknown_next_days(owner: User, now: dt.datetime) -> dict[UUID, dt.date | None] | None:
    """The next days of the people whose stored one is not right; None if all are right.

    Some are wrong for a minute after a change of dates, and after midnight.
    """
    calendar = calendar_from_user(owner)
    today = calendar.today(now)
    until = ALWAYS if owner.reminders_stale else today
    keys = [UUID(key) for (key,) in _known_until.rows(owner_id=owner.pk, day=until)]
    if not keys:
        return None
    days = next_days(owner, keys, calendar, today)
    return {key: days.get(key) for key in keys}


@compiled_query
def _known_until(owner_id: UUID, day: dt.date) -> Rows:
    return Person.objects.owned_by(owner_id).filter(next_date_until__lt=day).values_list(IdHex("pk"))


def _sort_by_next_day(people: QuerySet[Person], order: Order, unknown: Mapping[UUID, dt.date | None]) -> list[UUID]:
    rows = people.order_by().values_list("pk", "next_date_on", "sort_key", "favourite")

    def key(row: tuple[UUID, dt.date | None, Any, bool]) -> tuple[Any, ...]:
        person_id, stored, name, favourite = row
        day = unknown.get(person_id, stored)
        number = 0 if day is None else -day.toordinal() if order.is_descending else day.toordinal()
        return order.favourites_first and not favourite, day is None, number, bytes(name), person_id

    return [row[0] for row in sorted(rows, key=key)]


def read_page(segments: Iterable[_Segment], *, limit: int, offset: int) -> list[UUID]:
    """A page of the ids of several segments, one after the other."""
    found: list[UUID] = []
    for segment in segments:
        wanted = limit - len(found)
        ids = segment.read_ids(wanted, offset)
        found += ids
        if len(ids) == wanted:
            break
        # Beyond the end of a segment its length is not known yet; counting costs no more than skipping it did.
        length = offset + len(ids) if ids or not offset else segment.count_rows()
        offset = max(0, offset - length)
    return found
