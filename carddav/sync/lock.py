"""The lock of a connection: only one process at a time works with its server."""

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

log = logging.getLogger(__name__)

LEASE = dt.timedelta(seconds=120)
HEARTBEAT_SECONDS = 30.0
#: No step of a run takes longer: a request lasts at most ten minutes, and it is tried four times with each of at most
#: three forms of the ETag.
_MAX_STEP_SECONDS = 2 * 3600.0


class LockLostError(Exception):
    """Another process has taken the lock: nothing more may be written."""


class LockedError(Exception):
    """Another process works with this connection's server."""


class Lock:
    """A lease on the connection. Its claim is the fencing token: each transaction checks it.

    A thread renews the lease while the holder waits for the server, however long one response takes. It stops once the
    holder has made no progress for two hours.
    """

    def __init__(self, connection: Connection, claim: UUID) -> None:
        self.connection, self.claim = connection, claim
        self._released = threading.Event()
        self._last_progress_at = time.monotonic()

    def record_progress(self) -> None:
        """Record that the holder is still working."""
        self._last_progress_at = time.monotonic()

    def check(self) -> None:
        """Check the claim and lock the row until the end of the transaction. Raises LockLostError."""
        self.record_progress()
        rows = Connection.objects.owned_by(self.connection.owner_id).filter(pk=self.connection.pk, claim=self.claim)
        # On SQLite the transaction already holds the write lock (BEGIN IMMEDIATE), and Django omits FOR UPDATE.
        if not rows.select_for_update(no_key=True).values_list("pk"):
            raise LockLostError

    @contextmanager
    def heartbeat(self) -> Iterator[threading.Thread]:
        """Renew the lease in a thread until the end of the block."""
        # daemon: must not keep a process alive whose main thread has ended.
        thread = threading.Thread(target=self._beat, name="carddav-heartbeat", daemon=True)
        thread.start()
        try:
            yield thread
        finally:
            self._released.set()
            thread.join()

    def _beat(self) -> None:
        while not self._released.wait(HEARTBEAT_SECONDS):
            if time.monotonic() - self._last_progress_at > _MAX_STEP_SECONDS:
                return  # the holder hangs: let the lease run out, so that another process can take over
            try:
                if not self._renew_lease():
                    return  # taken over: `check` in the next transaction raises
            except DatabaseError:
                log.warning("the lock could not be renewed; another try follows", exc_info=True)
            finally:
                # This thread's database connection would stay open for the whole run.
                database.close()

    def _renew_lease(self) -> bool:
        rows = Connection.objects.owned_by(self.connection.owner_id).filter(pk=self.connection.pk)
        return rows.held_by(self.claim).renew(LEASE, clock=timezone.now())


@contextmanager
def locked(connection: Connection) -> Iterator[Lock]:
    """Hold the lock of the connection. Raises LockedError."""
    rows = Connection.objects.owned_by(connection.owner_id).filter(pk=connection.pk)
    claim = rows.acquire(LEASE, clock=timezone.now())
    if claim is None:
        raise LockedError
    lock = Lock(connection, claim)
    try:
        with lock.heartbeat():
            yield lock
    finally:
        # Under the claim, so that a holder whose lease was taken over does not release the new one.
        rows.held_by(claim).release()
