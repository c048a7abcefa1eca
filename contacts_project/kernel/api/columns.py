"""Columns as the JSON of answers has them, made by the database: reads of many rows convert nothing in Python."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Func, TextField


class TimestampText(Func):
    """A timestamp column as kernel.api.json.format_timestamp writes it: UTC, whole milliseconds, cut off, `Z`."""

    output_field = CharField()
    arity = 1

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """SQLite holds text in UTC, `2026-01-02 03:04:05.678901`, without a fraction where that is zero."""
        sql, params = compiler.compile(self.source_expressions[0])
        return f"substr(replace({sql},' ','T')||'.000',1,23)||'Z'", params

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = """to_char((%(expressions)s) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
        return self.as_sql(compiler, connection, template=template, **context)


class DateText(Func):
    """A date, `YYYY-MM-DD`."""

    arity = 1
    output_field = TextField()
    template = "(%(expressions)s)||''"  # an expression: of a bare column the driver would make a date

    def as_postgresql(self, compiler: Any, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="(%(expressions)s)::text", **context)


class RawColumn(Func):
    """A column as the driver hands it over: JSON documents as text, never parsed; truths without a second look."""

    arity = 1
    output_field = TextField()
    template = "%(expressions)s"


class JsonText(Func):
    """A JSON document as text, also where rows of several tables come as one."""

    arity = 1
    output_field = TextField()
    template = "%(expressions)s"

    def as_postgresql(self, compiler: Any, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="(%(expressions)s)::text", **context)
