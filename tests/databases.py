"""A migrated database, made once a run and copied by each process: the migrations take longer than most tests.

On a PostgreSQL server that outlives the run the template stays, and the next run makes it anew.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from django.db import connection
from django.db.backends.base.creation import TEST_DATABASE_PREFIX

_FOLDER = "TEST_TEMPLATES"  # an environment variable, which the processes of one run share
_TEMPLATE = f"{TEST_DATABASE_PREFIX}template"


def begin_run() -> None:
    """Give the processes of this run a folder for the template; for the one that starts the others."""
    os.environ[_FOLDER] = tempfile.mkdtemp(prefix="contacts-templates-")


def end_run() -> None:
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


@contextmanager
def empty_database() -> Iterator[str]:
    """The URL of a database without tables on the PostgreSQL server of this run."""
    url, name = os.environ["TEST_DATABASE_URL"], f"empty_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlsplit(url)._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
