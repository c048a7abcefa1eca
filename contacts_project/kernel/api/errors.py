"""Error responses: one JSON shape, `{ error, code, params?, details? }`, and the status of each error.

Only this module and the tables registered here map exceptions to HTTP statuses and codes. Services raise DomainErrors
and know nothing of HTTP.
"""

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import DisallowedHost, PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.utils.translation import override
from rest_framework import exceptions, status
from rest_framework.response import Response

from contacts_project.kernel.errors import (
    NO_SUCH_ADDRESS,
    DomainError,
    FieldError,
    MissingError,
    NotDeletedError,
    PlanLimitError,
    RateLimitedError,
    StaleError,
    UnavailableError,
    is_unavailable,
)
from contacts_project.kernel.json import JsonObject, dumps
from contacts_project.kernel.languages import language_of
from contacts_project.kernel.texts import Text, TextCode, define_text

_AT_FIELD = define_text("invalid_field", "%(field)s: %(problem)s")

REQUIRED = define_text("required", "This field is required.")
NOT_A_LIST = define_text("not_a_list", "This must be a list.")
NOT_AN_OBJECT = define_text("not_an_object", "This must be an object.")

log = logging.getLogger(__name__)
_MAX_HOST_LENGTH = 260  # a domain name of 253 characters and a port

# The registered top-level media types. A body of one of these gets 415 where the endpoint does not accept it; a
# Content-Type that is no media type at all gets 400.
_KNOWN_MAIN_TYPES = {
    "application",
    "audio",
    "font",
    "image",
    "message",
    "model",
    "multipart",
    "text",
    "video",
}

_NOT_VALID = define_text("invalid_request", "The request is not valid.")
_MALFORMED = define_text("malformed", "The request is malformed.")
_MALFORMED_HOST = define_text("malformed_host", "The Host header is malformed.")
_HOST_NOT_ALLOWED = define_text(
    "host_not_allowed",
    "This service does not answer under the host %(domain)s, which is neither the one of BASE_URL nor in "
    "ALLOWED_HOSTS. If it is yours, set ALLOWED_HOSTS=%(domain)s, or BASE_URL=%(url)s to have links lead there, too, "
    "and start again.",
)
_FORBIDDEN = define_text("forbidden", "This is not allowed.")
CSRF_FAILED = define_text("csrf", "The CSRF check failed: %(reason)s")
INTERNAL = define_text("internal", "Something went wrong on our side. The failure has been logged.")
_ENCODED_BODY = define_text(
    "encoded_body", "The body must be sent as it is, without the Content-Encoding %(encoding)s."
)
_TOO_LARGE = define_text("body_too_large", "The body is too large.")
_TOO_MANY_BYTES = define_text("too_many_bytes", "The body is too large: at most %(limit)s bytes.")
_TOO_MANY_MEBIBYTES = define_text("too_many_mebibytes", "The body is too large: at most %(limit)s MiB.")

#: The texts of DRF's own errors that have no parameters, by DRF's code.
_DRF_TEXTS = {
    "required": REQUIRED,
    "null": define_text("null", "This must not be null."),
    "blank": define_text("blank", "This must not be empty."),
    "max_length": define_text("longer_than_allowed", "This is too long."),
    "min_length": define_text("shorter_than_allowed", "This is too short."),
    "invalid_choice": define_text("no_such_choice", "This is not one of the choices."),
    "empty": define_text("empty_list", "This list must not be empty."),
    "not_a_list": NOT_A_LIST,
    "not_a_dict": NOT_AN_OBJECT,
    "not_authenticated": define_text("unauthenticated", "Sign in, or send an API token."),
    "authentication_failed": define_text("invalid_token", "The API token is not valid."),
    "permission_denied": define_text("permission_denied", "This is not allowed here."),
    "method_not_allowed": define_text("method_not_allowed", "This address does not take this method."),
    "unsupported_media_type": define_text("unsupported_media_type", "The media type of the body is not taken here."),
    "parse_error": define_text("unreadable_body", "The body cannot be read."),
}


@dataclass(frozen=True)
class Failure:
    """The response to an exception class: HTTP status and error code.

    `codes`: the possible values of the instance's own `code`, for classes whose instances differ. `has_success`: the
    body also contains `success: false`. `names_scheme`: a 401 names the scheme of the API, which a login that another
    server has refused must not do.
    """

    status: int
    code: str | None = None
    codes: tuple[str, ...] = ()
    has_success: bool = False
    names_scheme: bool = True


class InvalidError(exceptions.ValidationError):
    """DRF's ValidationError, with Texts: one, or lists and dictionaries of them by field or index."""

    def __init__(self, detail: Text | Sequence[object] | Mapping[str, object]) -> None:
        texts: Any = detail  # DRF asks for strings, but copies whatever has a `code`
        super().__init__(texts)


