"""One shape for every failure: `{ error, code?, details? }` (open points, section 1)."""

import logging
import sys
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import DisallowedHost, PermissionDenied, RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import split_domain_port
from rest_framework import exceptions, status
from rest_framework.response import Response

from contacts_project.kernel.api.json import dumps
from contacts_project.kernel.api.unavailable import is_unavailable

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


class ApiError(exceptions.APIException):
    """A refusal with the contract's status and code. Services' own exceptions derive from it.

    With `field` the answer's `details` name it, as for any other validation failure; with `retry_after` (seconds) the
    answer says when to come again.
    """

    status_code: int = status.HTTP_400_BAD_REQUEST
    code: str | None = None
    retry_after: int | None = None
    codes: tuple[str, ...] = ()  # where each instance has one of several
    message = "The request cannot be carried out."

    def __init__(
        self,
        message: str | None = None,
        *,
        code: str | None = None,
        status_code: int | None = None,
        field: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        self.message = message or self.message
        self.field = field
        self.retry_after = retry_after
        self.code = code or self.code
        self.status_code = status_code or self.status_code
        super().__init__(self.message)


class FieldError(exceptions.ValidationError):
    """A 400 that names one field (dotted path) and says what is wrong with it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__({field: [message]})


class NotDeletedError(ApiError):
    """Restore or permanent deletion of a record that is not in the trash."""

    code = "not_deleted"
    message = "This record has not been deleted: delete it first."


class PlanLimitError(ApiError):
    """The account's plan allows no more of these."""

    status_code: int = status.HTTP_403_FORBIDDEN
    code = "plan_limit"


class RateLimitedError(ApiError):
    """Too many requests of one kind; `retry_after` in seconds."""

    status_code: int = status.HTTP_429_TOO_MANY_REQUESTS
    code = "rate_limited"
    retry_after: int

    def __init__(self, retry_after: int, message: str | None = None) -> None:
        seconds = max(1, retry_after)
        super().__init__(message or f"Too many requests. Try again in {seconds} seconds.", retry_after=seconds)


class UnavailableError(ApiError):
    """The service cannot do it now, and kept nothing of it; `retry_after` in seconds."""

    status_code: int = status.HTTP_503_SERVICE_UNAVAILABLE
    code = "unavailable"
    message = "The service is busy, or a part of it is away. Nothing was changed: try again in a few seconds."

    def __init__(self, message: str | None = None, *, retry_after: int = 5) -> None:
        super().__init__(message, retry_after=retry_after)


class PayloadTooLargeError(ApiError):
    """A body or file over its limit."""

    status_code: int = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    code = "too_large"


def answer_exception(exc: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: every failure that has a status, in the one shape."""
    if isinstance(exc, Http404):
        exc = exceptions.NotFound()
    elif isinstance(exc, PermissionDenied):
        exc = exceptions.PermissionDenied()
    elif isinstance(exc, RequestDataTooBig):
        exc = PayloadTooLargeError("The body is too large.")
    elif is_unavailable(exc):
        log.warning("unavailable", extra={"reason": str(exc)})
        exc = UnavailableError()
    if not isinstance(exc, exceptions.APIException):
        return None
    headers = _headers(exc)
    return Response(_body(exc), status=_status(exc), headers=headers)


def _status(exc: exceptions.APIException) -> int:
    if isinstance(exc, exceptions.UnsupportedMediaType) and not _is_known_media_type(exc):
        return status.HTTP_400_BAD_REQUEST
    return exc.status_code


def _is_known_media_type(exc: exceptions.UnsupportedMediaType) -> bool:
    sent = str(exc.detail).partition('"')[2].partition('"')[0]
    return sent.partition("/")[0].strip().lower() in _KNOWN_MAIN_TYPES


def _headers(exc: exceptions.APIException) -> dict[str, str]:
    headers: dict[str, str] = {}
    if _status(exc) == status.HTTP_401_UNAUTHORIZED:  # RFC 9110, section 15.5.2: a 401 names its scheme
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(exc, ApiError) and exc.retry_after is not None:
        headers["Retry-After"] = str(exc.retry_after)
    return headers


def _body(exc: exceptions.APIException) -> dict[str, Any]:
    if isinstance(exc, ApiError):
        body: dict[str, Any] = {"error": exc.message}
        if exc.code:
            body["code"] = exc.code
        if exc.field:
            body["details"] = [{"field": exc.field, "message": exc.message}]
        if isinstance(exc, RateLimitedError):
            body["retryAfter"] = exc.retry_after
        return body
    if _status(exc) == status.HTTP_400_BAD_REQUEST:
        return validation_body(exc.detail)
    return {"error": str(exc.detail)}


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
        refusal = UnavailableError()
        return _json(_body(refusal), refusal.status_code, _headers(refusal))
    return _json({"error": "Something went wrong on our side. The failure has been logged."}, 500)
