"""The service as the programs of these tests find it: with the card of the measurements, a friend and a birthday."""

from collections.abc import Iterator

import pytest

from tests.contacts_project.server.server_thread import RunningServer, serve_whole_service
from tests.dav.programs.recorder import Recorder


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def server(transactional_db: None, recorder: Recorder) -> Iterator[RunningServer]:
    """The whole service, whose requests the recorder sees."""
    with serve_whole_service(wrap=recorder.wrap) as running:
        yield running