class ForbiddenError(exceptions.PermissionDenied):
    """A 403 whose class has the text."""

    text: Text

    def __init__(self) -> None:
        super().__init__(str(self.text), code=self.text.code)


class PayloadTooLargeError(exceptions.APIException):
    """A body or file is over its size limit."""

    def __init__(self, text: Text = _TOO_LARGE) -> None:
        super().__init__(str(text), code=text.code)


class EncodedBodyError(exceptions.APIException):
    """The body has a content coding, such as gzip (RFC 9110, section 15.5.16)."""

    def __init__(self, encoding: str) -> None:
        text = _ENCODED_BODY.format(encoding=encoding)
        super().__init__(str(text), code=text.code)


_failures: dict[type[Exception], Failure] = {
    DomainError: Failure(400, "refused"),
    FieldError: Failure(400, "invalid"),
    MissingError: Failure(404, "not_found"),
    NotDeletedError: Failure(400, "not_deleted"),
    StaleError: Failure(412, "stale"),
    PlanLimitError: Failure(403, "plan_limit"),
    RateLimitedError: Failure(429, "rate_limited"),
    UnavailableError: Failure(503, "unavailable"),
    PayloadTooLargeError: Failure(413, "too_large"),
    EncodedBodyError: Failure(415, "unsupported_media_type"),
    exceptions.ValidationError: Failure(400, "invalid"),
    exceptions.ParseError: Failure(400, "invalid"),
    exceptions.NotAuthenticated: Failure(401, "unauthenticated"),
    exceptions.AuthenticationFailed: Failure(401, "unauthenticated"),
    exceptions.MethodNotAllowed: Failure(405, "method_not_allowed"),
    exceptions.NotAcceptable: Failure(406, "not_acceptable"),
    exceptions.PermissionDenied: Failure(403, "permission_denied"),
    exceptions.UnsupportedMediaType: Failure(415, "unsupported_media_type"),
}


def register_failures(failures: Mapping[type[Exception], Failure]) -> None:
    """Register the responses to an app's own exceptions and their subclasses."""
    _failures.update(failures)


def failure_of(error: type[Exception]) -> Failure:
    """Return the response to exceptions of this class."""
    for base in error.__mro__:
        if base in _failures:
            return _failures[base]
    if issubclass(error, exceptions.APIException):
        return Failure(error.status_code)
    raise LookupError(f"{error.__name__} is not registered by register_failures.")


def handle_exception(exc: Exception, context: Mapping[str, object]) -> Response | None:
    """DRF's exception handler. Returns None for a programming error, which Django then answers with 500."""
    if isinstance(exc, Http404):
        exc = MissingError()
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied()
    elif isinstance(exc, RequestDataTooBig):
        exc = PayloadTooLargeError()
    elif is_unavailable(exc):
        log.warning("unavailable", extra={"reason": str(exc)})
        exc = UnavailableError()
    if not isinstance(exc, DomainError | exceptions.APIException):
        return None
    with override(language_of(context["request"])):
        return error_response(exc)


def error_response(exc: DomainError | exceptions.APIException) -> Response:
    """The error response of an API view, in the active language."""
    return Response(_body(exc), status=_status(exc), headers=_headers(exc))


def plain_error_response(request: HttpRequest, exc: DomainError | exceptions.APIException) -> HttpResponse:
    """The same error response for a view outside of DRF, which renders nothing."""
    with override(language_of(request)):
        return _json(_body(exc), _status(exc), _headers(exc))


def _status(exc: Exception) -> int:
    if isinstance(exc, exceptions.UnsupportedMediaType):
        # DRF keeps the media type only in the quoted part of its message.
        media_type = str(exc.detail).partition('"')[2].partition('"')[0]
        if media_type.partition("/")[0].strip().lower() not in _KNOWN_MAIN_TYPES:
            return status.HTTP_400_BAD_REQUEST
    return failure_of(type(exc)).status


def _headers(exc: Exception) -> dict[str, str]:
    headers: dict[str, str] = {}
    # RFC 9110, section 15.5.2: a 401 names its scheme
    if _status(exc) == status.HTTP_401_UNAUTHORIZED and failure_of(type(exc)).names_scheme:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(exc, DomainError) and exc.retry_after is not None:
        headers["Retry-After"] = str(exc.retry_after)
    return headers


