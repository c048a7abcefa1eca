"""One signed-in connection to the service: requests that are sent until they are answered, pages, and the stream."""

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
# The service sends a comment every 15 seconds; a stream that is silent for longer is dead.
STREAM_SECONDS = 45.0
ATTEMPTS = 6
_LONGEST_PAUSE = 60.0
_BUSY = {429, 502, 503, 504}
#: POSTs that take no Idempotency-Key: their answers show secrets, stream, or sign in. One whose answer was lost is not
#: sent again, since it may have been carried out. A test holds this against the API description.
UNKEYED = (
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
    """The service refused: `status`, its `code` where there is one, and the whole body."""

    def __init__(self, status: int, body: JSON) -> None:
        super().__init__(f"{status}: {body.get('error', '')}")
        self.status = status
        self.body = body
        self.code: str | None = body.get("code")


class RetryingTransport(httpx.BaseTransport):
    """Sends a request again while the network or the service is away, under the same Idempotency-Key.

    Pauses double from half a second to a minute, with chance in them so that clients do not come back in step;
    Retry-After counts where it is longer. Usable below the generated routes, too:
    `AuthenticatedClient(base_url, token, httpx_args={"transport": RetryingTransport()})`.
    """

    def __init__(
        self,
        inner: httpx.BaseTransport | None = None,
        *,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self.inner = inner or httpx.HTTPTransport()
        self.attempts = attempts
        self.sleep = sleep

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        is_repeatable = request.method != "POST" or not request.url.path.startswith(UNKEYED)
        if request.method == "POST" and is_repeatable:
            request.headers.setdefault("Idempotency-Key", str(uuid4()))
        for attempt in range(1, self.attempts + 1):
            wanted = 0.0
            try:
                response = self.inner.handle_request(request)
            except httpx.TransportError as error:
                # Who could not connect has sent nothing.
                if attempt == self.attempts or not (is_repeatable or isinstance(error, httpx.ConnectError)):
                    raise
            else:
                if attempt == self.attempts or not self._is_for_later(response):
                    return response
                wanted = _retry_after(response)
                response.close()
            self.sleep(max(wanted, min(2.0**attempt / 4, _LONGEST_PAUSE) * random.uniform(0.5, 1.5)))  # noqa: S311 - no secret
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        self.inner.close()

    def _is_for_later(self, response: httpx.Response) -> bool:
        """Nothing of the request was kept, or its twin is still under way."""
        if response.status_code == 409:
            response.read()
            return bool(body_of(response).get("code") == "in_progress")
        return response.status_code in _BUSY


def _retry_after(response: httpx.Response) -> float:
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdigit() else 0.0


class Connection:
    """Requests of one account, by its token. Use it as a context manager, or close it."""

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
        """Make a token for this device, which the account lists under `name`; keep `token`, it is shown this once.

        Raises RefusedError: 401 `invalid_credentials`, or `mfa_required`, then once more with `code`.
        """
        body = {"email": email, "password": password, "name": name, "scope": scope, **({"code": code} if code else {})}
        with cls(base_url, "") as nobody:
            nobody._http.headers.pop("Authorization")
            made = nobody.request("POST", "/api/auth/token", body)
        return cls(base_url, str(success(made)["apiToken"]["token"]))

    def sign_out(self) -> None:
        """End the token."""
        self.ask("DELETE", "/api/auth/token")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up the connections. The token stays good."""
        self._http.close()

    def request(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, **query: Any
    ) -> httpx.Response:
        """The answer, whatever its status. Raises httpx.TransportError where none comes."""
        parameters = {name: value for name, value in query.items() if value is not None}
        return self._http.request(method, path, json=body, headers=headers, params=parameters or None)

    def ask(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, **query: Any
    ) -> JSON:
        """The body of a success. Raises RefusedError."""
        return success(self.request(method, path, body, headers=headers, **query))

    def pages(self, path: str, name: str, **query: Any) -> Iterator[JSON]:
        """The records of a list, page by page, whether it goes by `offset` or by `cursor`. Raises RefusedError."""
        while True:
            page = self.ask("GET", path, **query)
            yield from page[name]
            told = page.get("pagination", page)
            if not told.get("hasMore"):
                return
            query |= {"cursor": page["cursor"]} if "cursor" in page else {"offset": told["offset"] + len(page[name])}

    def revisions(self) -> Iterator[int]:
        """The account's revision, now and after each change, until the stream ends. Raises httpx.TransportError."""
        timeout = httpx.Timeout(TIMEOUT_SECONDS, read=STREAM_SECONDS)
        with self._http.stream("GET", "/api/changes/stream", timeout=timeout) as response:
            if response.is_error:
                response.read()
                success(response)
            for line in response.iter_lines():
                if line.startswith("data:"):
                    yield int(json.loads(line.removeprefix("data:"))["revision"])


def body_of(response: httpx.Response) -> JSON:
    """Empty where it is no JSON object, as of a proxy on the way."""
    try:
        found = response.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def success(response: httpx.Response) -> JSON:
    """The body. Raises RefusedError."""
    body = body_of(response)
    if response.is_error:
        raise RefusedError(response.status_code, body)
    return body
