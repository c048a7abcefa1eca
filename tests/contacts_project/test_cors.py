"""Browser clients of other sites: what they may send, and what they may read (CORS)."""

from typing import Any

import pytest

from tests.client import Client

ELSEWHERE = "https://app.example.org"


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.CORS_ALLOWED_ORIGINS = [ELSEWHERE]


def preflight(origin: str, *headers: str) -> Any:
    """What a browser sends before a PUT with these headers."""
    return Client().options(
        "/api/people/x",
        HTTP_ORIGIN=origin,
        HTTP_ACCESS_CONTROL_REQUEST_METHOD="PUT",
        HTTP_ACCESS_CONTROL_REQUEST_HEADERS=",".join(headers),
    )


def words(header: str) -> set[str]:
    return {word.strip().lower() for word in header.split(",")}


def test_a_preflight_allows_what_clients_of_the_contract_send() -> None:
    headers = {"authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "x-csrftoken"}
    response = preflight(ELSEWHERE, *headers)
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (200, ELSEWHERE)
    assert response["Access-Control-Allow-Credentials"] == "true"
    assert words(response["Access-Control-Allow-Headers"]) >= headers
    assert "PUT" in response["Access-Control-Allow-Methods"]


def test_an_answer_lets_them_read_its_headers(api: Client) -> None:
    response = api.call("get", "/api/people", HTTP_ORIGIN=ELSEWHERE)
    assert words(response["Access-Control-Expose-Headers"]) >= {
        "etag",
        "idempotent-replayed",
        "retry-after",
        "x-request-id",
    }


def test_other_sites_are_told_nothing() -> None:
    assert "Access-Control-Allow-Origin" not in preflight("https://evil.example.org", "content-type")
