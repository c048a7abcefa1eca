"""Retries of the Python client. The programs of docs/clients.md and clients/python/examples use the rest of it."""

from collections.abc import Iterator

import httpx
import pytest
from contacts_client import Connection, RefusedError
from contacts_client.connection import RetryingTransport

Outcome = httpx.Response | httpx.TransportError
CREATED = httpx.Response(201, json={"person": {}})


class Network(httpx.BaseTransport):
    """Gives each request the next outcome. Requests and pauses are kept."""

    def __init__(self, *outcomes: Outcome) -> None:
        self.outcomes: Iterator[Outcome] = iter(outcomes)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        outcome = next(self.outcomes)
        if isinstance(outcome, httpx.TransportError):
            raise outcome
        return outcome

    def post(self, path: str) -> httpx.Response:
        transport = RetryingTransport(self, attempts=3, sleep=self.pauses.append)
        with Connection("http://127.0.0.1", "t", transport=transport) as connection:
            return connection.request("POST", path, {})


@pytest.mark.parametrize(
    "fault",
    [
        httpx.ConnectError("the tunnel"),
        httpx.ReadError("the tunnel"),
        httpx.Response(503),
        httpx.Response(409, json={"error": "Later", "code": "in_progress"}),
    ],
    ids=["unsent", "unanswered", "503", "in progress"],
)
def test_request_is_repeated_under_the_same_key(fault: Outcome) -> None:
    network = Network(fault, CREATED)
    assert network.post("/api/people").status_code == 201
    (key,) = {request.headers["Idempotency-Key"] for request in network.requests}
    assert (bool(key), len(network.requests), len(network.pauses)) == (True, 2, 1)


def test_longer_retry_after_is_waited_out() -> None:
    network = Network(httpx.Response(429, headers={"Retry-After": "7"}), CREATED)
    assert network.post("/api/people").status_code == 201
    assert network.pauses == [7.0]


def test_last_attempt_answers_or_fails() -> None:
    assert Network(*[httpx.Response(503)] * 3).post("/api/people").status_code == 503
    with pytest.raises(httpx.ReadError):
        Network(*[httpx.ReadError("the tunnel")] * 3).post("/api/people")


def test_post_without_a_key_is_repeated_only_if_it_was_not_sent() -> None:
    assert Network(httpx.ConnectError("the tunnel"), CREATED).post("/api/auth/token").status_code == 201
    network = Network(httpx.ReadError("the tunnel"), CREATED)
    with pytest.raises(httpx.ReadError):
        network.post("/api/auth/token")
    assert "Idempotency-Key" not in network.requests[0].headers


@pytest.mark.parametrize("content", [{"text": "<html>"}, {"json": {"error": "No", "code": "no"}}])
def test_refusal_is_an_error_with_its_body(content: dict[str, object]) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(400, **content))  # type: ignore[arg-type]
    with (
        Connection("http://127.0.0.1", "t", transport=transport) as connection,
        pytest.raises(RefusedError) as refused,
    ):
        connection.ask("GET", "/api/people")
    assert (refused.value.status, refused.value.body) == (400, content.get("json", {}))
