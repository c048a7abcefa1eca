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
    """Connect the default connection to a database without tables for the block: on SQLite, a file in the folder."""
    with ExitStack() as stack:
        test, empty = connection.settings_dict["NAME"], str(folder / "empty.sqlite3")
        if connection.vendor == "postgresql":
            empty = urlsplit(stack.enter_context(empty_database())).path.removeprefix("/")
        stack.callback(_lead_to, test)
        _lead_to(empty)
        yield


def _lead_to(name: Any) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


# Tables whose rows migrations create and no test changes.
_KEPT_TABLES = {"django_migrations", "django_content_type", "auth_permission"}
# Larger tables are truncated, because rows that DELETE removes keep their space for a while.
_TRUNCATE_BYTES = 1_000_000


def flush() -> None:
    """Empty the tables that have rows, except those of migrations.

    Django's own `flush` empties all of ninety tables, for which PostgreSQL makes three hundred files anew, and computes
    every permission again. Nine hundred tests have transactions of their own: that took two minutes.
    """
    tables = sorted(set(connection.introspection.django_table_names(include_views=False)) - _KEPT_TABLES)
    with connection.cursor() as cursor, connection.constraint_checks_disabled():
        if connection.vendor == "postgresql":
            _flush_postgresql(cursor, tables)
            return
        # A trigger may fill a table that was emptied before.
        while filled := _filled(cursor, tables):
            for name in filled:
                cursor.execute(f'DELETE FROM "{name}"')


def _flush_postgresql(cursor: Any, tables: list[str]) -> None:
    filled = _filled(cursor, tables)
    cursor.execute(
        "SELECT count(*) FROM pg_class WHERE relname = ANY(%s) AND pg_relation_size(oid) > %s",
        [filled, _TRUNCATE_BYTES],
    )
    (big,) = cursor.fetchone()
    if big:
        cursor.execute("TRUNCATE " + ", ".join(f'"{name}"' for name in tables))
        return
    with transaction.atomic():
        cursor.execute("SET LOCAL session_replication_role = replica")  # neither foreign keys nor triggers
        for name in filled:
            cursor.execute(f'DELETE FROM "{name}"')


def _filled(cursor: Any, tables: list[str]) -> list[str]:
    """Those of the tables that have rows."""
    rows = (f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM \"{name}\")" for name in tables)
    cursor.execute(" UNION ALL ".join(rows))
    return [name for (name,) in cursor.fetchall()]
