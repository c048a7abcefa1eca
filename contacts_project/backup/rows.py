"""The rows of a backup: read from a consistent snapshot of one database, and loaded into the tables of another."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from contacts_project.backup.container import DamagedError
from contacts_project.backup.reader import TableRows
from contacts_project.backup.tables import (
    BackupTable,
    Column,
    data_models,
    export_converters,
    import_converters,
    serialize_row,
)

_FETCH_SIZE, _INSERT_SIZE = 1000, 500
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

    def lines(self, table: BackupTable) -> Iterator[bytes]:
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


class RowLoader:
    """Loads tables, in the way that is fastest for each database. Must be used in a transaction, without triggers."""

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            self._tables = set(connection.introspection.table_names(cursor))
        self._id_lookups: dict[str, Callable[[str], int]] = {
            "content_type": _content_type_id,
            "permission": _permission_id,
        }

    def load(self, part: TableRows) -> None:
        """Raises DamagedError for a table or column that this instance does not have."""
        self._check_columns(part.table)
        needs_lookup = any(column.encoding in self._id_lookups for column in part.table.columns)
        rows = _convert_rows(part, self._id_lookups)
        # While a COPY runs, the connection cannot look up ids.
        if connection.vendor == "postgresql" and not needs_lookup:
            with (
                connection.cursor() as cursor,
                cursor.copy(f"COPY {_table_and_columns(part.table)} FROM STDIN") as copy,
            ):
                for row in rows:
                    copy.write_row(row)
        else:
            _insert(part.table, rows)
        if connection.vendor == "postgresql":
            # Checks the foreign keys of this table now. Otherwise the server keeps an entry for every row in memory
            # until the end of the transaction.
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("SET CONSTRAINTS ALL DEFERRED")

    def _check_columns(self, table: BackupTable) -> None:
        known: set[str] = set()
        if table.name in self._tables:
            with connection.cursor() as cursor:
                cursor.execute(f'SELECT * FROM "{table.name}" LIMIT 0')  # noqa: S608 - a name that the database has
                known = {str(column[0]) for column in cursor.description}
        if not known.issuperset(column.name for column in table.columns):
            raise DamagedError(f"this instance has no such table as its {table.name}")


def reset_sequences() -> None:
    """Make PostgreSQL number new rows after those that were loaded. SQLite does so by itself."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(data_models())):
            cursor.execute(statement)


def _convert_rows(part: TableRows, id_lookups: dict[str, Callable[[str], int]]) -> Iterator[list[Any]]:
    encodings = [(index, column.encoding) for index, column in enumerate(part.table.columns)]
    converters = import_converters(part.table, connection.vendor)
    converters += [(index, id_lookups[encoding]) for index, encoding in encodings if encoding in id_lookups]
    for row in part.rows:
        try:
            for index, convert in converters:
                if row[index] is not None:
                    row[index] = convert(row[index])
        except (ValueError, TypeError, AttributeError):
            raise DamagedError(f"a value of {part.table.name} has another form than its column") from None
        yield row


def _insert(table: BackupTable, rows: Iterator[list[Any]]) -> None:
    placeholders = ", ".join(["%s"] * len(table.columns))
    statement = f"INSERT INTO {_table_and_columns(table)} VALUES ({placeholders})"  # noqa: S608 - names that the database has
    with connection.cursor() as cursor:
        while batch := list(islice(rows, _INSERT_SIZE)):
            cursor.executemany(statement, batch)


def _table_and_columns(table: BackupTable) -> str:
    quote = connection.ops.quote_name
    return f"{quote(table.name)} ({', '.join(quote(column.name) for column in table.columns)})"


def _content_type_id(name: str) -> int:
    """Return the id that `app.model` has in this instance."""
    app, model = name.split(".")
    return int(ContentType.objects.get_or_create(app_label=app, model=model)[0].pk)


def _permission_id(name: str) -> int:
    app, model, codename = name.split(".")
    permission, _ = Permission.objects.get_or_create(
        content_type_id=_content_type_id(f"{app}.{model}"), codename=codename, defaults={"name": codename}
    )
    return int(permission.pk)
