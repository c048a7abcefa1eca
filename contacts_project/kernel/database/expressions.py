"""Database expressions for columns of JSON and for ids.

They let the database format columns for JSON, so that reads of many rows convert nothing in Python.
"""

import datetime as dt
from typing import TypeAlias

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Func, TextField, UUIDField, Value
from django.db.models.sql.compiler import SQLCompiler

Sql: TypeAlias = tuple[str, list[str | int] | tuple[str | int, ...]]
"""What an expression compiles to: its SQL and the parameters."""


class TimestampText(Func):
    """A timestamp column in the format of kernel.json.format_timestamp: UTC with `Z`, truncated to milliseconds."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: object) -> Sql:
        # SQLite stores text in UTC, `2026-01-02 03:04:05.678901`, without the fraction if that is zero.
        sql, params = compiler.compile(self.source_expressions[0])
        return f"substr(replace({sql},' ','T')||'.000',1,23)||'Z'", params

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Sql:
        template = """to_char((%(expressions)s) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
        return self.as_sql(compiler, connection, template=template)


class DateText(Func):
    """A date column as text, `YYYY-MM-DD`."""

    arity = 1
    output_field = TextField()
    template = "(%(expressions)s)||''"  # an expression, since the driver converts a plain column to a date

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Sql:
        return self.as_sql(compiler, connection, template="(%(expressions)s)::text")


class RawColumn(Func):
    """A column without Django's conversion: JSON documents stay text, booleans what the driver returns."""

    arity = 1
    output_field = TextField()
    template = "%(expressions)s"


class JsonText(Func):
    """A JSON document as text, also in a UNION of several tables."""

    arity = 1
    output_field = TextField()
    template = "%(expressions)s"

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Sql:
        return self.as_sql(compiler, connection, template="(%(expressions)s)::text")


def text_value(value: str) -> Value:
    """A constant as a text column."""
    return Value(value, output_field=TextField())


class IdHex(Func):
    """An id (UUID) column as 32 hexadecimal digits, `UUID.hex`: a dictionary key that needs no conversion in Python."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: object) -> Sql:
        # SQLite has no type for UUIDs: Django stores the 32 digits.
        return compiler.compile(self.source_expressions[0])

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Sql:
        return self.as_sql(compiler, connection, template="replace((%(expressions)s)::text, '-', '')")


class FreshId(Func):
    """A new id for each row of an INSERT ... SELECT: a UUIDv7 with the time `created_at`."""

    output_field = UUIDField()
    arity = 0

    def __init__(self, created_at: dt.datetime) -> None:
        super().__init__()
        self.milliseconds = f"{int(created_at.timestamp() * 1000):012x}"

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: object) -> Sql:
        # The version (7) is the 13th digit, the variant (8) the 17th.
        random = "lower(hex(randomblob(8)))"
        return f"'{self.milliseconds}7'||substr({random},1,3)||'8'||substr({random},1,15)", ()

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Sql:
        # gen_random_uuid() returns a UUIDv4: its own version and variant, digits 13 and 17, are not random.
        random = "replace(gen_random_uuid()::text, '-', '')"
        return f"('{self.milliseconds}7'||substr({random},1,3)||'8'||substr({random},18,15))::uuid", ()
