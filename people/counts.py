"""How many rows of a kind an account has, kept by triggers of the database in the transaction that changes the rows.

To count ten thousand rows costs ten thousand steps each time somebody looks; to keep the number costs one row a write,
whoever writes and by whatever cascade. Each kind is described once, as `Counted`; its triggers follow from that, on
SQLite and PostgreSQL alike. Only what hangs on people in use counts: deleting a person takes what hangs on it off the
counts, restoring puts it back.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Sum

from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.database.triggers import Trigger, register_triggers
from people.models import AccountCount

PEOPLE, MEMBERS, DAYS, PHOTO_BYTES = "people", "members", "days", "photo_bytes"


# A scalar subquery, for which PostgreSQL looks up one person: of EXISTS it may make a hash join over all people, and a
# trigger keeps the plan that it made when the tables were empty.
_ALIVE = "(SELECT p.deleted_at IS NULL FROM people_person p WHERE p.id = {row}.{column})"


@dataclass(frozen=True)
class Counted:
    """One kind of row. In `key` and `condition`, SQL expressions, `{row}` stands for the row.

    `key` tells apart what is counted separately (the group of a membership); `condition` says which rows count;
    `people` are the columns that name people, all of whom must be active; `columns` are those whose change matters;
    `amount` is what a row adds, where it is not 1.
    """

    kind: str
    table: str
    columns: tuple[str, ...]
    key: str = "CAST('' AS varchar(36))"
    condition: str = "{row}.deleted_at IS NULL"
    people: tuple[str, ...] = ("person_id",)
    amount: str = "1"

    def counts(self, row: str, without: str = "") -> str:
        """The condition under which `row` counts, leaving out the person in the column `without`."""
        alive = [_ALIVE.format(row=row, column=column) for column in self.people if column != without]
        return " AND ".join([self.condition.format(row=row), *alive])


def count_of(owner_id: UUID, kind: str) -> int:
    """How many rows of a kind that is counted as a whole."""
    return sum(counts_by_key(owner_id, kind).values())


def counts_by_key(owner_id: UUID, kind: str, keys: Iterable[str] | None = None) -> dict[str, int]:
    """How many rows by key, of `keys` or all; an id is spelled as the database spells it: see counts_by_id."""
    if keys is None:
        return dict(_COUNTS.rows(owner_id=owner_id, kind=kind))
    rows = AccountCount.objects.filter(owner_id=owner_id, kind=kind, key__in=keys)
    return dict(rows.values_list("key", "number"))


_COUNTS = CompiledQuery(
    lambda owner_id, kind: AccountCount.objects.filter(owner_id=owner_id, kind=kind).values_list("key", "number")
)


def totals_of(owner_ids: Collection[UUID], *kinds: str) -> dict[tuple[UUID, str], int]:
    """Of several accounts, what is counted as a whole, by account and kind."""
    rows = AccountCount.objects.filter(owner_id__in=owner_ids, kind__in=kinds, key="")
    return {(owner_id, kind): number for owner_id, kind, number in rows.values_list("owner_id", "kind", "number")}


def total_of_all(kind: str) -> int:
    """Over all accounts, what is counted as a whole: one index entry an account is read."""
    return AccountCount.objects.filter(kind=kind, key="").aggregate(total=Sum("number"))["total"] or 0


def counts_by_id(owner_id: UUID, kind: str) -> dict[UUID, int]:
    """The same for a kind whose keys are ids."""
    return {UUID(key): number for key, number in counts_by_key(owner_id, kind).items()}


def triggers_of(counted: Counted) -> Iterator[Trigger]:
    """The triggers that keep one kind."""
    name = f"count_{counted.kind}"
    table = counted.table
    added = f"{_insert_counts(counted, 'added')} {_SUM}"
    yield Trigger(f"{name}_insert", table, "INSERT", _add(counted, "NEW"), writes=_COUNT, statement_body=added)
    yield Trigger(
        f"{name}_delete", table, "DELETE", _take(counted, "OLD"), writes=_COUNT, statement_body=_take_removed(counted)
    )
    yield Trigger(
        f"{name}_update",
        table,
        f"UPDATE OF {', '.join(counted.columns)}",
        f"{_take(counted, 'OLD')}; {_add(counted, 'NEW')}",
        changed=counted.columns,
        writes=_COUNT,
        disabled_by=_LATER,
    )
    for column in counted.people:
        body = _add_all(counted, column)
        # Before: there PostgreSQL, too, shows the people that the same statement has moved already.
        yield Trigger(
            f"{name}_of_{column}",
            "people_person",
            "UPDATE OF deleted_at",
            body,
            when="(OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL)",
            before=True,
            writes=_COUNT,
            disabled_by=_LATER,
        )


_COUNT = "people_accountcount"
_LATER = "contacts.counted_later"
_SUM = f"ON CONFLICT (owner_id, kind, key) DO UPDATE SET number = {_COUNT}.number + excluded.number"


def _add(counted: Counted, row: str) -> str:
    return (
        f"INSERT INTO {_COUNT} (owner_id, kind, key, number) "
        f"SELECT {row}.owner_id, '{counted.kind}', {counted.key.format(row=row)}, {counted.amount.format(row=row)} "
        f"WHERE {counted.counts(row)} {_SUM}"
    )


def _take(counted: Counted, row: str) -> str:
    """Only of what is there: an account that is being deleted has lost its counts already."""
    return (
        f"UPDATE {_COUNT} SET number = number - {counted.amount.format(row=row)} "  # noqa: S608 - as below
        f"WHERE owner_id = {row}.owner_id AND kind = '{counted.kind}' "
        f"AND key = {counted.key.format(row=row)} AND {counted.counts(row)}"
    )


def _take_removed(counted: Counted) -> str:
    return (
        f"UPDATE {_COUNT} SET number = {_COUNT}.number - t.number FROM ({_numbers(counted, 'removed')}) t "  # noqa: S608 - as below
        f"WHERE {_COUNT}.owner_id = t.owner_id AND {_COUNT}.kind = t.kind AND {_COUNT}.key = t.key"
    )


def _total(counted: Counted) -> str:
    """Of the rows `c` of a group."""
    return "count(*)" if counted.amount == "1" else f"sum({counted.amount.format(row='c')})"


def _add_all(counted: Counted, column: str) -> str:
    """Add what hangs on a person that was restored; take it away when the person was deleted."""
    key, sign = counted.key.format(row="c"), "CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE -1 END"
    return (
        f"INSERT INTO {_COUNT} (owner_id, kind, key, number) "  # noqa: S608 - as above
        f"SELECT c.owner_id, '{counted.kind}', {key}, {sign} * count(*) FROM {counted.table} c "
        f"WHERE c.{column} = NEW.id AND {counted.counts('c', without=column)} GROUP BY c.owner_id, {key} {_SUM}"
    )


def recount_statements(counted: Counted) -> Iterator[str]:
    """SQL that counts a kind anew for every account: for migrations, and for the checks of `doctor`."""
    yield f"DELETE FROM {_COUNT} WHERE kind = '{counted.kind}'"  # noqa: S608 - as above
    yield _insert_counts(counted, counted.table)


@contextmanager
def counted_later(owner_id: UUID) -> Iterator[None]:
    """Inside an account_write, around an UPDATE of very many of its people: their rows are counted behind it, at once.

    PostgreSQL keeps every version of a row until its transaction ends: a count that is raised for each of 4,000 people
    took it ten seconds, and four times as long for twice as many. SQLite keeps none.
    """
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL {_LATER} = 'yes'")
        yield
        cursor.execute(f"SET LOCAL {_LATER} = ''")
        for counted in _counted:
            if counted.kind == PEOPLE or counted.people:
                cursor.execute(
                    f"DELETE FROM {_COUNT} WHERE owner_id = %s AND kind = %s",  # noqa: S608 - as above
                    [owner_id, counted.kind],
                )
                cursor.execute(_insert_counts(counted, counted.table, "AND c.owner_id = %s "), [owner_id])


def _insert_counts(counted: Counted, rows: str, more: str = "") -> str:
    return f"INSERT INTO {_COUNT} (owner_id, kind, key, number) {_numbers(counted, rows, more)}"


def _numbers(counted: Counted, rows: str, more: str = "") -> str:
    """What the rows of a table come to, as counts."""
    key = counted.key.format(row="c")
    return (
        f"SELECT c.owner_id, '{counted.kind}' AS kind, {key} AS key, {_total(counted)} AS number "  # noqa: S608 - as above
        f"FROM {rows} c WHERE {counted.counts('c')} {more}GROUP BY c.owner_id, {key}"
    )


COUNTED_OF_PEOPLE = (
    Counted(PEOPLE, "people_person", ("deleted_at",), people=()),
    Counted(
        MEMBERS,
        "people_membership",
        ("person_id", "group_id"),
        key="CAST({row}.group_id AS varchar(36))",
        condition="1 = 1",
    ),
    # What comes round every year, by month and day; a date with a rule of its own is looked at by itself.
    Counted(
        DAYS,
        "people_importantdate",
        ("deleted_at", "person_id", "type", "date", "reminder_enabled"),
        key="CAST({row}.month_day AS varchar(36))",
        condition="{row}.deleted_at IS NULL AND ({row}.type IS NOT NULL OR NOT {row}.reminder_enabled)",
    ),
)
COUNTED_PHOTOS = Counted(
    PHOTO_BYTES, "people_storedphoto", ("size",), condition="1 = 1", people=(), amount="{row}.size"
)


_counted: list[Counted] = []


def register_counted(*kinds: Counted) -> None:
    """Have the database keep the counts of `kinds`; called in AppConfig.ready()."""
    for counted in kinds:
        _counted.append(counted)
        register_triggers(*triggers_of(counted))


def recount(cursor: Any, kinds: tuple[Counted, ...]) -> None:
    for counted in kinds:
        for statement in recount_statements(counted):
            cursor.execute(statement)


def wrong_counts(owner_id: UUID | None = None) -> list[str]:
    """The counts of an account, or of all, that are not what the rows say."""
    found: list[str] = []
    owner = owner_id and AccountCount._meta.get_field("owner").get_db_prep_value(owner_id, connection)
    with connection.cursor() as cursor:
        for counted in _counted:
            key = counted.key.format(row="c")
            of_owner = "AND c.owner_id = %(owner)s" if owner_id else ""
            # Both sides in one statement: a write between two would look like a wrong count.
            cursor.execute(
                "SELECT key, owner_id, sum(kept), sum(counted) FROM ("  # noqa: S608 - names of our own
                f"SELECT c.owner_id, c.key, c.number AS kept, 0 AS counted FROM {_COUNT} c "
                f"WHERE c.kind = '{counted.kind}' {of_owner} UNION ALL "
                f"SELECT c.owner_id, {key}, 0, {_total(counted)} FROM {counted.table} c "
                f"WHERE {counted.counts('c')} {of_owner} "
                f"GROUP BY c.owner_id, {key}) AS both_sides "
                "GROUP BY owner_id, key HAVING sum(kept) <> sum(counted) ORDER BY owner_id, key",
                {"owner": owner} if owner_id else None,
            )
            for name, kept_of, kept, number in cursor.fetchall():
                what = f"{counted.kind} of {name}" if name else counted.kind
                found.append(f"{what} of account {UUID(str(kept_of))}: {kept} instead of {number}")
    return found
