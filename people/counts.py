"""Row counts per account and kind. Database triggers update them in the transaction that changes the rows.

Counting ten thousand rows costs ten thousand steps at each read; a stored count costs one row per write, and triggers
also see deletions by cascade. Each kind is described once, as `Counted`, from which the triggers of SQLite and
PostgreSQL are built. Only rows of active people count: deleting a person subtracts its rows, restoring it adds them.

Counted are people (plan limits, /metrics, pages of the list), members (groups), photo bytes (limits, /metrics) and
relationships (relationships.models). What else has to be counted is counted when it is asked for, or as the last search
found it (`remember_search`).
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.core.cache import cache
from django.db import connection
from django.db.models import Sum

from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.database.triggers import Trigger, register_triggers
from people.models import AccountCount

PEOPLE, MEMBERS, PHOTO_BYTES = "people", "members", "photo_bytes"
DUPLICATES, SUGGESTIONS = "duplicates", "suggestions"
_SEARCH_KEPT_SECONDS = 24 * 60 * 60


# A scalar subquery, because PostgreSQL looks up one person for it. EXISTS may become a hash join over all people, and a
# trigger keeps the plan that was made when the tables were empty.
_PERSON_IS_ACTIVE = "(SELECT p.deleted_at IS NULL FROM people_person p WHERE p.id = {row}.{column})"


@dataclass(frozen=True)
class Counted:
    """One kind of counted row. `key`, `condition` and `amount` are SQL expressions in which `{row}` stands for the row.

    There is one count for each value of `key` (such as the group of a membership). `condition` selects the rows that
    count. `people` are the foreign keys to people, who must all be active. `columns` are the columns whose change can
    change a count. `amount` is what a row adds.
    """

    kind: str
    table: str
    columns: tuple[str, ...]
    key: str = "CAST('' AS varchar(36))"
    condition: str = "{row}.deleted_at IS NULL"
    people: tuple[str, ...] = ("person_id",)
    amount: str = "1"

    def counting_condition(self, row: str, without: str = "") -> str:
        """SQL condition under which `row` counts; the person in the column `without` is not checked."""
        people = [_PERSON_IS_ACTIVE.format(row=row, column=column) for column in self.people if column != without]
        return " AND ".join([self.condition.format(row=row), *people])


def count_of(owner_id: UUID, kind: str) -> int:
    """The number of rows of a kind, over all its keys."""
    return sum(number for _, number in _counts.rows(owner_id=owner_id, kind=kind))


def counts_by_id(owner_id: UUID, kind: str) -> dict[UUID, int]:
    """The number of rows by key, for a kind whose keys are ids, which the databases spell differently."""
    return {UUID(key): number for key, number in _counts.rows(owner_id=owner_id, kind=kind)}


@compiled_query
def _counts(owner_id: UUID, kind: str) -> Rows:
    return AccountCount.objects.filter(owner_id=owner_id, kind=kind).values_list("key", "number")


def totals_of(owner_ids: Collection[UUID], *kinds: str) -> dict[tuple[UUID, str], int]:
    """The counts of kinds without keys, by account and kind."""
    rows = AccountCount.objects.filter(owner_id__in=owner_ids, kind__in=kinds, key="")
    return {(owner_id, kind): number for owner_id, kind, number in rows.values_list("owner_id", "kind", "number")}


def total_of_all(kind: str) -> int:
    """The sum over all accounts for a kind without keys. Reads one index entry per account."""
    return AccountCount.objects.filter(kind=kind, key="").aggregate(total=Sum("number"))["total"] or 0


def triggers_of(counted: Counted) -> Iterator[Trigger]:
    """The triggers that update the counts of one kind."""
    name = f"count_{counted.kind}"
    table = counted.table
    added = f"{_insert_counts(counted, 'added')} {_UPSERT}"
    yield Trigger(f"{name}_insert", table, "INSERT", _add_row(counted, "NEW"), writes=_TABLE, statement_body=added)
    yield Trigger(
        f"{name}_delete",
        table,
        "DELETE",
        _subtract_row(counted, "OLD"),
        writes=_TABLE,
        statement_body=_subtract_rows(counted, "removed"),
    )
    yield Trigger(
        f"{name}_update",
        table,
        f"UPDATE OF {', '.join(counted.columns)}",
        f"{_subtract_row(counted, 'OLD')}; {_add_row(counted, 'NEW')}",
        changed=counted.columns,
        writes=_TABLE,
        postgresql_body=_recount_row(counted),
        disabled_by=_DEFER_SETTING,
    )
    for column in counted.people:
        body = _add_of_person(counted, column)
        # A row with two people is counted once, although one statement may delete both: a BEFORE trigger sees the
        # people that the same statement has changed already, on PostgreSQL as well as on SQLite.
        yield Trigger(
            f"{name}_of_{column}",
            "people_person",
            "UPDATE OF deleted_at",
            body,
            when="(OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL)",
            before=True,
            writes=_TABLE,
            disabled_by=_DEFER_SETTING,
        )


_TABLE = "people_accountcount"
_DEFER_SETTING = "contacts.counted_later"
_UPSERT = f"ON CONFLICT (owner_id, kind, key) DO UPDATE SET number = {_TABLE}.number + excluded.number"


def _add_row(counted: Counted, row: str) -> str:
    return (
        f"INSERT INTO {_TABLE} (owner_id, kind, key, number) "
        f"SELECT {row}.owner_id, '{counted.kind}', {counted.key.format(row=row)}, {counted.amount.format(row=row)} "
        f"WHERE {counted.counting_condition(row)} {_UPSERT}"
    )


def _subtract_row(counted: Counted, row: str) -> str:
    # An UPDATE, not an upsert: when an account is being deleted, its counts may be gone already.
    return (
        f"UPDATE {_TABLE} SET number = number - {counted.amount.format(row=row)} "  # noqa: S608 - as below
        f"WHERE owner_id = {row}.owner_id AND kind = '{counted.kind}' "
        f"AND key = {counted.key.format(row=row)} AND {counted.counting_condition(row)}"
    )


def _recount_row(counted: Counted) -> str:
    """SQL that counts a row that changes, for PostgreSQL, where even a statement that finds no row takes 40 µs."""
    before, after = (
        f"{row}.owner_id, {counted.key.format(row=row)}, {counted.amount.format(row=row)}, "
        f"({counted.counting_condition(row)})"
        for row in ("OLD", "NEW")
    )
    changes = " ".join(
        f"IF {counted.counting_condition(row)} THEN {change(counted, row)}; END IF;"
        for row, change in (("OLD", _subtract_row), ("NEW", _add_row))
    )
    return f"IF ({before}) IS DISTINCT FROM ({after}) THEN {changes} END IF"


def _subtract_rows(counted: Counted, rows: str) -> str:
    return (
        f"UPDATE {_TABLE} SET number = {_TABLE}.number - t.number FROM ({_select_counts(counted, rows)}) t "  # noqa: S608 - as below
        f"WHERE {_TABLE}.owner_id = t.owner_id AND {_TABLE}.kind = t.kind AND {_TABLE}.key = t.key"
    )


def _total(counted: Counted) -> str:
    """SQL aggregate over the rows `c`."""
    return "count(*)" if counted.amount == "1" else f"sum({counted.amount.format(row='c')})"


def _add_of_person(counted: Counted, column: str) -> str:
    """SQL that adds the rows of a person whose rows count from now on, and subtracts them if they count no longer."""
    key, sign = counted.key.format(row="c"), "CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE -1 END"
    return (
        f"INSERT INTO {_TABLE} (owner_id, kind, key, number) "  # noqa: S608 - as above
        f"SELECT c.owner_id, '{counted.kind}', {key}, {sign} * count(*) FROM {counted.table} c "
        f"WHERE c.{column} = NEW.id AND {counted.counting_condition('c', without=column)} "
        f"GROUP BY c.owner_id, {key} {_UPSERT}"
    )


@contextmanager
def deferred_counts(owner_id: UUID) -> Iterator[None]:
    """Disable the triggers around an UPDATE of many people, and recount their rows once afterwards.

    Must be called inside `account_write`. PostgreSQL keeps every version of a row until the transaction ends: updating
    a count for each of 4,000 people took ten seconds, and four times as long for twice as many. SQLite has no row
    versions, so nothing is deferred there.
    """
    if connection.vendor != "postgresql":
        yield
        return
    # No `finally`: after an error the transaction rolls back, which ends SET LOCAL.
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL {_DEFER_SETTING} = 'yes'")
        yield
        cursor.execute(f"SET LOCAL {_DEFER_SETTING} = ''")
        for counted in _registered:
            if counted.table == "people_person" or counted.people:
                cursor.execute(
                    f"DELETE FROM {_TABLE} WHERE owner_id = %s AND kind = %s",  # noqa: S608 - as above
                    [owner_id, counted.kind],
                )
                cursor.execute(_insert_counts(counted, counted.table, "AND c.owner_id = %s "), [owner_id])


def _insert_counts(counted: Counted, rows: str, more: str = "") -> str:
    return f"INSERT INTO {_TABLE} (owner_id, kind, key, number) {_select_counts(counted, rows, more)}"


def _select_counts(counted: Counted, rows: str, more: str = "") -> str:
    """SELECT of the counts of the rows in a table."""
    key = counted.key.format(row="c")
    return (
        f"SELECT c.owner_id, '{counted.kind}' AS kind, {key} AS key, {_total(counted)} AS number "  # noqa: S608 - as above
        f"FROM {rows} c WHERE {counted.counting_condition('c')} {more}GROUP BY c.owner_id, {key}"
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
)
COUNTED_PHOTOS = Counted(
    PHOTO_BYTES, "people_storedphoto", ("size",), condition="1 = 1", people=(), amount="{row}.size"
)


_registered: list[Counted] = []


def register_counted(*kinds: Counted) -> None:
    """Register the triggers of `kinds`; called in AppConfig.ready()."""
    for counted in kinds:
        _registered.append(counted)
        register_triggers(*triggers_of(counted))


def wrong_counts(owner_id: UUID | None = None) -> list[str]:
    """Descriptions of the counts, of one account or of all, that differ from the number of rows."""
    found: list[str] = []
    owner = owner_id and AccountCount._meta.get_field("owner").get_db_prep_value(owner_id, connection)
    with connection.cursor() as cursor:
        for counted in _registered:
            key = counted.key.format(row="c")
            of_owner = "AND c.owner_id = %(owner)s" if owner_id else ""
            # Both sides in one statement: a write between two would look like a wrong count.
            cursor.execute(
                "SELECT key, owner_id, sum(stored), sum(counted) FROM ("  # noqa: S608 - names of our own
                f"SELECT c.owner_id, c.key, c.number AS stored, 0 AS counted FROM {_TABLE} c "
                f"WHERE c.kind = '{counted.kind}' {of_owner} UNION ALL "
                f"SELECT c.owner_id, {key}, 0, {_total(counted)} FROM {counted.table} c "
                f"WHERE {counted.counting_condition('c')} {of_owner} "
                f"GROUP BY c.owner_id, {key}) AS both_sides "
                "GROUP BY owner_id, key HAVING sum(stored) <> sum(counted) ORDER BY owner_id, key",
                {"owner": owner} if owner_id else None,
            )
            for name, of_account, stored, number in cursor.fetchall():
                what = f"{counted.kind} of {name}" if name else counted.kind
                found.append(f"{what} of account {UUID(str(of_account))}: {stored} instead of {number}")
    return found


def remember_search(owner_id: UUID, kind: str, number: int) -> None:
    """Keep for a day how many a search of an account has found: DUPLICATES or SUGGESTIONS."""
    cache.set(f"found:{kind}:{owner_id}", number, _SEARCH_KEPT_SECONDS)


def last_search(owner_id: UUID) -> dict[str, int | None]:
    """How many the last searches have found, by kind; None where there was none within a day."""
    keys = {kind: f"found:{kind}:{owner_id}" for kind in (DUPLICATES, SUGGESTIONS)}
    found = cache.get_many(keys.values())
    return {kind: found.get(key) for kind, key in keys.items()}
