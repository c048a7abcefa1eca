"""Reads a consistent snapshot of the database while other connections go on writing."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from contacts_project.backup.tables import Column, Table
from contacts_project.backup.values import export_converters, serialize_row

_FETCH_SIZE = 1000
# SQL for columns whose ids differ between instances: the name instead of the id.
_NAME_EXPRESSIONS = {
    "content_type": "(SELECT n.app_label || '.' || n.model FROM django_content_type n WHERE n.id = t.{column})",
    "permission": (
        "(SELECT n.app_label || '.' || n.model || '.' || p.codename FROM auth_permission p "
        "JOIN django_content_type n ON n.id = p.content_type_id WHERE p.id = t.{column})"
    ),
}


class Snapshot:
    """Reads what was committed when the snapshot was opened."""

    def __init__(self, database: BaseDatabaseWrapper) -> None:
        self._database = database

    def lines(self, table: Table) -> Iterator[bytes]:
        """Return each row as a line of JSON, in any order."""
        converters = export_converters(table, self._database.vendor)
        columns = ", ".join(self._select_expression(column) for column in table.columns)
        for row in self._rows(f'SELECT {columns} FROM "{table.name}" t'):  # noqa: S608 - names of our own tables
            yield serialize_row(row, converters)

    def text_values(self, table: str, column: str) -> Iterator[str]:
        """Return the values of a text column that are neither null nor empty."""
        query = f'SELECT t."{column}" FROM "{table}" t WHERE t."{column}" <> \'\''  # noqa: S608 - as above
        return (text for (text,) in self._rows(query))

    def _select_expression(self, column: Column) -> str:
        quoted = self._database.ops.quote_name(column.name)
        return _NAME_EXPRESSIONS.get(column.encoding, "t.{column}").format(column=quoted)

    def _rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a result of any size in constant memory."""
        wrapped: Any = self._database
        # A named cursor is a server-side one: by default psycopg would load the whole result. SQLite computes each row
        # when it is fetched.
        is_server_side = self._database.vendor == "postgresql"
        cursor = wrapped.create_cursor(name="backup") if is_server_side else wrapped.create_cursor()
        try:
            cursor.execute(query)
            while rows := cursor.fetchmany(_FETCH_SIZE):
                yield from rows
        finally:
            cursor.close()


@contextmanager
def open_snapshot() -> Iterator[Snapshot]:
    """Open a read transaction on a separate connection. It does not block writers."""
    database = connection.copy()
    is_postgresql = database.vendor == "postgresql"
    try:
        with database.cursor() as cursor:
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if is_postgresql else "BEGIN DEFERRED")
            # BEGIN alone takes no snapshot, on neither database: the first read does.
            cursor.execute("SELECT count(*) FROM django_migrations")
            cursor.fetchall()
        yield Snapshot(database)
    finally:
        if database.connection is not None:
            with database.cursor() as cursor:
                cursor.execute("ROLLBACK")
        database.close()


def split_into_blocks(lines: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Join lines, and cut long ones, into blocks of `size` bytes; the last block may be shorter."""
    block = bytearray()
    for line in lines:
        block += line
        while len(block) >= size:
            yield bytes(block[:size])
            del block[:size]
    if block:
        yield bytes(block)
