"""The lock of a connection for jobs other than runs; they wait for it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from accounts.models import User
from carddav.models import Connection
from carddav.sync.context import Context
from carddav.sync.lock import LockedError, LockLostError, locked
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.texts import define_text

_MAX_WAIT_SECONDS = 10.0
_POLL_SECONDS = 0.25


class ConnectionBusyError(DomainError):
    """Another process works with the server."""

    message = define_text("sync_running", "A sync is running. Try again when it has ended.")
    code = "busy"
    retry_after = 10


def get_connection(owner: User) -> Connection:
    """The account's connection. Raises MissingError."""
    connection = Connection.objects.owned_by(owner).first()
    if connection is None:
        raise MissingError
    return connection


@contextmanager
def locked_connection(owner: User) -> Iterator[Context]:
    """Hold the connection's lock for a job that leaves no run, waiting ten seconds for it.

    Raises MissingError, also if the connection is removed meanwhile, and ConnectionBusyError, also if its server is
    changed meanwhile.
    """
    give_up_at = time.monotonic() + _MAX_WAIT_SECONDS
    while True:
        try:
            with locked(get_connection(owner)) as lock:
                # Read again under the lock: a run that held it may have changed the row.
                yield Context(owner, get_connection(owner), lock)
                return
        except LockLostError:
            get_connection(owner)  # MissingError if the connection was removed
            raise ConnectionBusyError from None
        except LockedError:
            if time.monotonic() >= give_up_at:
                raise ConnectionBusyError from None
        with external_wait():
            time.sleep(_POLL_SECONDS)
