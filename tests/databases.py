"""A migrated database, made once a run and copied by each process: the migrations take longer than most tests.

On a PostgreSQL server that outlives the run the template stays, and the next run makes it anew.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from django.db import connection
from django.db.backends.base.creation import TEST_DATABASE_PREFIX

_FOLDER = "TEST_TEMPLATES"  # an environment variable, which the processes of one run share
_SHARED = "TEST_TEMPLATES_SHARED"  # likewise: whoever started this run made the folder, and removes it
_TEMPLATE = f"{TEST_DATABASE_PREFIX}template"


@contextmanager
def shared_templates() -> Iterator[dict[str, str]]:
    """What several runs get into their environments, so that the later find what the earlier have migrated."""
    with tempfile.TemporaryDirectory(prefix="contacts-templates-") as folder:
        yield {_FOLDER: folder, _SHARED: "1"}


def begin_run() -> None:
    """Give the processes of this run a folder for the template; for the one that starts the others."""
    if _SHARED not in os.environ:
        os.environ[_FOLDER] = tempfile.mkdtemp(prefix="contacts-templates-")


def end_run() -> None:
    if _SHARED not in os.environ:
        shutil.rmtree(os.environ.pop(_FOLDER), ignore_errors=True)


def migrated_file() -> Path:
    """A migrated SQLite database, to start an instance on; there once `copy_template` or `keep_template` was called."""
    return _folder() / "template.sqlite3"


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Hold off the other processes of the run."""
    with (_folder() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def copy_template() -> bool:
    """Make the test database out of the template; False where there is none yet."""
    if not (_folder() / f"made-{connection.vendor}").exists():
        return False
    creation: Any = connection.creation
    name = creation._get_test_db_name()
    if connection.vendor == "sqlite":
        shutil.copy(migrated_file(), name)
    else:
        _create_database(name, template=_TEMPLATE)
    return True


def keep_template() -> None:
    """Make the template out of the test database, which was just migrated."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        shutil.copy(name, migrated_file())
    else:
        connection.close()
        _create_database(_TEMPLATE, template=name)
    (_folder() / f"made-{connection.vendor}").touch()


def _folder() -> Path:
    return Path(os.environ[_FOLDER])


def _create_database(name: str, *, template: str) -> None:
    creation: Any = connection.creation
    with creation._nodb_cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}"')
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')


def empty_database() -> AbstractContextManager[str]:
    """The URL of a database without tables on the PostgreSQL server of this run."""
    return _another_database("empty", template="template1")


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


def migrated_database(name: str) -> AbstractContextManager[str]:
    """The URL of a database like that of a test, on the same server; for tests that have asked for django_db_setup."""
    return _another_database(name, template=_TEMPLATE)


@contextmanager
def _another_database(name: str, *, template: str) -> Iterator[str]:
    url, name = os.environ["TEST_DATABASE_URL"], f"{name}_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        try:
            yield urlsplit(url)._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
