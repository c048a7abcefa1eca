"""Writes the rows of a backup into tables, as each database takes them fastest."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.color import no_style
from django.db import connection

from contacts_project.backup.container import DamagedError
from contacts_project.backup.reader import TableRows
from contacts_project.backup.tables import Table, data_models
from contacts_project.backup.values import to_database

_ROWS_AT_ONCE = 500


class Loader:
    """Fills the tables of this process's database. Inside a transaction, without triggers."""

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            self._tables = set(connection.introspection.table_names(cursor))
        self._named: dict[str, Callable[[str], int]] = {"content_type": _content_type, "permission": _permission}

    def load(self, part: TableRows) -> None:
        """Raises DamagedError for a table or column that this instance does not have."""
        self._check(part.table)
        named = [place for place, column in enumerate(part.table.columns) if column.form in self._named]
        rows = _converted(part, self._named)
        if connection.vendor == "postgresql" and not named:
            _copy(part.table, rows)
        else:
            _insert(part.table, rows)
        if connection.vendor == "postgresql":  # else the server keeps a note for each row until the end
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("SET CONSTRAINTS ALL DEFERRED")

    def _check(self, table: Table) -> None:
        known: set[str] = set()
        if table.name in self._tables:
            with connection.cursor() as cursor:
                cursor.execute(f'SELECT * FROM "{table.name}" LIMIT 0')  # noqa: S608 - a name that the database has
                known = {str(column[0]) for column in cursor.description}
        if not known.issuperset(column.name for column in table.columns):
            raise DamagedError(f"this instance has no such table as its {table.name}")


def reset_sequences() -> None:
    """Let new rows be numbered behind those that were loaded; SQLite does by itself."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), data_models()):
            cursor.execute(statement)


def _converted(part: TableRows, named: dict[str, Callable[[str], int]]) -> Iterator[list[Any]]:
    columns = part.table.columns
    converts = to_database(part.table, connection.vendor)
    converts += [(place, named[column.form]) for place, column in enumerate(columns) if column.form in named]
    for row in part.rows:
        try:
            for place, convert in converts:
                if row[place] is not None:
                    row[place] = convert(row[place])
        except (ValueError, TypeError, AttributeError):
            raise DamagedError(f"a value of {part.table.name} has another form than its column") from None
        yield row


def _copy(table: Table, rows: Iterator[list[Any]]) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {_target(table)} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _insert(table: Table, rows: Iterator[list[Any]]) -> None:
    marks = ", ".join(["%s"] * len(table.columns))
    statement = f"INSERT INTO {_target(table)} VALUES ({marks})"  # noqa: S608 - names that the database has
    with connection.cursor() as cursor:
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            cursor.executemany(statement, some)


def _target(table: Table) -> str:
    quote = connection.ops.quote_name
    return f"{quote(table.name)} ({', '.join(quote(column.name) for column in table.columns)})"


def _content_type(name: str) -> int:
    """The id that this instance has for `app.model`."""
    app, model = name.split(".")
    return int(ContentType.objects.get_or_create(app_label=app, model=model)[0].pk)


def _permission(name: str) -> int:
    app, model, codename = name.split(".")
    kind = _content_type(f"{app}.{model}")
    made = {"name": codename}
    return int(Permission.objects.get_or_create(content_type_id=kind, codename=codename, defaults=made)[0].pk)
