"""Domain errors with messages for users, independent of HTTP.

`contacts_project.kernel.api.errors` maps them to statuses and codes of the API. Apps define subclasses beside the
services that raise them.
"""

NO_SUCH_RECORD = "There is no such record."


class DomainError(Exception):
    """Base class. `message` of the class is the default message.

    `field` is the dotted path of the invalid part of the input, if there is one. `retry_after` is the number of seconds
    after which a retry may succeed, if known.
    """

    message = "The request cannot be carried out."
    retry_after: int | None = None

    def __init__(self, message: str | None = None, *, field: str | None = None) -> None:
        self.message = message or self.message
        self.field = field
        super().__init__(self.message)


class FieldError(DomainError):
    """One field of the input is invalid; `field` is its dotted path."""

    field: str

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, field=field)

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class MissingError(DomainError):
    """The account has no such record, or it has been deleted."""

    message = "Not found."


class NotDeletedError(DomainError):
    """Restore or permanent deletion of a record that is not in the trash."""

    message = "This record has not been deleted: delete it first."


class StaleError(DomainError):
    """A conditional write (If-Match) of a record that has been changed since the caller read it."""

    message = "This record has been changed meanwhile. Nothing was written: look at what it is now, and try again."


class PlanLimitError(DomainError):
    """The account's plan allows no more of these."""


class UnavailableError(DomainError):
    """The service cannot handle the request now, and has stored nothing of it; `retry_after` in seconds."""

    message = "The service is busy, or a part of it is away. Nothing was changed: try again in a few seconds."
    retry_after: int

    def __init__(self, message: str | None = None, *, retry_after: int = 5) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RateLimitedError(DomainError):
    """Too many requests of one kind; `retry_after` in seconds."""

    retry_after: int

    def __init__(self, retry_after: int, message: str | None = None) -> None:
        seconds = max(1, retry_after)
        super().__init__(message or f"Too many requests. Try again in {seconds} seconds.")
        self.retry_after = seconds
