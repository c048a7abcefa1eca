"""INSERT of a few rows by statements that are built once, in place of Django's bulk_create."""

import functools
from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models.fields import NOT_PROVIDED

from contacts_project.kernel.database.kept_cursor import kept_cursor

# Of these kinds of fields, and not of those derived from them, Django passes values of these types on as they are.
_KEPT_TYPES: dict[type, type] = {models.CharField: str, models.TextField: str, models.BooleanField: bool}
# For more rows bulk_create is faster: PostgreSQL gets one array for each column.
MAX_ROWS = 4


class OnConflict(NamedTuple):
    """What happens where a row with the same values of the `unique` fields is there: the `updated` fields are set, or
    without any, nothing."""

    unique: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()


def insert_instances(rows: Sequence[models.Model], on_conflict: OnConflict | None = None) -> bool:
    """INSERT new instances of one model as bulk_create does, or return False if only Django can.

    bulk_create builds the statement anew each time: 3,074 calls of Python functions for a person and a date, with this
    function 956. Columns that are None in all rows are left out, since psycopg parses a statement of more than 50
    parameters each time.
    """
    database = connections[DEFAULT_DB_ALIAS]
    model = type(rows[0])
    if isinstance(model._meta.pk, models.AutoField):
        return False  # Django reads the new key back
    fields, returned = _fields_of(model)
    plain, kept = _plain_names_of(model), _KEPT_TYPES
    if on_conflict and returned:
        return False  # of rows that are there already nothing is returned
    values = [_values_to_insert(row, fields, plain) for row in rows]
    given = [field.db_default is not NOT_PROVIDED for field in fields]
    for row_values in values:
        for number, value in enumerate(row_values):
            if value is not None:
                given[number] = True
                if hasattr(value, "resolve_expression"):
                    return False
    is_given = tuple(given)
    written = list(compress(fields, is_given))
    parameters = [
        value if value is None or type(value) is kept.get(type(field)) else field.get_db_prep_save(value, database)
        for row_values in values
        for field, value in zip(written, compress(row_values, is_given), strict=True)
    ]
    cursor = kept_cursor(database)
    cursor.execute(_insert_statement(database.vendor, model, is_given, len(rows), on_conflict), parameters)
    found = cursor.fetchall() if returned else [()] * len(rows)
    for row, computed in zip(rows, found, strict=True):
        for field, value in zip(returned, computed, strict=True):
            setattr(row, field.attname, value)
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    return True


@functools.cache
def _fields_of(model: type[models.Model]) -> tuple[list[Any], list[Any]]:
    """The fields to write, and those that the database computes."""
    computed: list[Any] = [field for field in model._meta.concrete_fields if field.generated]
    for field in computed:
        # Values of other types would have to be converted.
        assert isinstance(field.output_field, models.IntegerField), field  # noqa: S101 - as said
    return [field for field in model._meta.concrete_fields if not field.generated], computed


def _values_to_insert(row: models.Model, fields: Sequence[Any], plain: Sequence[str]) -> list[Any]:
    columns = vars(row)
    return [
        columns[name] if name in columns else field.pre_save(row, True)
        for name, field in zip(plain, fields, strict=True)
    ]


@functools.cache
def _plain_names_of(model: type[models.Model]) -> list[str]:
    """For each field to write the attribute that has its value; an empty text where `pre_save` computes it."""
    fields, _ = _fields_of(model)
    return [field.attname if type(field).pre_save is models.Field.pre_save else "" for field in fields]


@functools.lru_cache(maxsize=512)
def _insert_statement(
    vendor: str, model: type[models.Model], is_given: tuple[bool, ...], count: int, on_conflict: OnConflict | None
) -> str:
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    fields, returned = _fields_of(model)
    names = [quote(field.column) for field in compress(fields, is_given)]
    row = f"({', '.join(['%s'] * len(names))})"
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({', '.join(names)}) VALUES {', '.join([row] * count)}"  # noqa: S608 - names of our own
    if on_conflict is not None:
        return f"{statement} {conflict_clause(model, on_conflict)}"
    return f"{statement} RETURNING {', '.join(quote(field.column) for field in returned)}" if returned else statement


def conflict_clause(model: type[models.Model], on_conflict: OnConflict) -> str:
    """The end of an INSERT."""
    quote = connections[DEFAULT_DB_ALIAS].ops.quote_name
    columns: dict[str, str] = {field.name: quote(field.column) for field in _fields_of(model)[0]}
    if not on_conflict.updated:
        return "ON CONFLICT DO NOTHING"
    unique = ", ".join(columns[name] for name in on_conflict.unique)
    return f"ON CONFLICT ({unique}) DO UPDATE SET " + ", ".join(
        f"{columns[name]} = excluded.{columns[name]}" for name in on_conflict.updated
    )
