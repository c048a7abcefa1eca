"""Domain errors with messages for users, independent of HTTP.

`contacts_project.kernel.api.errors` maps them to statuses and codes of the API. Apps define subclasses beside the
services that raise them.
"""

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
