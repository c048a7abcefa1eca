"""An UPDATE by known values without the ORM's queryset, for code that updates many rows per second one by one.

Django takes as long to build such a statement as the database takes to run it. This takes a tenth of that.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models


def update_where(model: type[models.Model], where: Mapping[str, Any], values: Mapping[str, Any]) -> int:
    """UPDATE the rows that have the values `where` (None matches NULL), and return their number. Keys are field names.

    If a column is in both `where` and `values`, only one of several concurrent callers updates the row.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    conditions = tuple((name, value is None) for name, value in where.items())
    statement, fields = _statement(connection.vendor, model, tuple(values), conditions)
    arguments = [*values.values(), *(value for value in where.values() if value is not None)]
    parameters = [field.get_db_prep_save(value, connection) for field, value in zip(fields, arguments, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


@lru_cache(maxsize=256)
def _statement(
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
