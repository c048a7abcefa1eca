"""What the service refuses, in words for people: raised by whoever finds out, whoever asked.

Nothing here knows of HTTP. `contacts_project.kernel.api.errors` says with which status and code the API answers each.
Apps derive their own from these, and put them beside the services that raise them.
"""

UNKNOWN_ID = "There is no such record."


class DomainError(Exception):
    """A refusal. `message` of the class is what is said unless whoever raises it says more.

    `field`: the part of what was handed in that is refused (dotted path), where it is one. `retry_after`: the seconds
    after which another try may go through, where they are known.
    """

    message = "The request cannot be carried out."
    retry_after: int | None = None

    def __init__(self, message: str | None = None, *, field: str | None = None) -> None:
        self.message = message or self.message
        self.field = field
        super().__init__(self.message)


class FieldError(DomainError):
    """One field (dotted path) of what was handed in is not as it must be."""

    field: str

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, field=field)

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class MissingError(DomainError):
    """The account has no such record, or none any more."""

    message = "Not found."


class NotDeletedError(DomainError):
    """Restore or permanent deletion of a record that is not in the trash."""

    message = "This record has not been deleted: delete it first."


class StaleError(DomainError):
    """The record has been changed since the caller read it, who asked for the write only if it had not."""

    message = "This record has been changed meanwhile. Nothing was written: look at what it is now, and try again."


class PlanLimitError(DomainError):
    """The account's plan allows no more of these."""


class UnavailableError(DomainError):
    """The service cannot do it now, and kept nothing of it; `retry_after` in seconds."""

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
