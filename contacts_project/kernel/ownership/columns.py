"""Bulk statements without the ORM: UPDATE with different values for each row, INSERT and DELETE of narrow rows."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, connections, models, router

from contacts_project.kernel.ownership.account_lock import NoOpenWriteError
from contacts_project.kernel.ownership.models import FeedModel


def update_columns(model: type[models.Model], rows: Iterable[models.Model], columns: Sequence[str]) -> None:
    """UPDATE the columns of each row by its primary key, in one batch. Must be called inside a transaction.

    `updated_at` does not change. Django's bulk_update writes one CASE with a branch for each row and column, which
    databases take minutes to plan.
    """
    connection = connections[router.db_for_write(model)]
    if issubclass(model, FeedModel) and model.has_feed_columns(columns):
        raise NoOpenWriteError(f"{model.__name__}: only QUIET_COLUMNS may be written past the feed.")
    fields_by_name = {field.name: field for field in model._meta.concrete_fields}
    key = next(field for field in fields_by_name.values() if field.primary_key)
    fields = [fields_by_name[column] for column in columns]
    quote = connection.ops.quote_name
    assignments = ", ".join(f"{quote(field.column)} = %s" for field in fields)
    statement = f"UPDATE {quote(model._meta.db_table)} SET {assignments} WHERE {quote(key.column)} = %s"  # noqa: S608 - names of our own
    values = [
        [field.get_db_prep_save(getattr(row, field.attname), connection) for field in [*fields, key]] for row in rows
    ]
    if values:
        with connection.cursor() as cursor:
            cursor.executemany(statement, values)


Row = Sequence[UUID | str | int]


def insert_rows(model: type[models.Model], columns: Sequence[str], rows: Sequence[Row]) -> None:
    """INSERT rows, each a sequence of the values of `columns`. Must be called inside a transaction.

    For tables with few columns and many rows: bulk_create builds an instance for each row and compiles the statement
    value by value, which takes several times as long as the database takes to write the rows.
    """
    table, names, arrays = _sql_names(model, columns)
    into = f"INSERT INTO {table} ({', '.join(names)})"
    values = f"VALUES ({', '.join(['%s'] * len(names))})"
    _execute(f"{into} SELECT * FROM unnest({arrays})", f"{into} {values}", rows)  # noqa: S608 - names of our own


def delete_rows(model: type[models.Model], columns: Sequence[str], rows: Sequence[Row]) -> None:
    """DELETE the rows whose `columns` have the values of one of `rows`. Must be called inside a transaction."""
    table, names, arrays = _sql_names(model, columns)
    equal_values = " AND ".join(f"{name} = %s" for name in names)
    delete = f"DELETE FROM {table} USING unnest({arrays}) AS gone ({', '.join(names)})"  # noqa: S608 - names of our own
    join = " AND ".join(f"{table}.{name} = gone.{name}" for name in names)
    _execute(f"{delete} WHERE {join}", f"DELETE FROM {table} WHERE {equal_values}", rows)  # noqa: S608 - as above


def _sql_names(model: type[models.Model], columns: Sequence[str]) -> tuple[str, list[str], str]:
    """The quoted names of the table and the columns, and one array parameter with a cast per column for PostgreSQL.

    Raises NoOpenWriteError for a table of the feed, whose rows need a revision.
    """
    if issubclass(model, FeedModel):
        raise NoOpenWriteError(f"{model.__name__}: a row of the feed is written by its manager.")
    connection = connections[router.db_for_write(model)]
    fields: list[models.Field[Any, Any]] = [model._meta.get_field(column) for column in columns]  # type: ignore[misc]
    quote = connection.ops.quote_name
    arrays = ", ".join(f"%s::{field.db_type(connection)}[]" for field in fields)
    return quote(model._meta.db_table), [quote(field.column) for field in fields], arrays


def _execute(array_statement: str, row_statement: str, rows: Sequence[Row]) -> None:
    """Run one statement over arrays for all rows on PostgreSQL, and one statement per row on SQLite."""
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # unnest() has one parameter per column, so the text is the same for any number of rows and stays prepared.
            cursor.execute(array_statement, [list(column) for column in zip(*rows, strict=True)])
        else:
            # A statement costs no network round trip on SQLite, and the driver keeps it prepared.
            cursor.executemany(row_statement, [[v.hex if isinstance(v, UUID) else v for v in row] for row in rows])
