"""Tests a server and a login without saving them."""

from accounts.models import User
from carddav.client.address_books import code_of
from carddav.client.discovery import discover
from carddav.services.connections import check_reachable_url
from contacts_project.kernel.errors import DomainError, FieldError
from contacts_project.kernel.external_waits import external_wait
from contacts_project.kernel.outbound.failures import OutboundError
from contacts_project.kernel.outbound.policy import Reason
from contacts_project.kernel.rate_limits import RateLimit
from contacts_project.kernel.webdav.errors import (
    AccessDeniedError,
    ConnectionRejectedError,
    DavError,
    DnsError,
    LoginRefusedError,
    NotDavError,
    PolicyError,
    ServerBusyError,
    ServerTimeoutError,
    TlsError,
)
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import open_session
from contacts_project.kernel.webdav.shapes import FoundCollection

CHECK_SECONDS = 20.0
#: Retry-After for a busy server that sends none, in seconds.
DEFAULT_RETRY_AFTER_SECONDS = 60
CHECKS = RateLimit("carddav-test", 10, 15 * 60)


class ServerError(DomainError):
    """A request to the CardDAV server failed; `code` is one of the API's codes."""

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
        super().__init__(error.text)
        self.code = code_of(error)
        if isinstance(error, ServerBusyError):
            self.retry_after = error.retry_after or DEFAULT_RETRY_AFTER_SECONDS


class CheckLoginError(ServerError):
    """The login was refused."""

    CODES = ("auth",)


class CheckNotFoundError(ServerError):
    """There is no server, or no address book on it."""

    CODES = ("dns", "refused", "not_carddav")


class CheckTimeoutError(ServerError):
    """The server did not respond in time."""

    CODES = ("timeout",)


class CheckRefusedError(ServerError):
    """The request was not sent: forbidden by policy, or TLS is not trusted."""

    CODES = ("policy", "tls")


class CheckBrokenError(ServerError):
    """The server responds and cannot serve the request now."""

    CODES = ("busy", "interrupted")


_CHECK_ERRORS: tuple[tuple[type[DavError] | tuple[type[DavError], ...], type[ServerError]], ...] = (
    ((LoginRefusedError, AccessDeniedError), CheckLoginError),
    ((DnsError, ConnectionRejectedError, NotDavError), CheckNotFoundError),
    (ServerTimeoutError, CheckTimeoutError),
    ((PolicyError, TlsError), CheckRefusedError),
)


def check_server(
    *, owner: User, server_url: str, username: str, password: str, provider: str | None
) -> tuple[FoundCollection, ...]:
    """The address books that the login finds, within 20 seconds.

    A URL that the outbound policy refuses as it stands does not count against the rate limit: nothing is sent. Raises
    FieldError, RateLimitedError (ten in 15 minutes), and the Check errors.
    """
    _check_policy(server_url)
    # Before the rate limit: a request that is refused because too many are waiting must not count against it.
    with external_wait():
        CHECKS.hit(str(owner.pk))
        try:
            with open_session(
                Login(server_url, username, password), seconds=CHECK_SECONDS, account=owner.pk
            ) as session:
                return discover(session, provider=provider).books
        except DavError as error:
            kind = next((kind for causes, kind in _CHECK_ERRORS if isinstance(error, causes)), CheckBrokenError)
            raise kind(error) from error


def _check_policy(server_url: str) -> None:
    """Raise FieldError for text that is no URL, and CheckRefusedError for one that the policy refuses as it stands."""
    try:
        check_reachable_url(server_url)
    except OutboundError as error:
        if error.reason is Reason.MALFORMED:
            raise FieldError("serverUrl", error.text) from error
        raise CheckRefusedError(PolicyError(error.text)) from error
