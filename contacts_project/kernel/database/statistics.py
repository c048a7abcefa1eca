"""Statistics for the query planners: fixed ones for SQLite, the same in every instance; measured ones on PostgreSQL.

Without statistics SQLite assumes that `owner_id = ?` matches ten rows, and reads a whole account where it should look
up one id. ANALYZE would measure them, but the figures of a small instance mislead the planner once the instance has
grown, and plans would differ between instances and from the tests. So this module writes the rows of sqlite_stat1, for
accounts of a size at which a wrong plan is slow: https://www.sqlite.org/optoverview.html, "Manual control of query
plans using sqlite_stat tables". PostgreSQL measures by itself (autovacuum) within a minute or two; `analyze_tables`
makes it measure at once after an import.
"""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import apps
from django.db import DatabaseError, connection, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

log = logging.getLogger(__name__)

# Assumed numbers of rows: of a table, of one account in it, and with one value of a column such as the id of a person.
TABLE_ROWS, ACCOUNT_ROWS, ROWS_PER_VALUE = 1_000_000, 10_000, 5
# One row in this many meets the condition of an index, such as the index of rows with a reminder.
SELECTIVE_SHARE = 100
# Rows with one value of a foreign key that many rows share: members of a group, relationships of a type.
ROWS_PER_SHARED_KEY = {
    "group_id": 500,
    "relationship_type_id": 2_000,
    "relationship_to_user_id": 2_000,
    "template_id": 2_000,
}


def install_statistics(*, using: str = "default", plan: Sequence[object] = (), **kwargs: object) -> None:
    """Receiver of post_migrate: write the statistics of every index of the project's tables.

    Runs after a migration, and if there are no statistics because an earlier run was killed after its migrations.
    """
    connection = connections[using]
    if connection.vendor != "sqlite" or (not plan and _has_statistics(connection)):
        return
    tables = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
    existing = set(connection.introspection.table_names())
    rows = [
        row
        for table, model in tables.items()
        if table in existing
        for row in _index_statistics(connection, table, model)
    ]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE django_migrations")  # creates sqlite_stat1, which CREATE TABLE cannot
        cursor.execute("DELETE FROM sqlite_stat1")
        cursor.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (%s, %s, %s)", rows)
        cursor.execute("ANALYZE sqlite_schema")  # measures nothing, but loads the rows written above


def _has_statistics(connection: BaseDatabaseWrapper) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'")
        return cursor.fetchone() is not None


def analyze_tables() -> None:
    """Let PostgreSQL measure samples of the project's tables, after many rows were added.

    Until then the planner knows nothing of the new rows. Must not be called inside a transaction that continues, as
    ANALYZE locks the tables until its end. A failure is only logged, because the rows themselves are committed.
    """
    if connection.vendor != "postgresql":
        return
    tables = sorted({model._meta.db_table for model in apps.get_models(include_auto_created=True)})
    try:
        with connection.cursor() as cursor:
            # SKIP_LOCKED: a locked table is usually one that autovacuum is measuring already.
            cursor.execute(f"ANALYZE (SKIP_LOCKED) {', '.join(map(connection.ops.quote_name, tables))}")
    except DatabaseError:
        log.warning("The tables could not be analyzed", exc_info=True)


def _index_statistics(
    connection: BaseDatabaseWrapper, table: str, model: type[models.Model]
) -> Iterator[tuple[str, str, str]]:
    """The rows of sqlite_stat1 for a table: (table, index, numbers).

    The numbers are all rows of the index, then the average rows with the same first column, first two columns, ...
    """
    shares = {index.name: SELECTIVE_SHARE ** _count_conditions(index) for index in model._meta.indexes}
    with connection.cursor() as cursor:
        cursor.execute(f'PRAGMA index_list("{table}")')
        indexes = [(name, bool(is_unique)) for _, name, is_unique, *_ in cursor.fetchall()]
        for name, is_unique in indexes:
            cursor.execute(f'PRAGMA index_info("{name}")')
            columns = [column for _, _, column in cursor.fetchall()]
            numbers = [max(number // shares.get(name, 1), 1) for number in _estimates(columns, is_unique, model)]
            yield table, name, " ".join(map(str, numbers))


def _count_conditions(index: models.Index) -> int:
    """The number of the index's conditions, each of which few rows meet. Most rows meet `deleted_at IS NULL`."""
    conditions: Any = index.condition.children if index.condition else []
    return sum(1 for name, _ in conditions if name != "deleted_at")


def _estimates(columns: list[str | None], is_unique: bool, model: type[models.Model]) -> Iterator[int]:
    """Assumed rows of an index, then rows with the same first column, first two columns, ..."""
    yield (left := TABLE_ROWS)
    fields = {field.column: field for field in model._meta.concrete_fields}
    for position, column in enumerate(columns, start=1):
        if is_unique and position == len(columns):
            left = 1
        else:
            left = min(left, _rows_per_value(column, fields.get(column or ""), left))
        yield left


def _rows_per_value(column: str | None, field: "models.Field[Any, Any] | None", left: int) -> int:
    """About how many of `left` rows have the same value in a column."""
    if column == "owner_id":
        return ACCOUNT_ROWS
    if column in ROWS_PER_SHARED_KEY:
        return ROWS_PER_SHARED_KEY[column]
    if field is None or isinstance(field, models.ForeignKey) or field.unique:
        return ROWS_PER_VALUE
    if isinstance(field, models.CharField | models.BinaryField | models.UUIDField | models.DateTimeField):
        return left if field.null else ROWS_PER_VALUE  # nullable columns such as deleted_at are mostly NULL
    return max(left // 4, 1)
