"""What the planners are told about the tables: SQLite's fixed statistics, the same in every instance.

Without statistics SQLite takes `owner_id = ?` for ten rows and walks a whole account where it should look up one id.
ANALYZE would measure them, but what it measured while an instance was small misleads it once that has grown, and plans
would differ from instance to instance and from the tests. So the rows of sqlite_stat1 are written here, for accounts of
the size at which a wrong plan hurts: https://www.sqlite.org/optoverview.html, "Manual control of query plans using
sqlite_stat tables". PostgreSQL measures by itself (autovacuum), within a minute or two; after an import it is made to
measure at once.
"""

import logging
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import DatabaseError, connection, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

log = logging.getLogger(__name__)

# Rows of a table, of one account in it, and of what a foreign key to a person or a unique prefix leaves.
TABLE_ROWS, ACCOUNT_ROWS, ROWS_OF_ONE = 1_000_000, 10_000, 5
# Of so many rows one stands in an index with a condition of its own, such as those with a reminder.
SELECTIVE_SHARE = 100
# Foreign keys that stand in many rows: members of a group, relationships of a type.
MANY = {"group_id": 500, "relationship_type_id": 2_000, "relationship_to_user_id": 2_000, "template_id": 2_000}


def install_statistics(*, using: str = "default", plan: Any = None, **kwargs: Any) -> None:
    """Receiver of post_migrate: write the statistics of every index of the project's tables, when a migration ran, or
    when one was killed before it came to this.
    """
    connection = connections[using]
    if connection.vendor != "sqlite" or (not plan and _has_statistics(connection)):
        return
    tables = {model._meta.db_table: model for model in apps.get_models(include_auto_created=True)}
    existing = set(connection.introspection.table_names())
    rows = [row for table, model in tables.items() if table in existing for row in _rows(connection, table, model)]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE django_migrations")  # makes the table, which no CREATE TABLE can
        cursor.execute("DELETE FROM sqlite_stat1")
        cursor.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (%s, %s, %s)", rows)
        cursor.execute("ANALYZE sqlite_schema")  # analyses nothing: loads what was written


def _has_statistics(connection: BaseDatabaseWrapper) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'")
        return cursor.fetchone() is not None


def analyze_tables() -> None:
    """Have PostgreSQL measure the project's tables, from samples of them; those that it measures already are left out.

    For when many rows were added: until then it knows of none of them. Not inside a transaction that goes on. What was
    added is there even when this fails.
    """
    if connection.vendor != "postgresql":
        return
    tables = sorted({model._meta.db_table for model in apps.get_models(include_auto_created=True)})
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE (SKIP_LOCKED) {', '.join(map(connection.ops.quote_name, tables))}")
    except DatabaseError:
        log.warning("The tables could not be analyzed", exc_info=True)


def _rows(connection: BaseDatabaseWrapper, table: str, model: type[models.Model]) -> Iterator[tuple[str, str, str]]:
    """(table, index, numbers) of each index: rows in all, then rows with the same first column, first two, ..."""
    selective = {index.name for index in model._meta.indexes if _is_selective(index)}
    with connection.cursor() as cursor:
        cursor.execute(f'PRAGMA index_list("{table}")')
        indexes = [(name, bool(is_unique)) for _, name, is_unique, *_ in cursor.fetchall()]
        for name, is_unique in indexes:
            cursor.execute(f'PRAGMA index_info("{name}")')
            columns = [column for _, _, column in cursor.fetchall()]
            share = SELECTIVE_SHARE if name in selective else 1
            numbers = [max(number // share, 1) for number in _estimates(columns, is_unique, model)]
            yield table, name, " ".join(map(str, numbers))


def _is_selective(index: models.Index) -> bool:
    """Whether it holds few rows: its condition says more than that they are not deleted."""
    conditions: Any = index.condition.children if index.condition else []
    return any(name != "deleted_at" for name, _ in conditions)


def _estimates(columns: list[str | None], is_unique: bool, model: type[models.Model]) -> Iterator[int]:
    yield (left := TABLE_ROWS)
    fields = {field.column: field for field in model._meta.concrete_fields}
    for position, column in enumerate(columns, start=1):
        if is_unique and position == len(columns):
            left = 1
        else:
            left = min(left, _rows_with_one(column, fields.get(column or ""), left))
        yield left


def _rows_with_one(column: str | None, field: "models.Field[Any, Any] | None", left: int) -> int:
    """About how many of `left` rows have the same value in a column."""
    if column == "owner_id":
        return ACCOUNT_ROWS
    if column in MANY:
        return MANY[column]
    if field is None or isinstance(field, models.ForeignKey) or field.unique:
        return ROWS_OF_ONE
    if isinstance(field, models.CharField | models.BinaryField | models.UUIDField | models.DateTimeField):
        return left if field.null else ROWS_OF_ONE  # nullable ones are mostly empty: deleted_at
    return max(left // 4, 1)
