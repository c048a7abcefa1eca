"""Forks further processes that run tests of the same session, each on a database of its own (tests/run.py).

The fork comes after the collection and after loading what every process needs, so that is done once. The fork itself
takes next to no time.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO

import pytest
from django.db.migrations.loader import MigrationLoader
from django.urls import get_resolver
from hypothesis.internal.conjecture import providers

from tests.reloaded_settings import reload_settings
from tests.routes.openapi import operations


@contextmanager
def forked_processes(session: pytest.Session, processes: int) -> Iterator[None]:
    """Run the block in this process and in forks of it, in `processes` processes together.

    The forks write their output to files, which this process prints after the block. If a test of a fork failed, this
    session fails, too.

    Raises RuntimeError if a fork ended otherwise than by its last test.
    """
    _load_for_all()
    forks: list[tuple[int, int, IO[bytes]]] = []
    with ExitStack() as stack:
        for number in range(2, processes + 1):
            output: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            # Unflushed output would be printed by both processes.
            sys.stdout.flush()
            sys.stderr.flush()
            if not (pid := os.fork()):
                _set_up_fork(session.config, number, output)
                yield
                return
            forks.append((number, pid, output))
        try:
            yield
        finally:
            incomplete = []
            for number, pid, output in forks:
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                output.seek(0)
                sys.stdout.write(f"\n{output.read().decode(errors='replace')}\n")
                session.testsfailed += code == pytest.ExitCode.TESTS_FAILED
                if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
                    incomplete.append(f"process {number} of the tests ended with {code}")
            if incomplete:
                raise RuntimeError("; ".join(incomplete))


def _load_for_all() -> None:
    """Load what each process would otherwise load by itself: routes, migrations, the API description, and the constants
    of the service's source, which Hypothesis tries as values (it reads 800 modules for that, 6 s).
    """
    assert get_resolver().url_patterns
    MigrationLoader(None)
    operations()
    providers._get_local_constants()


def _set_up_fork(config: pytest.Config, number: int, output: IO[bytes]) -> None:
    """Give the fork its own output, data folder and database."""
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture
    # The capture manager has saved the first process's stdout and would restore it: it must save the new one instead.
    capture.stop_global_capturing()
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    capture.start_global_capturing()
    capture.suspend_global_capture()
    # tests.settings derives the name of PostgreSQL's test database from it, and makes a new data folder.
    os.environ["TEST_PROCESS"] = str(number)
    reload_settings("tests.settings")
