"""The leak detector of tests/leaks.py finds what it searches for in log lines, mails and responses."""

import logging
from collections.abc import Iterator
from uuid import uuid4

import pytest

from accounts.models import User
from tests.builders import PASSWORD, make_person
from tests.leaks import leak_detector


@pytest.fixture(autouse=True)
def _expect_leak() -> Iterator[None]:
    """Assert that the test has leaked something, and clear it, so that `_fail_on_leaks` does not fail the test."""
    yield
    assert leak_detector.leaks, "nothing was found"
    leak_detector.clear()


@pytest.mark.parametrize("text", ["to Lovelace", "ada@example.net", PASSWORD, "http://x.example/path"])
def test_leaks_in_log_lines_are_found(alice: User, text: str) -> None:
    make_person(alice, name="Ada", surname="Lovelace")
    logging.getLogger("planted").info("sent %s", text)


def test_leaks_in_mails_are_found(alice: User) -> None:
    leak_detector.scan_mail(b"Your password: " + PASSWORD.encode())


def test_leaks_in_responses_are_found(alice: User) -> None:
    make_person(alice, name="Ada", surname="Lovelace")
    leak_detector.scan_response(uuid4(), "/api/people", b'{"people": [{"surname": "Lovelace"}]}')
