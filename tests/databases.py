"""Databases other than that of the test, and the flush after transactional tests."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from django.db import connection, transaction


@contextmanager
def empty_database(name: str = "empty", options: str = "") -> Iterator[str]:
    """Create a database without tables on the PostgreSQL server of this run, with `options`; yields its URL."""
    url, name = os.environ["TEST_DATABASE_URL"], f"{name}_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}" {options}')
        try:
            yield urlsplit(url)._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def on_empty_database(folder: Path) -> Iterator[None]:
    """Connect the default connection to a database without tables for the block; on SQLite it is a file in `folder`."""
    with ExitStack() as stack:
        test, empty = connection.settings_dict["NAME"], str(folder / "empty.sqlite3")
        if connection.vendor == "postgresql":
            empty = urlsplit(stack.enter_context(empty_database())).path.removeprefix("/")
        stack.callback(_connect_to, test)
        _connect_to(empty)
        yield


def _connect_to(name: Any) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


# Migrations fill these tables, and no test changes them.
_KEPT_TABLES = {"django_migrations", "django_content_type", "auth_permission"}
# Larger tables are truncated: rows that DELETE removes occupy their space until a vacuum.
_TRUNCATE_BYTES = 1_000_000


def flush() -> None:
    """Delete the rows of all tables, except those that migrations have filled.

    Replaces Django's `flush` after the nine hundred transactional tests, where it took two minutes: it truncates all of
    ninety tables, for which PostgreSQL creates three hundred files, and creates every permission again.
    """
    tables = sorted(set(connection.introspection.django_table_names(include_views=False)) - _KEPT_TABLES)
    with connection.cursor() as cursor, connection.constraint_checks_disabled():
        if connection.vendor == "postgresql":
            _flush_postgresql(cursor, tables)
            return
        # Repeated, because the triggers of a DELETE may insert into a table that was emptied before.
        while nonempty := _nonempty(cursor, tables):
            for name in nonempty:
                cursor.execute(f'DELETE FROM "{name}"')


def _flush_postgresql(cursor: Any, tables: list[str]) -> None:
    nonempty = _nonempty(cursor, tables)
    cursor.execute(
        "SELECT count(*) FROM pg_class WHERE relname = ANY(%s) AND pg_relation_size(oid) > %s",
        [nonempty, _TRUNCATE_BYTES],
    )
    (large_tables,) = cursor.fetchone()
    if large_tables:
        cursor.execute("TRUNCATE " + ", ".join(f'"{name}"' for name in tables))
        return
    with transaction.atomic():
        cursor.execute("SET LOCAL session_replication_role = replica")  # disables foreign keys and triggers
        for name in nonempty:
            cursor.execute(f'DELETE FROM "{name}"')


def _nonempty(cursor: Any, tables: list[str]) -> list[str]:
    """Which of the tables have rows."""
    rows = (f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM \"{name}\")" for name in tables)
    cursor.execute(" UNION ALL ".join(rows))
    return [name for (name,) in cursor.fetchall()]
