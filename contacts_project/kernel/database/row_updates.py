"""UPDATE of rows by their ids with what each holds, by a statement whose text is kept."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections, models, transaction

from contacts_project.kernel.database.kept_cursor import kept_cursor


def update_rows(
    model: type[models.Model], rows: Sequence[models.Model], columns: Sequence[str], where: Mapping[str, Any]
) -> int:
    """UPDATE these columns of each row that has the values `where`, and return the number of rows.

    One UPDATE by id for each row: all or none are written. Columns are names of fields; no value of `where` is None.
    """
    if not rows or not columns:
        return 0
    database = connections[DEFAULT_DB_ALIAS]
    statement, fields = _update_statement(database.vendor, model, tuple(columns), ("id", *where))
    own, compared = fields[: len(columns) + 1], fields[len(columns) + 1 :]
    fixed = [field.get_db_prep_save(v, database) for field, v in zip(compared, where.values(), strict=True)]
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
    vendor: str, model: type[models.Model], columns: tuple[str, ...], conditions: tuple[str, ...]
) -> "tuple[str, list[models.Field[Any, Any]]]":
    """The SQL, and the fields of its parameters."""
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    fields: list[Any] = [model._meta.get_field(name) for name in (*columns, *conditions)]
    terms = [f"{quote(field.column)} = %s" for field in fields]
    assignments, where = ", ".join(terms[: len(columns)]), " AND ".join(terms[len(columns) :])
    return f"UPDATE {quote(model._meta.db_table)} SET {assignments} WHERE {where}", fields  # noqa: S608 - names of our own
