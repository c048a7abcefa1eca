"""Which failures are 503 `unavailable` (open points, section 1): the database locked or away, a disk or queue full."""

import errno
import sqlite3
import sys
from collections.abc import Iterator

from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError

from contacts_project.kernel.external_waits import TooManyExternalWaitsError

# Of SQLite's errors those that have nothing to do with the statement (https://sqlite.org/rescode.html); the others,
# such as "no such table", come as the same exception and are faults of ours.
_SQLITE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
}
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}


def is_unavailable(error: BaseException) -> bool:
    """Whether `error` says that something the service stands on is locked, away or full."""
    return any(map(_is_one, _causes(error)))


def _is_one(error: BaseException) -> bool:
    if isinstance(error, BrokerError | TooManyExternalWaitsError):
        return True
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in _SQLITE  # the low byte; the rest refines it
    if isinstance(error, OperationalError | InterfaceError):
        return not isinstance(error.__cause__, sqlite3.Error)  # PostgreSQL: all of them are of the server's making
    if isinstance(error, OSError):
        return error.errno in _DISK
    redis = sys.modules.get("redis.exceptions")  # not imported where there is none: it takes memory
    return redis is not None and isinstance(error, redis.ConnectionError | redis.TimeoutError)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and those it was raised from: Django's and kombu's wrap the driver's."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
