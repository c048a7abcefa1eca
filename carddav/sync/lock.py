"""The lock of a connection: one at a time works with its server."""

import datetime as dt
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import DatabaseError
from django.db import connection as database
from django.utils import timezone

from carddav.models import Connection
from contacts_project.kernel.database.compiled_queries import CompiledQuery

log = logging.getLogger(__name__)

LEASE = dt.timedelta(seconds=120)
HEARTBEAT_SECONDS = 30.0
#: Nothing of a run takes longer than this: it is ten minutes for a request, four tries, and four more after a 412.
_LONGEST_STEP_SECONDS = 2 * 3600.0
# SQLite took the write lock with BEGIN IMMEDIATE and leaves FOR UPDATE out.
_HELD = CompiledQuery(
    lambda owner_id, connection_id, claim: (
        Connection.objects.owned_by(owner_id)
        .filter(pk=connection_id, claim=claim)
        .select_for_update(no_key=True)
        .values_list("pk")
    )
)


class LockLostError(Exception):
    """Another process took the connection over: nothing more may be written."""


class LockedError(Exception):
    """Somebody else works with this connection's server."""


class Lock:
    """Held by its claim, which is the fencing token: each transaction checks it.

    A thread of its own renews the lease while the holder waits for the server, however long one answer takes; but not
    for one that has not moved for hours.
    """

    def __init__(self, connection: Connection, claim: UUID) -> None:
        self.connection, self.claim = connection, claim
        self._released = threading.Event()
        self._moved_at = time.monotonic()

    def note_progress(self) -> None:
        """The holder is at work."""
        self._moved_at = time.monotonic()

    def check(self) -> None:
        """Inside a transaction: locks the row until its end. Raises LockLostError."""
        self.note_progress()
        if not _HELD.rows(owner_id=self.connection.owner_id, connection_id=self.connection.pk, claim=self.claim):
            raise LockLostError

    @contextmanager
    def heartbeat(self) -> Iterator[threading.Thread]:
        """Keep the lease until the end of the block."""
        thread = threading.Thread(target=self._beat, name="carddav-heartbeat", daemon=True)
        thread.start()
        try:
            yield thread
        finally:
            self._released.set()
            thread.join()

    def _beat(self) -> None:
        while not self._released.wait(HEARTBEAT_SECONDS):
            if time.monotonic() - self._moved_at > _LONGEST_STEP_SECONDS:
                return
            try:
                if not self._renew():
                    return  # taken over: the next transaction finds out
            except DatabaseError:
                log.warning("the lock could not be renewed; another try follows", exc_info=True)
            finally:
                database.close()

    def _renew(self) -> bool:
        rows = Connection.objects.owned_by(self.connection.owner_id).filter(pk=self.connection.pk)
        return rows.held_by(self.claim).renew(LEASE, clock=timezone.now())


@contextmanager
def locked(connection: Connection) -> Iterator[Lock]:
    """Hold the connection. Raises LockedError."""
    rows = Connection.objects.owned_by(connection.owner_id).filter(pk=connection.pk)
    claim = rows.acquire(LEASE, clock=timezone.now())
    if claim is None:
        raise LockedError
    lock = Lock(connection, claim)
    try:
        with lock.heartbeat():
            yield lock
    finally:
        rows.held_by(claim).release()
