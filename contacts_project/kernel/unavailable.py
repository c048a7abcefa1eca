"""Which exceptions are a 503 `unavailable`: database locked or down, disk or queue full."""

import errno
import sqlite3
import sys
from collections.abc import Iterator

from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError

from contacts_project.kernel.external_waits import TooManyExternalWaitsError

# The SQLite errors that do not depend on the statement (https://sqlite.org/rescode.html). Others, such as "no such
# table", are raised as the same exception class and are bugs.
_SQLITE_CODES = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
}
_DISK_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}


def is_unavailable(error: BaseException) -> bool:
    """Whether the error, or one of its causes, means that a service or disk is locked, unreachable or full."""
    return any(map(_means_unavailable, _iter_causes(error)))


def _means_unavailable(error: BaseException) -> bool:
    if isinstance(error, BrokerError | TooManyExternalWaitsError):
        return True
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in _SQLITE_CODES  # the low byte is the primary result code
    if isinstance(error, OperationalError | InterfaceError):
        return not isinstance(
            error.__cause__, sqlite3.Error
        )  # PostgreSQL raises these only for the server or connection
    if isinstance(error, OSError):
        return error.errno in _DISK_ERRNOS
    # Looked up instead of imported: an instance without Redis saves the memory.
    redis = sys.modules.get("redis.exceptions")
    return redis is not None and isinstance(error, redis.ConnectionError | redis.TimeoutError)


def _iter_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes: errors of Django and kombu wrap those of the driver."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
