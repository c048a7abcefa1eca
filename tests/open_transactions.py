"""Finds the test that leaves a transaction open on SQLite. It would lock the database for all tests that follow.

After each test that uses the database, another connection must get the write lock. If it does not, that test fails with
what its process then has open, and the transaction is ended, so that no other test fails for it.
"""

import gc
import sqlite3
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

# For a process of the test that is just ending. On two busy cores none was seen to need even 0.3 s.
_GRACE_SECONDS = 10.0

_opened: "WeakSet[BaseDatabaseWrapper]" = WeakSet()


def record_connections() -> None:
    """Note each database connection that a thread of this process opens, from now on."""
    connection_created.connect(_record, dispatch_uid="open_transactions")


def _record(connection: BaseDatabaseWrapper, **kwargs: object) -> None:
    _opened.add(connection)


def end_open_transaction(grace_seconds: float = _GRACE_SECONDS) -> str:
    """End the transaction that holds SQLite's write lock. Returns what is known of it, or an empty text."""
    file = str(connection.settings_dict["NAME"])
    if connection.vendor != "sqlite" or not Path(file).exists() or _can_write(file, grace_seconds):
        return ""
    found = ["SQLite's write lock is still held after the test.", *_stacks_of_threads()]
    wrapper: Any
    for wrapper in list(_opened):
        if _is_in_transaction(wrapper.connection):
            found.append(f"The connection of thread {wrapper._thread_ident} has an open transaction, and was closed.")
            _close(wrapper)
    if not _can_write(file):
        # SQLite keeps a closed connection with its transaction as long as one of its cursors is alive.
        gc.collect()
        found.append("After a garbage collection it is " + ("free." if _can_write(file) else "held, so not by these."))
    return "\n".join(found)


def _is_in_transaction(raw: Any) -> bool:
    # A closed one has no such attribute, whatever SQLite still holds for it.
    with suppress(sqlite3.ProgrammingError):
        return raw is not None and bool(raw.in_transaction)
    return False


def _close(wrapper: Any) -> None:
    wrapper.inc_thread_sharing()
    wrapper.close()
    # If it is in use again, then as a new connection.
    wrapper.connection, wrapper.in_atomic_block = None, False


def _can_write(file: str, seconds: float = 0.0) -> bool:
    with closing(sqlite3.connect(file, timeout=seconds, isolation_level=None)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        other.execute("ROLLBACK")
        return True


def _stacks_of_threads() -> Iterator[str]:
    frames = sys._current_frames()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.ident in frames:
            yield f"{thread.name} ({thread.ident}):\n{''.join(traceback.format_stack(frames[thread.ident])[-12:])}"
