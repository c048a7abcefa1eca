"""Columns as the JSON of answers has them, made by the database: reads of many rows convert nothing in Python."""

import datetime as dt
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Func, TextField, UUIDField


class IdText(Func):
    """An id (UUID) column as text with hyphens."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """SQLite holds a UUID as 32 hexadecimal digits."""
        sql, params = compiler.compile(self.source_expressions[0])
        parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)]
        return "||'-'||".join(f"substr({sql},{start},{length})" for start, length in parts), params * len(parts)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="(%(expressions)s)::text", **context)


class IdKey(Func):
    """An id (UUID) column as its 32 digits, `UUID.hex`: cheaper than IdText, to look things up by."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return compiler.compile(self.source_expressions[0])

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="replace((%(expressions)s)::text, '-', '')", **context)


def id_text(key: str) -> str:
    """The id of an IdKey, with its hyphens. For SQLite this takes half of what IdText does."""
    return f"{key[:8]}-{key[8:12]}-{key[12:16]}-{key[16:20]}-{key[20:]}"


class TimeText(Func):
    """A timestamp column as kernel.api.json.timestamp writes it: UTC, whole milliseconds, cut off, `Z`."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """SQLite holds text in UTC, `2026-01-02 03:04:05.678901`, without a fraction where that is zero."""
        sql, params = compiler.compile(self.source_expressions[0])
        return f"substr({sql},1,10)||'T'||substr(substr({sql},12)||'.000',1,12)||'Z'", params * 2

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = """to_char((%(expressions)s) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
        return self.as_sql(compiler, connection, template=template, **context)


class DayText(Func):
    """A date, `YYYY-MM-DD`."""

    arity = 1
    output_field = TextField()
    template = "(%(expressions)s)||''"  # an expression: of a bare column the driver would make a date

    def as_postgresql(self, compiler: Any, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="(%(expressions)s)::text", **context)


class Raw(Func):
    """A column as the driver hands it over: JSON documents as text, never parsed; truths without a second look."""

    arity = 1
    output_field = TextField()
    template = "%(expressions)s"


class FreshId(Func):
    """A new id (UUIDv7 of the moment given) for each row: for INSERT ... SELECT."""

    output_field = UUIDField()
    arity = 0

    def __init__(self, moment: dt.datetime) -> None:
        super().__init__()
        self.milliseconds = f"{int(moment.timestamp() * 1000):012x}"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        random = "lower(hex(randomblob(8)))"
        return f"'{self.milliseconds}7'||substr({random},1,3)||'8'||substr({random},1,15)", ()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Of gen_random_uuid() only the digits that are random are taken."""
        random = "replace(gen_random_uuid()::text, '-', '')"
        return f"('{self.milliseconds}7'||substr({random},1,3)||'8'||substr({random},18,15))::uuid", ()
