"""A second process for the tests of a database: a copy of the first, made when all tests are collected.

To collect them takes five seconds of a processor, a copy next to nothing.
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
    """The block runs in both. The second writes to a file, which the first shows behind the block; if a test of the
    second failed, so has the first.
    """
    with tempfile.TemporaryFile() as said:
        sys.stdout.flush()
        sys.stderr.flush()
        if not (second := os.fork()):
            _become_the_second(session.config, said)
            yield
            return
        try:
            yield
        finally:
            _, status = os.waitpid(second, 0)
            said.seek(0)
            sys.stdout.write(f"\n{said.read().decode(errors='replace')}\n")
        session.testsfailed += bool(status)


def _become_the_second(config: pytest.Config, said: IO[bytes]) -> None:
    """Give the second process its own output, data folder and database."""
    capture = config.pluginmanager.getplugin("capturemanager")
    assert capture
    capture.stop_global_capturing()  # it would lead the output back to where the first one's goes
    os.dup2(said.fileno(), 1)
    os.dup2(said.fileno(), 2)
    capture.start_global_capturing()
    capture.suspend_global_capture()
    os.environ["TEST_PROCESS"] = "2"
    reload_settings("tests.settings")
