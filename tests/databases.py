"""Databases beside the test's own."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from django.db import connection


@contextmanager
def empty_database(name: str = "empty") -> Iterator[str]:
    """The URL of a database without tables on the PostgreSQL server of this run."""
    url, name = os.environ["TEST_DATABASE_URL"], f"{name}_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlsplit(url)._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def on_empty_database(folder: Path) -> Iterator[None]:
    """The block's default connection leads to a database without tables: on SQLite a file in the folder."""
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
