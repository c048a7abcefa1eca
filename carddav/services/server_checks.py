"""Trying a server out before anything is saved."""

from accounts.models import User
from carddav.client import (
    AccessDeniedError,
    BusyError,
    ConnectionRejectedError,
    DavError,
    DnsError,
    FoundBook,
    Login,
    LoginRefusedError,
    NotCardDavError,
    PolicyError,
    ServerTimeoutError,
    TlsError,
    discover,
    open_session,
)
from carddav.services.connections import check_server_url
from contacts_project.kernel.budgets import Budget
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.external_waits import external_wait

SECONDS = 20.0
#: When to ask a busy server again that does not say it.
BUSY_SECONDS = 60
CHECKS = Budget("carddav-test", 10, 15 * 60)


class ServerError(DomainError):
    """A CardDAV server did not do what was asked of it; `code` is one of the contract's."""

    CODES: tuple[str, ...] = (
        "auth",
        "book_gone",
        "busy",
        "dns",
        "interrupted",
        "not_carddav",
        "policy",
        "refused",
        "timeout",
        "tls",
    )

    def __init__(self, error: DavError) -> None:
        super().__init__(str(error))
        self.code = error.code
        if isinstance(error, BusyError):
            self.retry_after = error.retry_after or BUSY_SECONDS


class CheckLoginError(ServerError):
    """The login is refused."""

    CODES = ("auth",)


class CheckNotFoundError(ServerError):
    """There is no server, or no address book on it."""

    CODES = ("dns", "refused", "not_carddav")


class CheckTimeoutError(ServerError):
    """The server is silent."""

    CODES = ("timeout",)


class CheckRefusedError(ServerError):
    """It is not even tried, or not safe."""

    CODES = ("policy", "tls")


class CheckBrokenError(ServerError):
    """It answers, but cannot serve now."""

    CODES = ("busy", "interrupted")


_KINDS: tuple[tuple[type[DavError] | tuple[type[DavError], ...], type[ServerError]], ...] = (
    ((LoginRefusedError, AccessDeniedError), CheckLoginError),
    ((DnsError, ConnectionRejectedError, NotCardDavError), CheckNotFoundError),
    (ServerTimeoutError, CheckTimeoutError),
    ((PolicyError, TlsError), CheckRefusedError),
)


def check_server(
    *, owner: User, server_url: str, username: str, password: str, provider: str | None
) -> tuple[FoundBook, ...]:
    """The address books that the login finds, within 20 seconds.

    Raises FieldError, RateLimitedError (ten in 15 minutes), and the Check errors for all that can go wrong.
    """
    check_server_url(server_url)
    with external_wait():  # first of all: who is refused because too many wait draws on no budget
        CHECKS.draw(str(owner.pk))
        try:
            with open_session(Login(server_url, username, password), seconds=SECONDS) as session:
                return discover(session, provider=provider).books
        except DavError as error:
            kind = next((kind for causes, kind in _KINDS if isinstance(error, causes)), CheckBrokenError)
            raise kind(error) from error
