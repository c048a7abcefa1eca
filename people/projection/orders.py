"""The orders of the list of people. Pages are stable: ties by name, then id; null stands last in both directions.

Name order reads an index. The others sort the account's people when they are asked for.
"""

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BinaryField, F, Func, Q, QuerySet
from django.db.models.sql.compiler import SQLCompiler

from accounts.models import User
from accounts.vocabularies import NameSort
from contacts_project.kernel.database.expressions import IdHex, Sql
from people.dates.next_dates import next_days
from people.dates.schedule import calendar_from_user
from people.models import Person
from people.models.person import ALWAYS
from people.names import COLUMNS, PHONETIC_COLUMNS, build_shown_key, shown_key


class Sort(StrEnum):
    """What the list may be sorted by."""

    NAME = "name"
    SURNAME = "surname"
    SHOWN = "shown"
    LAST_CONTACT = "lastContact"
    CREATED_AT = "createdAt"
    NEXT_DATE = "nextDate"


#: What a query may ask for. By display name is a preference of the account only.
QUERIED_SORTS = [sort for sort in Sort if sort is not Sort.SHOWN]
SORT_OF_ACCOUNT: dict[str, Sort] = {
    NameSort.GIVEN: Sort.NAME,
    NameSort.SURNAME: Sort.SURNAME,
    NameSort.SHOWN: Sort.SHOWN,
}
"""The order without `sort`, by the account's preference."""


class Order(NamedTuple):
    """One order of the list; the default is that of an index."""

    sort: Sort = Sort.NAME
    is_descending: bool = False
    favourites_first: bool = False


class SurnameKey(Func):
    """The surname in the sort key of a person, the part behind the zero byte; null where there is none."""

    arity = 1
    output_field = BinaryField()

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: object) -> Sql:
        template = "nullif(substr(%(expressions)s, instr(%(expressions)s, x'00') + 1), x'')"
        return self.as_sql(compiler, connection, template=template)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Sql:
        zero = "'\\x00'::bytea"
        template = f"nullif(substring(%(expressions)s from position({zero} in %(expressions)s) + 1), ''::bytea)"
        return self.as_sql(compiler, connection, template=template)


_SORT_COLUMNS: dict[Sort, Any] = {
    Sort.NAME: F("sort_key"),
    Sort.SURNAME: SurnameKey("sort_key"),
    Sort.LAST_CONTACT: F("last_contact"),
    Sort.CREATED_AT: F("created_at"),
    Sort.NEXT_DATE: F("next_date_on"),
}
_NULLABLE = {Sort.SURNAME, Sort.LAST_CONTACT, Sort.NEXT_DATE}
# Of most people the display name consists of name and surname, which the sort key has already folded.
_HAS_MORE_NAMES = Q(
    *(Q((f"{column}__isnull", False)) for column in (*COLUMNS, *PHONETIC_COLUMNS) if column not in {"name", "surname"}),
    _connector=Q.OR,
)


def ordered_ids(owner: User, people: QuerySet[Person], order: Order, *, now: dt.datetime) -> list[str]:
    """The ids, as IdHex, of all the people in the order: UUIDs of 2,000 would take 5 ms more."""
    ids = _sort_in_python(owner, people, order, now)
    return list(_in_order(people, order).values_list(IdHex("pk"), flat=True)) if ids is None else ids


def page_ids(
    owner: User, people: QuerySet[Person], order: Order, *, limit: int, offset: int, now: dt.datetime
) -> list[str]:
    """The ids, as IdHex, of a page in the order."""
    page = slice(offset, offset + limit)
    ids = _sort_in_python(owner, people, order, now)
    return list(_in_order(people, order).values_list(IdHex("pk"), flat=True)[page]) if ids is None else ids[page]


def _sort_in_python(owner: User, people: QuerySet[Person], order: Order, now: dt.datetime) -> list[str] | None:
    """All ids in an order that the database does not know; None where it does."""
    if order.sort is Sort.SHOWN:
        return _sort_by_shown_name(owner, people, order)
    if order.sort is Sort.NEXT_DATE and (days := _unknown_next_days(owner, now)) is not None:
        return _sort_by_next_day(people, order, days)
    return None


def _in_order(people: QuerySet[Person], order: Order) -> QuerySet[Person]:
    column = _SORT_COLUMNS[order.sort]
    nulls_last = True if order.sort in _NULLABLE else None
    by = column.desc(nulls_last=nulls_last) if order.is_descending else column.asc(nulls_last=nulls_last)
    favourites = ["-favourite"] if order.favourites_first else []
    names = [] if order.sort is Sort.NAME else ["sort_key"]
    if order.sort is Sort.SURNAME and order.is_descending:
        names = ["-sort_key"]  # surname and name are turned together
    return people.order_by(*favourites, by, *names, "id")


def _sort_by_shown_name(owner: User, people: QuerySet[Person], order: Order) -> list[str]:
    """The ids, as IdHex, in the order of display names, which no database folds as `fold` does."""
    name_order, form = owner.name_order, owner.name_display_format
    columns = people.order_by().filter(_HAS_MORE_NAMES).values_list(IdHex("pk"), *COLUMNS, "sort_key")
    keys = {key: shown_key(parts, bytes(names), order=name_order, form=form) for key, *parts, names in columns}
    key_of = build_shown_key(name_order, form)
    # In name order, which the sort keeps where display names are the same.
    rows = [
        (keys.get(key) or key_of(bytes(names)), key)
        for key, names in people.order_by("sort_key", "id").values_list(IdHex("pk"), "sort_key")
    ]
    rows.sort(key=itemgetter(0), reverse=order.is_descending)
    ids = [key for _, key in rows]
    if order.favourites_first:
        favourites = set(people.filter(favourite=True).values_list(IdHex("pk"), flat=True))
        ids.sort(key=lambda key: key not in favourites)
    return ids


def _unknown_next_days(owner: User, now: dt.datetime) -> dict[str, dt.date | None] | None:
    """The next days, by IdHex, of the people whose stored one is not right; None if all are right.

    Some are wrong for a minute after a change of dates, and after midnight.
    """
    calendar = calendar_from_user(owner)
    today = calendar.today(now)
    until = ALWAYS if owner.reminders_stale else today
    people = Person.objects.owned_by(owner).filter(next_date_until__lt=until)
    keys = list(people.values_list("pk", flat=True))
    if not keys:
        return None
    days = next_days(owner, keys, calendar, today)
    return {key.hex: days.get(key) for key in keys}


def _sort_by_next_day(people: QuerySet[Person], order: Order, unknown: Mapping[str, dt.date | None]) -> list[str]:
    rows = people.order_by().values_list(IdHex("pk"), "next_date_on", "sort_key", "favourite")

    def key(row: tuple[str, dt.date | None, Any, bool]) -> tuple[Any, ...]:
        person_id, stored, name, favourite = row
        day = unknown.get(person_id, stored)
        number = 0 if day is None else -day.toordinal() if order.is_descending else day.toordinal()
        return order.favourites_first and not favourite, day is None, number, bytes(name), person_id

    return [row[0] for row in sorted(rows, key=key)]
