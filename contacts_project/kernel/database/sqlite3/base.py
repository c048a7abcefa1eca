"""Django's SQLite backend, whose writers wait in a queue: each transaction, and each single statement that writes.

A connection that is still reading rows sees the database as it was when it began to. SQLite refuses to let it write as
soon as anybody else has written since then: with "database is locked", at once, however long it might have waited. So
what is left of the rows of `.iterator()` is read before the connection begins to write.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from django.db.backends.sqlite3 import base

from contacts_project.kernel.database.sqlite3 import WriteQueue, queue_of

# The first six letters of a statement.
_WRITES = {"INSERT", "UPDATE", "DELETE", "REPLAC", "CREATE", "ANALYZ"}
# In place of the name that other databases' cursors have, if their rows are fetched in pieces.
_CHUNKED = "chunked"


class QueuedCursor(base.SQLiteCursorWrapper):
    """A cursor that queues before a statement that writes outside of a transaction, which is one by itself."""

    database: "DatabaseWrapper"

    def execute(self, query: str, params: Any = None) -> Any:
        if self.database.in_atomic_block:
            return super().execute(query, params)
        with self.database.queued_statement(query):
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        with self.database.queued_statement(query):
            return super().executemany(query, param_list)


class ChunkedCursor(QueuedCursor):
    """A cursor whose rows are fetched in pieces. Those that are left can be read into memory."""

    _rest: deque[Any] | None = None

    def read_ahead(self) -> None:
        """Read the rest of the rows: after this the statement holds nothing."""
        if self._rest is None:
            self._rest = deque(self.fetchall())

    def fetchmany(self, size: int | None = 1) -> list[Any]:
        if self._rest is None:
            return super().fetchmany(size)
        return [self._rest.popleft() for _ in range(min(size or 1, len(self._rest)))]

    def close(self) -> None:
        self.database.chunked_cursors.discard(self)
        super().close()


# The stubs do not know the methods of transactions, which Django calls on every backend.
_Wrapper: Any = base.DatabaseWrapper


class DatabaseWrapper(_Wrapper):  # type: ignore[misc]
    """A connection that is the one writer of its process from the beginning of a transaction to its end."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.max_wait_seconds: float = self.settings_dict["OPTIONS"].get("timeout", 5.0)
        """How long it waits in the queue. `limit_lock_wait` lowers it."""
        self._held: WriteQueue | None = None
        self.chunked_cursors: WeakSet[ChunkedCursor] = WeakSet()
        """Those that may have rows left."""

    @contextmanager
    def queued_statement(self, query: str) -> Iterator[None]:
        """Queue if the statement writes, and is not part of a transaction."""
        if self.in_atomic_block or query.lstrip()[:6].upper() not in _WRITES or self.is_in_memory_db():
            yield
            return
        self._read_ahead()
        queue = queue_of(str(self.settings_dict["NAME"]))
        queue.acquire(self.max_wait_seconds)
        try:
            yield
        finally:
            queue.pass_turn()
            queue.release()

    def chunked_cursor(self) -> Any:
        return self._cursor(_CHUNKED)

    def create_cursor(self, name: Any = None) -> Any:
        is_chunked = name == _CHUNKED
        # In a transaction, too: a cursor may be used beyond its end.
        cursor = self.connection.cursor(factory=ChunkedCursor if is_chunked else QueuedCursor)
        cursor.database = self
        if is_chunked:
            self.chunked_cursors.add(cursor)
        return cursor

    def _read_ahead(self) -> None:
        for cursor in list(self.chunked_cursors):
            # First: an error is that of its reader, and must not fail each later write.
            self.chunked_cursors.discard(cursor)
            cursor.read_ahead()

    def _start_transaction_under_autocommit(self) -> None:
        if self.transaction_mode != "IMMEDIATE" or self.is_in_memory_db():
            super()._start_transaction_under_autocommit()
            return
        self._read_ahead()
        queue = queue_of(str(self.settings_dict["NAME"]))
        queue.acquire(self.max_wait_seconds)
        try:
            super()._start_transaction_under_autocommit()
        except BaseException:
            queue.release()
            raise
        finally:
            queue.pass_turn()
        self._held = queue

    def _commit(self) -> None:
        super()._commit()
        self._leave_queue()  # not after an error: Django then rolls back

    def _rollback(self) -> None:
        try:
            super()._rollback()
        finally:
            self._leave_queue()

    def _close(self) -> None:
        self.chunked_cursors.clear()
        try:
            super()._close()
        finally:
            self._leave_queue()

    def _leave_queue(self) -> None:
        if self._held is not None:
            held, self._held = self._held, None
            held.release()
