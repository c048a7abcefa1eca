"""The database at one moment, while others go on writing."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from contacts_project.backup.tables import Column, Table
from contacts_project.backup.values import from_database, to_line

_ROWS_AT_ONCE = 1000
_NAMED = {
    "content_type": "(SELECT n.app_label || '.' || n.model FROM django_content_type n WHERE n.id = t.{column})",
    "permission": (
        "(SELECT n.app_label || '.' || n.model || '.' || p.codename FROM auth_permission p "
        "JOIN django_content_type n ON n.id = p.content_type_id WHERE p.id = t.{column})"
    ),
}


class Snapshot:
    """Reads what was committed when it was opened."""

    def __init__(self, database: BaseDatabaseWrapper) -> None:
        self._database = database

    def lines(self, table: Table) -> Iterator[bytes]:
        """Each row as a line of JSON, in no order."""
        converts = from_database(table, self._database.vendor)
        columns = ", ".join(self._expression(column) for column in table.columns)
        for row in self._rows(f'SELECT {columns} FROM "{table.name}" t'):  # noqa: S608 - names of our own tables
            yield to_line(row, converts)

    def texts(self, table: str, column: str) -> Iterator[str]:
        """The values of a text column that are neither null nor empty."""
        query = f'SELECT t."{column}" FROM "{table}" t WHERE t."{column}" <> \'\''  # noqa: S608 - as above
        return (text for (text,) in self._rows(query))

    def _expression(self, column: Column) -> str:
        quoted = self._database.ops.quote_name(column.name)
        return _NAMED[column.form].format(column=quoted) if column.form in _NAMED else f"t.{quoted}"

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Row by row: PostgreSQL keeps the result and hands out a thousand at a time."""
        wrapped: Any = self._database
        is_server_side = self._database.vendor == "postgresql"
        cursor = wrapped.create_cursor(name="backup") if is_server_side else wrapped.create_cursor()
        try:
            cursor.execute(query)
            while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                yield from rows
        finally:
            cursor.close()


@contextmanager
def open_snapshot() -> Iterator[Snapshot]:
    """A read transaction on a connection of its own, which holds up no writer."""
    database = connection.copy()
    postgresql = database.vendor == "postgresql"
    try:
        with database.cursor() as cursor:
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if postgresql else "BEGIN DEFERRED")
            cursor.execute("SELECT count(*) FROM django_migrations")  # the moment is that of the first read
            cursor.fetchall()
        yield Snapshot(database)
    finally:
        if database.connection is not None:
            with database.cursor() as cursor:
                cursor.execute("ROLLBACK")
        database.close()


def in_blocks(lines: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Lines put together, and long ones cut, to blocks of `size` bytes; the last may be shorter."""
    block = bytearray()
    for line in lines:
        block += line
        while len(block) >= size:
            yield bytes(block[:size])
            del block[:size]
    if block:
        yield bytes(block)
