"""One shape for every failure, `{ error, code?, details? }` (open points, section 1), and the status of each.

This is the one place that gives exceptions HTTP statuses and codes: services raise their own (DomainError).
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
_LONGEST_HOST = 260  # a domain name of 253 characters and a port

# Media types that this service knows: sent to an endpoint that does not take them they get 415, others 400.
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
    """How the API answers an exception. `codes`: what `code` of an instance can be, where instances differ.

    `has_success`: the body holds `success: false`, too.
    """

    status: int
    code: str | None = None
    codes: tuple[str, ...] = ()
    has_success: bool = False


class PayloadTooLargeError(exceptions.APIException):
    """A body or file over its limit."""


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
    """Say how an app's own exceptions are answered; their subclasses likewise."""
    _failures.update(failures)


def failure_of(error: type[Exception]) -> Failure:
    """How exceptions of this class are answered. DRF's own have a status, and no code."""
    for base in error.__mro__:
        if base in _failures:
            return _failures[base]
    if issubclass(error, exceptions.APIException):
        return Failure(error.status_code)
    raise LookupError(f"{error.__name__} is not registered by register_failures.")


def handle_exception(exc: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: every failure that has a status, in the one shape."""
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
    """The answer for what was refused."""
    return Response(_body(exc), status=_status(exc), headers=_headers(exc))


def plain_error_response(exc: DomainError | exceptions.APIException) -> HttpResponse:
    """The same of a view that is none of the API's."""
    return _json(_body(exc), _status(exc), _headers(exc))


def _status(exc: Exception) -> int:
    if isinstance(exc, exceptions.UnsupportedMediaType) and not _is_known_media_type(exc):
        return status.HTTP_400_BAD_REQUEST
    return failure_of(type(exc)).status


def _is_known_media_type(exc: exceptions.UnsupportedMediaType) -> bool:
    sent = str(exc.detail).partition('"')[2].partition('"')[0]
    return sent.partition("/")[0].strip().lower() in _KNOWN_MAIN_TYPES


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
    """The answer for a validation failure; `detail` as DRF nests it, by field and list index."""
    details = list(_flatten(detail, ""))
    first = details[0] if details else {"field": "", "message": "The request is not valid."}
    error = f"{first['field']}: {first['message']}" if first["field"] else first["message"]
    return {"error": error, "code": "invalid", "details": details}


def _flatten(detail: Any, path: str) -> Iterator[dict[str, str]]:
    if isinstance(detail, dict):
        for key, value in detail.items():
            own = key == "non_field_errors"
            yield from _flatten(value, path if own else f"{path}.{key}" if path else str(key))
    elif isinstance(detail, list):
        for index, value in enumerate(detail):
            nested = isinstance(value, dict | list)
            if nested and not value:
                continue
            yield from _flatten(value, (f"{path}.{index}" if path else str(index)) if nested else path)
    else:
        yield {"field": path, "message": str(detail)}


def _json(body: dict[str, Any], status_code: int, headers: dict[str, str] | None = None) -> HttpResponse:
    return HttpResponse(dumps(body), content_type="application/json", status=status_code, headers=headers)


def too_large_response(limit: int) -> HttpResponse:
    """413, with the limit in words."""
    size = f"{limit // (1024 * 1024)} MiB" if limit >= 1024 * 1024 else f"{limit} bytes"
    return _json({"error": f"The body is too large: at most {size}.", "code": "too_large"}, 413)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's CSRF_FAILURE_VIEW."""
    return _json({"error": f"The CSRF check failed: {reason}", "code": "csrf"}, 403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """handler404."""
    return _json({"error": "There is nothing at this address."}, 404)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """handler400."""
    if isinstance(exception, DisallowedHost):
        return _json({"error": _host_error(request), "code": "host_not_allowed"}, 400)
    return _json({"error": "The request is malformed."}, 400)


def _host_error(request: HttpRequest) -> str:
    """For whoever sets an instance up: a container or an address of the local network is tried first."""
    host = request.META.get("HTTP_HOST", "")
    domain, _ = split_domain_port(host)  # empty for what is no host
    if not domain or len(host) > _LONGEST_HOST:
        return "The Host header is malformed."
    return (
        f"This service does not answer under the host {domain}, which is neither the one of BASE_URL nor in "
        f"ALLOWED_HOSTS. If it is yours, set ALLOWED_HOSTS={domain}, or BASE_URL={request.scheme}://{host} to have "
        "links lead there, too, and start again."
    )


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """handler403."""
    return _json({"error": "This is not allowed."}, 403)


def server_error(request: HttpRequest) -> HttpResponse:
    """handler500: says nothing of the inside; the log has it under the request's id.

    Django calls it while it handles what no view has answered, what its middleware and the admin raise included.
    """
    error = sys.exc_info()[1]
    if error is not None and is_unavailable(error):
        return plain_error_response(UnavailableError())
    return _json({"error": "Something went wrong on our side. The failure has been logged."}, 500)
