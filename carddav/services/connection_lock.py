"""The lock of a connection for jobs outside of runs, with a wait for whoever has it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from accounts.models import User
from carddav.models import Connection
from carddav.sync.context import Context
from carddav.sync.lock import LockedError, LockLostError, locked
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.external_waits import external_wait

_PATIENCE_SECONDS = 10.0
_STEP_SECONDS = 0.25
_CONNECTION = CompiledQuery(Connection.objects.owned_by)


class ConnectionBusyError(DomainError):
    """Something else works with the server at the moment."""

    message = "A sync is running. Try again when it has ended."
    code = "busy"
    retry_after = 10


def connection_of(owner: User) -> Connection:
    """The account's connection. Raises MissingError."""
    connection: Connection = _CONNECTION.find(owner=owner.pk)
    return connection


@contextmanager
def locked_connection(owner: User) -> Iterator[Context]:
    """Hold the connection's lock for a job that leaves no run.

    Raises MissingError, also where the connection is removed meanwhile, and ConnectionBusyError, also where it becomes
    another one.
    """
    give_up_at = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            with locked(connection_of(owner)) as lock:
                yield Context(owner, connection_of(owner), lock)
                return
        except LockLostError:
            connection_of(owner)
            raise ConnectionBusyError from None
        except LockedError:
            if time.monotonic() >= give_up_at:
                raise ConnectionBusyError from None
        with external_wait():
            time.sleep(_STEP_SECONDS)
