"""Forks a second process that runs tests of the same session, on a database of its own (tests/run.py).

The fork comes after the collection, which takes five seconds of CPU time; the fork itself takes next to none.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest

from tests.reloaded_settings import reload_settings


@contextmanager
def second_process(session: pytest.Session) -> Iterator[None]:
    """Run the block in this process and in a fork of it.

    The second process writes its output to a file, which the first prints after the block. If a test of the second
    failed, the session of the first fails, too.
    """
    with tempfile.TemporaryFile() as output:
        # Unflushed output would be printed by both processes.
        sys.stdout.flush()
        sys.stderr.flush()
        if not (second := os.fork()):
            _set_up_second_process(session.config, output)
            yield
            return
        try:
            yield
        finally:
            _, status = os.waitpid(second, 0)
            output.seek(0)
            sys.stdout.write(f"\n{output.read().decode(errors='replace')}\n")
        session.testsfailed += bool(status)


def _set_up_second_process(config: pytest.Config, output: IO[bytes]) -> None:
    """Give the second process its own output, data folder and database."""
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture
    # The capture manager has saved the first process's stdout and would restore it: it must save the new one instead.
    capture.stop_global_capturing()
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    capture.start_global_capturing()
    capture.suspend_global_capture()
    # tests.settings derives the name of PostgreSQL's test database from it, and makes a new data folder.
    os.environ["TEST_PROCESS"] = "2"
    reload_settings("tests.settings")
