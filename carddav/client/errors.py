"""What can go wrong with a CardDAV server, each with the contract's code and a sentence for the user."""

from typing import ClassVar

from contacts_project.kernel.outbound import Code, OutboundError, TooLongError

LONGEST_WAIT_SECONDS = 3600


class DavError(Exception):
    """The server cannot be worked with now. `code` is the contract's (open points, section 10).

    `status` is the answer's where there was one, `retry_after` the seconds it asked to wait, `has_sent` whether the
    server may have got the request.
    """

    code: ClassVar[str]
    message: ClassVar[str]

    def __init__(
        self,
        message: str = "",
        *,
        status: int | None = None,
        retry_after: int | None = None,
        has_sent: bool = False,
    ) -> None:
        super().__init__(message or self.message)
        self.status = status
        self.retry_after = retry_after
        self.has_sent = has_sent


class LoginRefusedError(DavError):
    """401. Asking again with the same password locks accounts: nothing more until it changes."""

    code = "auth"
    message = "The server refuses the user name or the password."


class AccessDeniedError(DavError):
    """403 where something was to be read: the login is right, and may not do this."""

    code = "auth"
    message = "The server knows the login but denies access."


class NotCardDavError(DavError):
    """No address book is found there, or what answers does not speak CardDAV."""

    code = "not_carddav"
    message = "There is no CardDAV server at this address."


class ElsewhereError(NotCardDavError):
    """A redirect to another host, `location`, that discovery did not name."""

    message = "The server sends requests to another host, which gets no login."

    def __init__(self, location: str = "", *, status: int) -> None:
        super().__init__(status=status)
        self.location = location


class StatusError(NotCardDavError):
    """An answer that the request does not allow for; `conditions` are the names in its DAV:error."""

    def __init__(self, status: int, conditions: frozenset[str] = frozenset()) -> None:
        super().__init__(f"The server answers with status {status}, which no CardDAV server should.", status=status)
        self.conditions = conditions


class MalformedAnswerError(NotCardDavError):
    """XML that is none, or that stops in the middle."""

    message = "The server answers with XML that cannot be read."


class AnswerTooLongError(MalformedAnswerError):
    """More than may be read of one answer: fewer cards are to be asked for at once."""

    message = "The server answers with more than can be read at once."


class ServerTimeoutError(DavError):
    """The server is silent."""

    code = "timeout"
    message = "The server did not answer in time."


class TlsError(DavError):
    """No trusted connection: nothing was sent, the login least of all."""

    code = "tls"
    message = (
        "The server cannot be trusted: its certificate is not valid for this name, has expired, or comes from an "
        "authority that is not known here. Nothing was sent."
    )


class PolicyError(DavError):
    """The operator's outbound policy refuses the address."""

    code = "policy"
    message = "This address may not be reached from here."


class DnsError(DavError):
    """The host name does not resolve."""

    code = "dns"
    message = "The name of the server does not resolve."


class ConnectionRejectedError(DavError):
    """The connection is refused."""

    code = "refused"
    message = "Nobody listens at this address."


class ConnectionBrokenError(DavError):
    """The connection broke in the middle of an answer."""

    code = "interrupted"
    message = "The connection to the server broke off."


class BusyError(DavError):
    """429, 503 and their like, after three more tries; `retry_after` is at most an hour."""

    code = "busy"
    message = "The server is busy. It is asked again later."


class BookGoneError(DavError):
    """The address book is not there any more."""

    code = "book_gone"
    message = (
        "The address book is not on the server any more. Nothing was changed here. To sync with another one, save the "
        "connection with its address."
    )


class BookMovedError(BookGoneError):
    """The server sends requests for the book elsewhere: `location` has to be discovered anew."""

    message = "The address book has moved. The next sync looks for it."

    def __init__(self, location: str, *, status: int) -> None:
        super().__init__(status=status)
        self.location = location


_OF_CODE: dict[Code, type[DavError]] = {
    Code.BLOCKED: PolicyError,
    Code.DNS: DnsError,
    Code.TIMEOUT: ServerTimeoutError,
    Code.REFUSED: ConnectionRejectedError,
    Code.TLS: TlsError,
}


def from_outbound(error: OutboundError) -> DavError:
    """What stands for a failure below HTTP. The policy says itself what it refuses."""
    kind = AnswerTooLongError if isinstance(error, TooLongError) else _OF_CODE.get(error.code, ConnectionBrokenError)
    return kind(str(error) if kind is PolicyError else "", has_sent=error.has_sent)
