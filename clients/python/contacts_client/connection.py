"""A signed-in connection to the service: requests with retries, paged lists, and the stream of revisions."""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx

JSON = dict[str, Any]

TIMEOUT_SECONDS = 30.0
# The service sends a comment every 15 seconds: a stream without data for three times as long is broken.
STREAM_TIMEOUT_SECONDS = 45.0
MAX_ATTEMPTS = 6
_MAX_PAUSE_SECONDS = 60.0
_RETRYABLE_STATUSES = {429, 502, 503, 504}
#: Paths whose POSTs accept no Idempotency-Key: their responses contain secrets, are streams, or sign in. If a response
#: is lost, the request is not repeated, since it may have been executed. A test compares this with the API description.
PATHS_WITHOUT_KEY = (
    "/api/actions/",
    "/api/auth/",
    "/api/calendar-feeds",
    "/api/carddav/backup",
    "/api/carddav/sync",
    "/api/notifications/endpoints",
    "/api/photos/convert",
    "/api/unsubscribe",
    "/api/user/api-tokens",
    "/api/user/import/validate",
    "/api/user/mfa/",
)


class RefusedError(Exception):
    """An error response of the service: `status`, its `code` if there is one, and the whole `body`."""

    def __init__(self, status: int, body: JSON) -> None:
        super().__init__(f"{status}: {body.get('error', '')}")
        self.status = status
        self.body = body
        self.code: str | None = body.get("code")


class RetryingTransport(httpx.BaseTransport):
    """Repeats a request, with the same Idempotency-Key, while the network or the service is not available.

    Pauses double from half a second to a minute, with random jitter, so that clients do not all return at once. A
    longer Retry-After is respected. Also usable for the generated routes:
    `AuthenticatedClient(base_url, token, httpx_args={"transport": RetryingTransport()})`.
    """

    def __init__(
        self,
        inner: httpx.BaseTransport | None = None,
        *,
        attempts: int = MAX_ATTEMPTS,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.inner = inner or httpx.HTTPTransport()
        self.attempts = attempts
        self.sleep = sleep

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        is_repeatable = request.method != "POST" or not request.url.path.startswith(PATHS_WITHOUT_KEY)
        if request.method == "POST" and is_repeatable:
            request.headers.setdefault("Idempotency-Key", str(uuid4()))
        for attempt in range(1, self.attempts + 1):
            retry_after = 0.0
            try:
                response = self.inner.handle_request(request)
            except httpx.TransportError as error:
                # A request that failed to connect was not sent: repeating it is always safe.
                if attempt == self.attempts or not (is_repeatable or isinstance(error, httpx.ConnectError)):
                    raise
            else:
                if attempt == self.attempts or not self._is_retryable(response):
                    return response
                retry_after = _retry_after(response)
                response.close()
            pause = min(2.0**attempt / 4, _MAX_PAUSE_SECONDS) * random.uniform(0.5, 1.5)  # noqa: S311 - no secret
            self.sleep(max(retry_after, pause))
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        self.inner.close()

    def _is_retryable(self, response: httpx.Response) -> bool:
        """Whether the request had no effect, or an earlier attempt with the same key is still running."""
        if response.status_code == 409:
            response.read()
            return bool(body_of(response).get("code") == "in_progress")
        return response.status_code in _RETRYABLE_STATUSES


def _retry_after(response: httpx.Response) -> float:
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdigit() else 0.0


class Connection:
    """Sends requests with the token of an account. Use it as a context manager, or close it."""

    def __init__(self, base_url: str, token: str, *, transport: httpx.BaseTransport | None = None) -> None:
        self.token = token
        self._http = httpx.Client(
            base_url=base_url,
            headers={"Authorization": f"Bearer {token}"},
            transport=transport or RetryingTransport(),
            timeout=TIMEOUT_SECONDS,
        )

    @classmethod
    def sign_in(
        cls, base_url: str, *, email: str, password: str, name: str, code: str | None = None, scope: str = "READ_WRITE"
    ) -> Self:
        """Create a token for this device, which the account lists under `name`. Store `token`: it is not shown again.

        Raises RefusedError: 401 `invalid_credentials`, or `mfa_required`; in that case call it again with `code`.
        """
        body = {"email": email, "password": password, "name": name, "scope": scope, **({"code": code} if code else {})}
        with cls(base_url, "") as anonymous:
            anonymous._http.headers.pop("Authorization")
            response = anonymous.request("POST", "/api/auth/token", body)
        return cls(base_url, str(require_success(response)["apiToken"]["token"]))

    def sign_out(self) -> None:
        """Revoke the token."""
        self.ask("DELETE", "/api/auth/token")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the network connections. The token stays valid."""
        self._http.close()

    def request(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, **query: Any
    ) -> httpx.Response:
        """Return the response with any status. Raises httpx.TransportError if there is none."""
        parameters = {name: value for name, value in query.items() if value is not None}
        return self._http.request(method, path, json=body, headers=headers, params=parameters or None)

    def ask(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, **query: Any
    ) -> JSON:
        """Return the body of a successful response. Raises RefusedError."""
        return require_success(self.request(method, path, body, headers=headers, **query))

    def pages(self, path: str, name: str, **query: Any) -> Iterator[JSON]:
        """Return all records of a paged list, which may use `offset` or `cursor`. Raises RefusedError."""
        while True:
            page = self.ask("GET", path, **query)
            yield from page[name]
            pagination = page.get("pagination", page)
            if not pagination.get("hasMore"):
                return
            query |= (
                {"cursor": page["cursor"]} if "cursor" in page else {"offset": pagination["offset"] + len(page[name])}
            )

    def revisions(self) -> Iterator[int]:
        """Yield the account's revision, at first and after each change, until the stream ends.

        Raises RefusedError, httpx.TransportError.
        """
        timeout = httpx.Timeout(TIMEOUT_SECONDS, read=STREAM_TIMEOUT_SECONDS)
        with self._http.stream("GET", "/api/changes/stream", timeout=timeout) as response:
            if response.is_error:
                response.read()
                require_success(response)
            for line in response.iter_lines():
                if line.startswith("data:"):
                    yield int(json.loads(line.removeprefix("data:"))["revision"])


def body_of(response: httpx.Response) -> JSON:
    """Return the body, or an empty one if it is no JSON object, such as the error page of a proxy."""
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def require_success(response: httpx.Response) -> JSON:
    """Return the body. Raises RefusedError for an error response."""
    body = body_of(response)
    if response.is_error:
        raise RefusedError(response.status_code, body)
    return body
