"""Writing some columns of many rows, each row with values of its own, and many narrow rows at once."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connections, models, router

from contacts_project.kernel.ownership.account_lock import NoOpenWriteError
from contacts_project.kernel.ownership.models import FeedModel


def update_columns(model: type[models.Model], rows: Iterable[models.Model], columns: Sequence[str]) -> None:
    """UPDATE each row's columns by its key, as one batch; `updated_at` stays. Inside the caller's transaction.

    bulk_update writes one CASE with a branch for each row and column, which databases take minutes to plan.
    """
    connection = connections[router.db_for_write(model)]
    if issubclass(model, FeedModel) and model.is_in_feed(columns):
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


def insert_rows(model: type[models.Model], columns: Sequence[str], rows: Sequence[Sequence[UUID | str | int]]) -> None:
    """INSERT rows, the values of `columns` each, as one statement or batch. Inside the caller's transaction.

    For narrow tables that get many rows: with bulk_create an instance for each, and a statement that is compiled value
    by value, cost several times the writing.
    """
    connection = connections[router.db_for_write(model)]
    if issubclass(model, FeedModel):
        raise NoOpenWriteError(f"{model.__name__}: a row of the feed is written by its manager.")
    if not rows:
        return
    fields: list[models.Field[Any, Any]] = [model._meta.get_field(column) for column in columns]  # type: ignore[misc]
    quote = connection.ops.quote_name
    into = f"INSERT INTO {quote(model._meta.db_table)} ({', '.join(quote(field.column) for field in fields)})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            arrays = ", ".join(f"%s::{field.db_type(connection)}[]" for field in fields)
            statement = f"{into} SELECT * FROM unnest({arrays})"  # noqa: S608 - names of our own
            cursor.execute(statement, [list(column) for column in zip(*rows, strict=True)])
        else:
            values = ([value.hex if isinstance(value, UUID) else value for value in row] for row in rows)
            cursor.executemany(f"{into} VALUES ({', '.join(['%s'] * len(fields))})", list(values))
