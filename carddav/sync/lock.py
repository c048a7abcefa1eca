"""The lock of a connection: one at a time works with its server."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.utils import timezone

from carddav.models import Connection

LEASE = dt.timedelta(seconds=120)
_HEARTBEAT = dt.timedelta(seconds=30)


class LockLostError(Exception):
    """Another process took the connection over: nothing more may be written."""


class LockedError(Exception):
    """Somebody else works with this connection's server."""


class Lock:
    """Held by its claim, which is the fencing token: each transaction checks it."""

    def __init__(self, connection: Connection, claim: UUID) -> None:
        self.connection, self.claim = connection, claim
        self.kept_at = timezone.now()

    def check(self) -> None:
        """Inside a transaction: locks the row until its end. Raises LockLostError."""
        self._renew(timezone.now())

    def keep(self) -> None:
        """The heartbeat. Raises LockLostError."""
        now = timezone.now()
        if now - self.kept_at >= _HEARTBEAT:
            self._renew(now)

    def _renew(self, now: dt.datetime) -> None:
        rows = Connection.objects.owned_by(self.connection.owner_id).filter(pk=self.connection.pk)
        if not rows.under(self.claim).renew(LEASE, clock=now):
            raise LockLostError
        self.kept_at = now


@contextmanager
def locked(connection: Connection) -> Iterator[Lock]:
    """Hold the connection. Raises LockedError."""
    rows = Connection.objects.owned_by(connection.owner_id).filter(pk=connection.pk)
    claim = rows.take(LEASE, clock=timezone.now())
    if claim is None:
        raise LockedError
    lock = Lock(connection, claim)
    try:
        yield lock
    finally:
        rows.under(claim).release()
