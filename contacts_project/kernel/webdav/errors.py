"""Errors of a WebDAV client, each with a code and a message for the user."""

from typing import ClassVar

from contacts_project.kernel.outbound.failures import Code, OutboundError, TooLongError
from contacts_project.kernel.texts import Text, define_text

_UNEXPECTED_STATUS = define_text(
    "unexpected_status", "The server answers with status %(status)d, which no WebDAV server should."
)

MAX_RETRY_AFTER_SECONDS = 3600


class DavError(Exception):
    """The server cannot be used now. An app may answer with another `code`, such as `not_carddav`.

    `status` is the HTTP status if there was a response, `retry_after` the requested delay in seconds, `has_sent`
    whether the server may have received the request.
    """

    code: ClassVar[str]
    message: ClassVar[Text]

    def __init__(
        self,
        message: Text | None = None,
        *,
        status: int | None = None,
        retry_after: int | None = None,
        has_sent: bool = False,
    ) -> None:
        self.text = message or self.message
        super().__init__(self.text)
        self.status = status
        self.retry_after = retry_after
        self.has_sent = has_sent


class LoginRefusedError(DavError):
    """401. The same login must not be tried again: some servers lock the account after several failures."""

    code = "auth"
    message = define_text("auth_refused", "The server refuses the user name or the password.")


class AccessDeniedError(DavError):
    """403 to a read: the login is valid and lacks the permission."""

    code = "auth"
    message = define_text("access_denied", "The server knows the login but denies access.")


class NotDavError(DavError):
    """No collection of the kind was found, or the server does not speak WebDAV."""

    code = "not_dav"
    message = define_text("not_dav", "There is no WebDAV server at this address.")


class NoCollectionError(NotDavError):
    """Discovery has found nothing at any address; `first` is why the one that was entered does not lead anywhere."""

    def __init__(self, message: Text, first: NotDavError | None = None) -> None:
        super().__init__(message)
        self.first = first


class UntrustedHostError(NotDavError):
    """A redirect to another host, `location`, that discovery has not named: it gets no login."""

    message = define_text("untrusted_host", "The server sends requests to another host, which gets no login.")

    def __init__(self, location: str = "", *, status: int) -> None:
        super().__init__(status=status)
        self.location = location


class RedirectLoopError(NotDavError):
    """More redirects than are followed."""

    message = define_text("redirect_loop", "The server sends requests round in circles.")


class StatusError(NotDavError):
    """An unexpected status; `conditions` are the names in its DAV:error."""

    def __init__(self, status: int, conditions: frozenset[str] = frozenset()) -> None:
        super().__init__(_UNEXPECTED_STATUS.format(status=status), status=status)
        self.conditions = conditions


class TooManyMembersError(NotDavError):
    """The collection lists more members than one of its kind may have."""


class MalformedResponseError(NotDavError):
    """The XML is malformed or incomplete."""

    message = define_text("malformed_xml", "The server answers with XML that cannot be read.")


class ResponseTooLongError(MalformedResponseError):
    """The response is over the size limit: request fewer resources at once."""

    message = define_text("response_too_long", "The server answers with more than can be read at once.")


class ServerTimeoutError(DavError):
    """The server did not respond in time."""

    code = "timeout"
    message = define_text("server_timeout", "The server did not answer in time.")


class OverdueError(ServerTimeoutError):
    """The deadline of all requests together has passed."""

    message = define_text(
        "run_overdue", "The server took too long for one sync. What was done until then is kept; the next sync goes on."
    )


class TlsError(DavError):
    """No trusted TLS connection; nothing was sent."""

    code = "tls"
    message = define_text(
        "tls_untrusted",
        "The server cannot be trusted: its certificate is not valid for this name, has expired, or comes from an "
        "authority that is not known here. Nothing was sent.",
    )


class PolicyError(DavError):
    """The operator's outbound policy refuses the address."""

    code = "policy"
    message = define_text("policy_refused", "This address may not be reached from here.")


class DnsError(DavError):
    """The host name does not resolve."""

    code = "dns"
    message = define_text("server_not_resolved", "The name of the server does not resolve.")


class ConnectionRejectedError(DavError):
    """The connection is refused."""

    code = "refused"
    message = define_text("connection_refused", "Nobody listens at this address.")


class ConnectionBrokenError(DavError):
    """The connection was interrupted during a response."""

    code = "interrupted"
    message = define_text("connection_broken", "The connection to the server broke off.")


class ServerBusyError(DavError):
    """429, 503 and similar, after three retries, or at once if the server asks for a longer wait than a run allows.

    `retry_after` is at most an hour.
    """

    code = "busy"
    message = define_text("server_busy", "The server is busy. It is asked again later.")


class CollectionGoneError(DavError):
    """The collection no longer exists."""

    code = "collection_gone"

    def __init__(self, message: Text, *, status: int | None = None) -> None:
        super().__init__(message, status=status)


class CollectionMovedError(CollectionGoneError):
    """The server redirects requests for the collection to `location`, which discovery has to confirm."""

    def __init__(self, message: Text, location: str, *, status: int) -> None:
        super().__init__(message, status=status)
        self.location = location


_ERROR_BY_CODE: dict[Code, type[DavError]] = {
    Code.BLOCKED: PolicyError,
    Code.DNS: DnsError,
    Code.TIMEOUT: ServerTimeoutError,
    Code.REFUSED: ConnectionRejectedError,
    Code.TLS: TlsError,
}


def convert_outbound_error(error: OutboundError) -> DavError:
    """The DavError for a failure below HTTP. Only the outbound policy's own message is kept."""
    kind = (
        ResponseTooLongError
        if isinstance(error, TooLongError)
        else _ERROR_BY_CODE.get(error.code, ConnectionBrokenError)
    )
    return kind(error.text if kind is PolicyError else None, has_sent=error.has_sent)
