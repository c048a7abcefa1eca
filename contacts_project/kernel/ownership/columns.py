"""Writing some columns of many rows, each row with values of its own, and many narrow rows at once."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, connections, models, router

from contacts_project.kernel.ownership.account_lock import NoOpenWriteError
from contacts_project.kernel.ownership.models import FeedModel


def update_columns(model: type[models.Model], rows: Iterable[models.Model], columns: Sequence[str]) -> None:
    """UPDATE each row's columns by its key, as one batch; `updated_at` stays. Inside the caller's transaction.

    bulk_update writes one CASE with a branch for each row and column, which databases take minutes to plan.
    """
    connection = connections[router.db_for_write(model)]
    if issubclass(model, FeedModel) and model.has_feed_columns(columns):
        raise NoOpenWriteError(f"{model.__name__}: only QUIET_COLUMNS may be written past the feed.")
    known = {field.name: field for field in model._meta.concrete_fields}
    key = next(field for field in known.values() if field.primary_key)
    fields = [known[column] for column in columns]
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
    """INSERT rows, the values of `columns` each, as one statement or batch. Inside the caller's transaction.

    For narrow tables that get many rows: with bulk_create an instance for each, and a statement that is compiled value
    by value, cost several times the writing.
    """
    table, names, arrays = _shape(model, columns)
    into = f"INSERT INTO {table} ({', '.join(names)})"
    values = f"VALUES ({', '.join(['%s'] * len(names))})"
    _run(f"{into} SELECT * FROM unnest({arrays})", f"{into} {values}", rows)  # noqa: S608 - names of our own


def delete_rows(model: type[models.Model], columns: Sequence[str], rows: Sequence[Row]) -> None:
    """DELETE the rows whose `columns` have one of these values, likewise."""
    table, names, arrays = _shape(model, columns)
    wanted = " AND ".join(f"{name} = %s" for name in names)
    given = f"DELETE FROM {table} USING unnest({arrays}) AS gone ({', '.join(names)})"  # noqa: S608 - names of our own
    same = " AND ".join(f"{table}.{name} = gone.{name}" for name in names)
    _run(f"{given} WHERE {same}", f"DELETE FROM {table} WHERE {wanted}", rows)  # noqa: S608 - as above


def _shape(model: type[models.Model], columns: Sequence[str]) -> tuple[str, list[str], str]:
    """The names of the table and of the columns, and PostgreSQL's parameters of an array for each."""
    if issubclass(model, FeedModel):
        raise NoOpenWriteError(f"{model.__name__}: a row of the feed is written by its manager.")
    connection = connections[router.db_for_write(model)]
    fields: list[models.Field[Any, Any]] = [model._meta.get_field(column) for column in columns]  # type: ignore[misc]
    quote = connection.ops.quote_name
    arrays = ", ".join(f"%s::{field.db_type(connection)}[]" for field in fields)
    return quote(model._meta.db_table), [quote(field.column) for field in fields], arrays


def _run(of_arrays: str, of_one: str, rows: Sequence[Row]) -> None:
    """One statement for all rows on PostgreSQL, on SQLite one that it keeps for each."""
    if not rows:
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(of_arrays, [list(column) for column in zip(*rows, strict=True)])
        else:
            cursor.executemany(of_one, [[v.hex if isinstance(v, UUID) else v for v in row] for row in rows])
