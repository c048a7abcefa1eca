"""Writes many rows of one table without an instance for each, as `values_list` reads them."""

import datetime as dt
import functools
from collections.abc import Sequence
from typing import TypeAlias
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections, models

from contacts_project.kernel.database.compiled_queries import to_sqlite

Row: TypeAlias = Sequence[UUID | str | int | bytes | dt.datetime | None]


class TupleRows:
    """A model's rows as tuples of the values of these fields: ids, texts, numbers, bytes and times, or None.

    class LookupKey(models.Model):
        as_tuples = TupleRows("owner", "person", "kind", "key")

    LookupKey.as_tuples.bulk_create([(owner_id, person_id, kind, key), ...])

    For tables of which one write has many small rows: a queryset's `bulk_create` builds an instance for each row and
    prepares each value by itself. The text of the statements does not depend on the number of rows. Must be called in a
    transaction.
    """

    model: type[models.Model]

    def __init__(self, *columns: str) -> None:
        self._columns = columns

    def contribute_to_class(self, model: type[models.Model], name: str) -> None:
        """Django calls this for each class attribute while it builds the model."""
        self.model = model
        setattr(model, name, self)

    def bulk_create(
        self,
        rows: Sequence[Row],
        *,
        update_conflicts: bool = False,
        unique_fields: tuple[str, ...] = (),
        update_fields: tuple[str, ...] = (),
    ) -> None:
        """INSERT the rows; the arguments are those of a queryset's `bulk_create`."""
        vendor = connections[DEFAULT_DB_ALIAS].vendor
        statement = _insert_statement(vendor, self.model, self._columns)
        if update_conflicts:
            statement += _conflict_clause(self.model, unique_fields, update_fields)
        _execute(statement, rows)

    def delete(self, rows: Sequence[Row]) -> None:
        """DELETE the rows that have exactly these values."""
        _execute(_delete_statement(connections[DEFAULT_DB_ALIAS].vendor, self.model, self._columns), rows)


@functools.lru_cache(maxsize=64)
def _insert_statement(vendor: str, model: type[models.Model], columns: tuple[str, ...]) -> str:
    into = f"INSERT INTO {_quoted(model._meta.db_table)} ({', '.join(_names_of(model, columns))})"
    if vendor == "postgresql":
        return f"{into} SELECT * FROM unnest({_arrays(model, columns)})"  # noqa: S608 - names of our own
    return f"{into} VALUES ({', '.join(['%s'] * len(columns))})"


def _conflict_clause(model: type[models.Model], unique: tuple[str, ...], updated: tuple[str, ...]) -> str:
    """The end of an INSERT: where a row with the same `unique` fields is there, its `updated` fields are set."""
    assignments = ", ".join(f"{name} = excluded.{name}" for name in _names_of(model, updated))
    return f" ON CONFLICT ({', '.join(_names_of(model, unique))}) DO UPDATE SET {assignments}"


@functools.lru_cache(maxsize=64)
def _delete_statement(vendor: str, model: type[models.Model], columns: tuple[str, ...]) -> str:
    table, names = _quoted(model._meta.db_table), _names_of(model, columns)
    if vendor == "postgresql":
        equal_values = " AND ".join(f"{table}.{name} = gone.{name}" for name in names)
        gone = f"unnest({_arrays(model, columns)}) AS gone ({', '.join(names)})"
        return f"DELETE FROM {table} USING {gone} WHERE {equal_values}"  # noqa: S608 - names of our own
    equal_values = " AND ".join(f"{name} = %s" for name in names)
    return f"DELETE FROM {table} WHERE {equal_values}"  # noqa: S608 - names of our own


def _quoted(name: str) -> str:
    return connections[DEFAULT_DB_ALIAS].ops.quote_name(name)


def _field(model: type[models.Model], name: str) -> "models.Field[object, object]":
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field), name  # noqa: S101 - the other side of a relation has no column
    return field


def _names_of(model: type[models.Model], columns: tuple[str, ...]) -> list[str]:
    return [_quoted(_field(model, name).column) for name in columns]


def _arrays(model: type[models.Model], columns: tuple[str, ...]) -> str:
    """One array parameter with a cast for each column."""
    kinds = (_field(model, name).db_type(connections[DEFAULT_DB_ALIAS]) for name in columns)
    return ", ".join(f"%s::{kind}[]" for kind in kinds)


def _execute(statement: str, rows: Sequence[Row]) -> None:
    """Run one statement over arrays for all rows on PostgreSQL, and one statement per row on SQLite."""
    if not rows:
        return
    database = connections[DEFAULT_DB_ALIAS]
    with database.cursor() as cursor:
        if database.vendor == "postgresql":
            # unnest() has one parameter per column, so the text is the same for any number of rows and stays prepared.
            cursor.execute(statement, [list(column) for column in zip(*rows, strict=True)])
        else:
            # A statement costs no network round trip on SQLite, and the driver keeps it prepared.
            cursor.executemany(statement, [[to_sqlite(value, database.ops) for value in row] for row in rows])
