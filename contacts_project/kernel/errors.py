"""Domain errors with messages for users, independent of HTTP.

`contacts_project.kernel.api.errors` maps them to statuses and codes of the API. Apps define subclasses beside the
services that raise them. `is_unavailable` says which errors of a database, a broker or a disk have the meaning of
UnavailableError.
"""

import errno
import sqlite3
import sys
from collections.abc import Iterator

from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError

from contacts_project.kernel.external_waits import TooManyExternalWaitsError
from contacts_project.kernel.texts import Text, define_text

NO_SUCH_RECORD = define_text("no_such_record", "There is no such record.")
NO_SUCH_ADDRESS = define_text("no_such_address", "There is nothing at this address.")
_TOO_MANY_REQUESTS = define_text(
    "rate_limited",
    "Too many requests. Try again in %(seconds)s second.",
    plural="Too many requests. Try again in %(seconds)s seconds.",
    number="seconds",
)


class DomainError(Exception):
    """Base class. `message` of the class is the default message.

    `field` is the dotted path of the invalid part of the input, if there is one. `retry_after` is the number of seconds
    after which a retry may succeed, if known.
    """

    message: Text = define_text("refused", "The request cannot be carried out.")
    retry_after: int | None = None

    def __init__(self, message: Text | None = None, *, field: str | None = None) -> None:
        self.message = message or self.message
        self.field = field
        super().__init__(self.message)


class FieldError(DomainError):
    """One field of the input is invalid; `field` is its dotted path."""

    field: str

    def __init__(self, field: str, message: Text) -> None:
        super().__init__(message, field=field)

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class MissingError(DomainError):
    """The account has no such record, or it has been deleted."""

    message = define_text("not_found", "Not found.")


class NotDeletedError(DomainError):
    """Restore or permanent deletion of a record that is not in the trash."""

    message = define_text("not_deleted", "This record has not been deleted: delete it first.")


class StaleError(DomainError):
    """A conditional write (If-Match) of a record that has been changed since the caller read it."""

    message = define_text(
        "stale", "This record has been changed meanwhile. Nothing was written: look at what it is now, and try again."
    )


class PlanLimitError(DomainError):
    """The account's plan allows no more of these."""


class UnavailableError(DomainError):
    """The service cannot handle the request now, and has stored nothing of it; `retry_after` in seconds."""

    message = define_text(
        "unavailable", "The service is busy, or a part of it is away. Nothing was changed: try again in a few seconds."
    )
    retry_after: int

    def __init__(self, message: Text | None = None, *, retry_after: int = 5) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RateLimitedError(DomainError):
    """Too many requests of one kind; `retry_after` in seconds."""

    retry_after: int

    def __init__(self, retry_after: int, message: Text | None = None) -> None:
        seconds = max(1, retry_after)
        super().__init__(message or _TOO_MANY_REQUESTS.format(seconds=seconds))
        self.retry_after = seconds


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
        # PostgreSQL raises these only for the server or connection.
        return not isinstance(error.__cause__, sqlite3.Error)
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
