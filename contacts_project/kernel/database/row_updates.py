"""UPDATE of rows by the values of columns, without the ORM: of one by what it holds, or of many by their ids."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction

from contacts_project.kernel.database.kept_cursor import kept_cursor


def update_where(model: type[models.Model], where: Mapping[str, object], values: Mapping[str, object]) -> int:
    """UPDATE the rows that have the values `where` (None matches NULL), and return their number. Keys are field names.

    Unlike CompiledQuery.update it takes values of every type that a field takes. The ORM is not involved: a row of the
    change feed keeps its revision, for changes that clients need not fetch. Say why at each such call.

    If a column is in both `where` and `values`, only one of several concurrent callers updates the row.
    """
    database = connections[DEFAULT_DB_ALIAS]
    conditions = tuple((name, value is None) for name, value in where.items())
    statement, fields = _update_statement(database.vendor, model, tuple(values), conditions)
    arguments = [*values.values(), *(value for value in where.values() if value is not None)]
    parameters = [field.get_db_prep_save(value, database) for field, value in zip(fields, arguments, strict=True)]
    cursor = kept_cursor(database)
    cursor.execute(statement, parameters)
    return int(cursor.rowcount)


def update_rows(
    model: type[models.Model], rows: Sequence[models.Model], columns: Sequence[str], where: Mapping[str, Any]
) -> int:
    """UPDATE these columns of each row that has the values `where`, and return the number of rows.

    One UPDATE by id for each row: all or none are written.
    """
    if not rows or not columns:
        return 0
    database = connections[DEFAULT_DB_ALIAS]
    conditions = tuple((name, value is None) for name, value in (("id", 0), *where.items()))
    statement, fields = _update_statement(database.vendor, model, tuple(columns), conditions)
    own = fields[: len(columns) + 1]
    common = [value for value in where.values() if value is not None]
    fixed = [f.get_db_prep_save(value, database) for f, value in zip(fields[len(own) :], common, strict=True)]
    values = [
        [*(field.get_db_prep_save(getattr(row, field.attname), database) for field in own), *fixed] for row in rows
    ]
    if len(values) == 1:
        cursor = kept_cursor(database)
        cursor.execute(statement, values[0])
        return int(cursor.rowcount)
    with transaction.atomic(savepoint=False), database.cursor() as cursor:
        cursor.executemany(statement, values)
        return int(cursor.rowcount)


@functools.lru_cache(maxsize=256)
def _update_statement(
    vendor: str, model: type[models.Model], names: tuple[str, ...], conditions: tuple[tuple[str, bool], ...]
) -> "tuple[str, list[models.Field[Any, Any]]]":
    """The SQL, and the fields of its parameters. A condition is a field name and whether it compares with NULL."""
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    assignments = ", ".join(f"{quote(_field(model, name).column)} = %s" for name in names)
    where = " AND ".join(
        f"{quote(_field(model, name).column)} {'IS NULL' if is_null else '= %s'}" for name, is_null in conditions
    )
    statement = f"UPDATE {quote(model._meta.db_table)} SET {assignments} WHERE {where}"  # noqa: S608 - names of our own
    compared = [name for name, is_null in conditions if not is_null]
    return statement, [_field(model, name) for name in (*names, *compared)]


def _field(model: type[models.Model], name: str) -> "models.Field[Any, Any]":
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field), name  # noqa: S101 - the other side of a relation has no column
    return field