def _body(exc: DomainError | exceptions.APIException) -> JsonObject:
    if isinstance(exc, FieldError):
        return validation_body({exc.field: [exc.message]})
    failure = failure_of(type(exc))
    if isinstance(exc, DomainError):
        text = exc.message
    elif _status(exc) == status.HTTP_400_BAD_REQUEST:
        return validation_body(exc.detail)
    else:
        text = _text_of(exc.detail)
    body: dict[str, Any] = {"error": str(text)}
    if code := getattr(exc, "code", None) if failure.codes else failure.code:
        body["code"] = code
    if text.params:
        body["params"] = text.described_params()
    if failure.has_success:
        body = {"success": False, **body}
    if isinstance(exc, DomainError) and exc.field:
        body["details"] = [_describe_detail(exc.field, exc.message)]
    if isinstance(exc, RateLimitedError):
        body["retryAfter"] = exc.retry_after
    return body


def validation_body(detail: object) -> JsonObject:
    """The body for a validation error. `detail` is nested by field and list index, as DRF builds it."""
    texts = list(flatten_detail(detail))
    field, text = texts[0] if texts else ("", _NOT_VALID)
    body: dict[str, Any] = {"error": f"{field}: {text}" if field else str(text), "code": "invalid"}
    if text.params:
        body["params"] = text.described_params()
    return body | {"details": [_describe_detail(field, text) for field, text in texts]}


def _describe_detail(field: str, text: Text) -> JsonObject:
    detail = {"field": field, "message": str(text), "code": text.code}
    return detail | {"params": text.described_params()} if text.params else detail


def flatten_detail(detail: object, path: str = "") -> Iterator[tuple[str, Text]]:
    """Yield each message of a validation error, with the dotted path of its field, such as `emails.0.email`."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            # Errors of an object as a whole are reported under the path of the object itself.
            is_own = key == "non_field_errors"
            yield from flatten_detail(value, path if is_own else f"{path}.{key}" if path else str(key))
    elif isinstance(detail, list):
        for index, value in enumerate(detail):
            nested = isinstance(value, dict | list)
            if nested and not value:  # DRF adds an empty entry for each valid item of a list
                continue
            yield from flatten_detail(value, (f"{path}.{index}" if path else str(index)) if nested else path)
    else:
        yield path, _text_of(detail)


def validation_text(error: exceptions.ValidationError) -> Text:
    """The first message of a validation error, with the path of its field."""
    field, text = next(flatten_detail(error.detail))
    return _AT_FIELD.format(field=field, problem=text) if field else text


def first_text(error: exceptions.ValidationError) -> Text:
    """The first message of a validation error."""
    return next(flatten_detail(error.detail))[1]


def _text_of(detail: object) -> Text:
    """The text of one of DRF's messages."""
    if isinstance(detail, Text):
        return detail
    code = getattr(detail, "code", "invalid")
    if isinstance(code, TextCode):
        return code.text
    return _DRF_TEXTS.get(code) or Text(code, str(detail))


def _json(body: JsonObject, status_code: int, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(dumps(body), content_type="application/json", status=status_code, headers=headers)


def _text_response(request: HttpRequest, text: Text, code: str, status_code: int) -> HttpResponse:
    with override(language_of(request)):
        body: dict[str, Any] = {"error": str(text), "code": code}
        if text.params:
            body["params"] = text.described_params()
        return _json(body, status_code)


def too_large_response(request: HttpRequest, limit: int) -> HttpResponse:
    """A 413 response with the limit in its message."""
    is_long = limit >= 1024 * 1024
    text = _TOO_MANY_MEBIBYTES.format(limit=limit // (1024 * 1024)) if is_long else _TOO_MANY_BYTES.format(limit=limit)
    return _text_response(request, text, "too_large", 413)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The response of Django's setting CSRF_FAILURE_VIEW."""
    return _text_response(request, CSRF_FAILED.format(reason=reason), "csrf", 403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler404."""
    return _text_response(request, NO_SUCH_ADDRESS, "not_found", 404)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler400."""
    if isinstance(exception, DisallowedHost):
        return _text_response(request, _host_text(request), "host_not_allowed", 400)
    return _text_response(request, _MALFORMED, "malformed", 400)


def _host_text(request: HttpRequest) -> Text:
    """The message names the settings to change: people who set up an instance often try it under another host first."""
    host = request.META.get("HTTP_HOST", "")
    domain, _ = split_domain_port(host)  # empty for an invalid host
    if not domain or len(host) > _MAX_HOST_LENGTH:
        return _MALFORMED_HOST
    return _HOST_NOT_ALLOWED.format(domain=domain, url=f"{request.scheme}://{host}")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler403."""
    return _text_response(request, _FORBIDDEN, "permission_denied", 403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500, also for errors of middleware and the admin.

    The response reveals no details; the log has them under the request's id.
    """
    error = sys.exc_info()[1]  # Django calls the handler without the exception, but while it handles it
    if error is not None and is_unavailable(error):
        return plain_error_response(request, UnavailableError())
    return _text_response(request, INTERNAL, "internal", 500)
