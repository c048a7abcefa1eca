"""Browser clients of other sites: what they may send, and what they may read (CORS)."""

from typing import Any

import pytest

from tests.client import Client

OTHER_ORIGIN = "https://app.example.org"


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.CORS_ALLOWED_ORIGINS = [OTHER_ORIGIN]


def preflight(origin: str, *headers: str) -> Any:
    """Send the preflight request of a browser before a PUT with these headers."""
    return Client().options(
        "/api/people/x",
        HTTP_ORIGIN=origin,
        HTTP_ACCESS_CONTROL_REQUEST_METHOD="PUT",
        HTTP_ACCESS_CONTROL_REQUEST_HEADERS=",".join(headers),
    )


def split_header(header: str) -> set[str]:
    return {word.strip().lower() for word in header.split(",")}


def test_preflight_allows_methods_and_headers_of_the_api() -> None:
    headers = {"authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "x-csrftoken"}
    response = preflight(OTHER_ORIGIN, *headers)
    assert (response.status_code, response["Access-Control-Allow-Origin"]) == (200, OTHER_ORIGIN)
    assert response["Access-Control-Allow-Credentials"] == "true"
    assert split_header(response["Access-Control-Allow-Headers"]) >= headers
    assert "PUT" in response["Access-Control-Allow-Methods"]


def test_response_exposes_its_headers(api: Client) -> None:
    response = api.call("get", "/api/people", HTTP_ORIGIN=OTHER_ORIGIN)
    assert split_header(response["Access-Control-Expose-Headers"]) >= {
        "etag",
        "idempotent-replayed",
        "retry-after",
        "x-request-id",
    }


def test_other_origins_get_no_cors_headers() -> None:
    assert "Access-Control-Allow-Origin" not in preflight("https://evil.example.org", "content-type")
