"""The check after each test that no transaction is open on SQLite (tests/open_transactions.py)."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from accounts.models import User
from notifications.models.deliveries import record_heartbeat
from tests.builders import make_user
from tests.open_transactions import end_open_transaction

pytestmark = [
    pytest.mark.one_database,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL locks rows"),
]


@pytest.fixture
def thread() -> Iterator[Any]:
    """Yield a function that runs another in a thread, which then stays alive until the end of the test."""
    end = threading.Event()
    threads: list[threading.Thread] = []

    def run(call: Any) -> threading.Thread:
        is_called = threading.Event()

        def hold_thread() -> None:
            call()
            is_called.set()
            end.wait(60)

        threads.append(threading.Thread(target=hold_thread, name="forgotten"))
        threads[-1].start()
        assert is_called.wait(60)
        return threads[-1]

    yield run
    end.set()
    for started in threads:
        started.join()


def test_transaction_of_a_living_thread_is_named_and_ended(thread: Any) -> None:
    def begin() -> None:
        transaction.atomic().__enter__()
        record_heartbeat("one", timezone.now())

    left = thread(begin)
    found = end_open_transaction(grace_seconds=0)
    assert "forgotten" in found
    assert f"The connection of thread {left.ident} has an open transaction" in found
    assert end_open_transaction(grace_seconds=0) == ""
    make_user("alice@example.org")  # also the writers' queue of this process is free


def test_transaction_of_a_closed_connection_ends_with_its_cursor() -> None:
    make_user("alice@example.org")

    def begin() -> None:
        transaction.atomic().__enter__()
        cursor = connection.cursor()
        cursor.execute("UPDATE accounts_user SET name = 'B' RETURNING id")
        garbage: list[Any] = [cursor]
        garbage.append(garbage)  # only a collection finds it
        connections.close_all()

    ended = threading.Thread(target=begin)
    ended.start()
    ended.join()
    found = end_open_transaction(grace_seconds=0)
    assert "After a garbage collection it is free." in found
    assert not User.objects.filter(name="B").exists()


def test_lock_of_another_program_is_reported() -> None:
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert "it is held, so not by these" in end_open_transaction(grace_seconds=0)
    assert end_open_transaction() == ""
