"""Error responses: one JSON shape, `{ error, code?, details? }`, and the status of each error.

Only this module and the tables registered here map exceptions to HTTP statuses and codes. Services raise DomainErrors
and know nothing of HTTP.
"""

import logging
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import DisallowedHost, PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import split_domain_port
from rest_framework import exceptions, status
from rest_framework.response import Response

from contacts_project.kernel.api.json import dumps
from contacts_project.kernel.errors import (
    DomainError,
    FieldError,
    MissingError,
    NotDeletedError,
    PlanLimitError,
    RateLimitedError,
    StaleError,
    UnavailableError,
)
from contacts_project.kernel.unavailable import is_unavailable

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


@dataclass(frozen=True)
class Failure:
    """The response to an exception class: HTTP status and error code.

    `codes`: the possible values of the instance's own `code`, for classes whose instances differ. `has_success`: the
    body also contains `success: false`.
    """

    status: int
    code: str | None = None
    codes: tuple[str, ...] = ()
    has_success: bool = False


class PayloadTooLargeError(exceptions.APIException):
    """A body or file is over its size limit."""


_failures: dict[type[Exception], Failure] = {
    DomainError: Failure(400),
    FieldError: Failure(400, "invalid"),
    MissingError: Failure(404),
    NotDeletedError: Failure(400, "not_deleted"),
    StaleError: Failure(412, "stale"),
    PlanLimitError: Failure(403, "plan_limit"),
    RateLimitedError: Failure(429, "rate_limited"),
    UnavailableError: Failure(503, "unavailable"),
    PayloadTooLargeError: Failure(413, "too_large"),
    exceptions.ValidationError: Failure(400, "invalid"),
}


def register_failures(failures: Mapping[type[Exception], Failure]) -> None:
    """Register the responses to an app's own exceptions and their subclasses."""
    _failures.update(failures)


def failure_of(error: type[Exception]) -> Failure:
    """Return the response to exceptions of this class. DRF's own exceptions have a status and no code."""
    for base in error.__mro__:
        if base in _failures:
            return _failures[base]
    if issubclass(error, exceptions.APIException):
        return Failure(error.status_code)
    raise LookupError(f"{error.__name__} is not registered by register_failures.")


def handle_exception(exc: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. Returns None for a programming error, which Django then answers with 500."""
    if isinstance(exc, Http404):
        exc = MissingError()
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied()
    elif isinstance(exc, RequestDataTooBig):
        exc = PayloadTooLargeError("The body is too large.")
    elif is_unavailable(exc):
        log.warning("unavailable", extra={"reason": str(exc)})
        exc = UnavailableError()
    return error_response(exc) if isinstance(exc, DomainError | exceptions.APIException) else None


def error_response(exc: DomainError | exceptions.APIException) -> Response:
    """The error response of an API view."""
    return Response(_body(exc), status=_status(exc), headers=_headers(exc))


def plain_error_response(exc: DomainError | exceptions.APIException) -> HttpResponse:
    """The same error response for a view outside of DRF, which renders nothing."""
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
    if _status(exc) == status.HTTP_401_UNAUTHORIZED:  # RFC 9110, section 15.5.2: a 401 names its scheme
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(exc, DomainError) and exc.retry_after is not None:
        headers["Retry-After"] = str(exc.retry_after)
    return headers


def _body(exc: DomainError | exceptions.APIException) -> dict[str, Any]:
    if isinstance(exc, FieldError):
        return validation_body({exc.field: [exc.message]})
    failure = failure_of(type(exc))
    if isinstance(exc, DomainError):
        body: dict[str, Any] = {"error": exc.message}
    elif _status(exc) == status.HTTP_400_BAD_REQUEST:
        return validation_body(exc.detail)
    else:
        body = {"error": str(exc.detail)}
    if code := getattr(exc, "code", None) if failure.codes else failure.code:
        body["code"] = code
    if failure.has_success:
        body = {"success": False, **body}
    if isinstance(exc, DomainError) and exc.field:
        body["details"] = [{"field": exc.field, "message": exc.message}]
    if isinstance(exc, RateLimitedError):
        body["retryAfter"] = exc.retry_after
    return body


def validation_body(detail: Any) -> dict[str, Any]:
    """The body for a validation error. `detail` is nested by field and list index, as DRF builds it."""
    details = list(_flatten(detail, ""))
    first = details[0] if details else {"field": "", "message": "The request is not valid."}
    error = f"{first['field']}: {first['message']}" if first["field"] else first["message"]
    return {"error": error, "code": "invalid", "details": details}


def _flatten(detail: Any, path: str) -> Iterator[dict[str, str]]:
    """Yield each message with the dotted path of its field, such as `emails.0.email`."""
    if isinstance(detail, dict):
        for key, value in detail.items():
            # Errors of an object as a whole are reported under the path of the object itself.
            is_own = key == "non_field_errors"
            yield from _flatten(value, path if is_own else f"{path}.{key}" if path else str(key))
    elif isinstance(detail, list):
        for index, value in enumerate(detail):
            nested = isinstance(value, dict | list)
            if nested and not value:  # DRF adds an empty entry for each valid item of a list
                continue
            yield from _flatten(value, (f"{path}.{index}" if path else str(index)) if nested else path)
    else:
        yield {"field": path, "message": str(detail)}


def _json(body: dict[str, Any], status_code: int, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(dumps(body), content_type="application/json", status=status_code, headers=headers)


def too_large_response(limit: int) -> HttpResponse:
    """A 413 response with the limit in its message."""
    size = f"{limit // (1024 * 1024)} MiB" if limit >= 1024 * 1024 else f"{limit} bytes"
    return _json({"error": f"The body is too large: at most {size}.", "code": "too_large"}, 413)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The response of Django's setting CSRF_FAILURE_VIEW."""
    return _json({"error": f"The CSRF check failed: {reason}", "code": "csrf"}, 403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler404."""
    return _json({"error": "There is nothing at this address."}, 404)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler400."""
    if isinstance(exception, DisallowedHost):
        return _json({"error": _host_error(request), "code": "host_not_allowed"}, 400)
    return _json({"error": "The request is malformed."}, 400)


def _host_error(request: HttpRequest) -> str:
    """The message names the settings to change: people who set up an instance often try it under another host first."""
    host = request.META.get("HTTP_HOST", "")
    domain, _ = split_domain_port(host)  # empty for an invalid host
    if not domain or len(host) > _MAX_HOST_LENGTH:
        return "The Host header is malformed."
    return (
        f"This service does not answer under the host {domain}, which is neither the one of BASE_URL nor in "
        f"ALLOWED_HOSTS. If it is yours, set ALLOWED_HOSTS={domain}, or BASE_URL={request.scheme}://{host} to have "
        "links lead there, too, and start again."
    )


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Django's handler403."""
    return _json({"error": "This is not allowed."}, 403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500, also for errors of middleware and the admin.

    The response reveals no details; the log has them under the request's id.
    """
    error = sys.exc_info()[1]  # Django calls the handler without the exception, but while it handles it
    if error is not None and is_unavailable(error):
        return plain_error_response(UnavailableError())
    return _json({"error": "Something went wrong on our side. The failure has been logged."}, 500)
