"""Why a calendar cannot be read, with the code that answers show."""

from contacts_project.kernel.outbound.failures import Code, OutboundError, TooLongError
from contacts_project.kernel.texts import Text, define_text
from contacts_project.kernel.webdav.errors import (
    AccessDeniedError,
    CollectionGoneError,
    DavError,
    LoginRefusedError,
    NoCollectionError,
    NotDavError,
    RedirectLoopError,
    ResponseTooLongError,
    StatusError,
    TooManyMembersError,
    UntrustedHostError,
)

_TEXTS = {
    "auth": define_text("calendar_login_refused", "The server of the calendar refuses the user name or the password."),
    "busy": define_text("calendar_server_busy", "The server of the calendar is busy. It is asked again later."),
    "dns": define_text("calendar_not_resolved", "The name of the calendar's server does not resolve."),
    "http_4xx": define_text(
        "calendar_http_4xx", "The server of the calendar refuses the request. Is the address right?"
    ),
    "http_5xx": define_text("calendar_http_5xx", "The server of the calendar has an error. It is asked again later."),
    "interrupted": define_text("calendar_interrupted", "The connection to the calendar's server broke off."),
    "not_calendar": define_text("not_calendar", "There is no calendar at this address."),
    "policy": define_text("calendar_policy", "The calendar's address may not be reached from here."),
    "redirect": define_text("calendar_redirect", "The address of the calendar leads from one address to the next."),
    "refused": define_text("calendar_refused", "Nobody listens at the calendar's address."),
    "timeout": define_text("calendar_timeout", "The server of the calendar did not answer in time."),
    "tls": define_text("calendar_tls", "The server of the calendar cannot be trusted: its certificate is not valid."),
    "too_large": define_text(
        "calendar_too_large", "The calendar is too large: at most 10 MiB and 20,000 events are read."
    ),
}
CODES = tuple(_TEXTS)
_OUTBOUND_CODES = {
    Code.BLOCKED: "policy",
    Code.DNS: "dns",
    Code.TIMEOUT: "timeout",
    Code.REFUSED: "refused",
    Code.TLS: "tls",
}


_DAV_CODES: tuple[tuple[tuple[type[DavError], ...], str], ...] = (
    ((LoginRefusedError, AccessDeniedError), "auth"),
    ((ResponseTooLongError, TooManyMembersError), "too_large"),
    ((RedirectLoopError, UntrustedHostError), "redirect"),
    ((NotDavError, CollectionGoneError), "not_calendar"),
)


def text_of(code: str) -> Text:
    """What people read of a code."""
    return _TEXTS[code]


class CalendarError(Exception):
    """The calendar cannot be read now."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.text: Text = _TEXTS[code]
        super().__init__(code)


def status_error(status: int) -> CalendarError:
    """The error for a status that is no success."""
    if status == 401:
        return CalendarError("auth")
    return CalendarError("http_5xx" if status >= 500 else "http_4xx" if status >= 400 else "not_calendar")


def convert_outbound_error(error: OutboundError) -> CalendarError:
    if isinstance(error, TooLongError):
        return CalendarError("too_large")
    return CalendarError(_OUTBOUND_CODES.get(error.code, "interrupted"))


def convert_dav_error(error: DavError) -> CalendarError:
    """The same for an error of the WebDAV client."""
    if isinstance(error, NoCollectionError) and error.first is not None:
        error = error.first
    if isinstance(error, StatusError) and error.status:
        return status_error(error.status)
    code = next((code for kinds, code in _DAV_CODES if isinstance(error, kinds)), error.code)
    return CalendarError(code if code in _TEXTS else "interrupted")
