"""JSON is compressed if the client accepts it, with strong ETags that are accepted in any coding."""

import zlib
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.test import RequestFactory

from accounts.models import User
from contacts_project.kernel import zstd
from contacts_project.kernel.api.compression import MIN_BYTES, CompressionMiddleware, choose_coding
from tests.builders import make_person
from tests.client import Client

WEBHOOK = {"type": "WEBHOOK", "label": "mine", "url": "https://127.0.0.1/"}
DECODE: dict[str, Callable[[bytes], bytes]] = {
    "": lambda body: body,
    "gzip": lambda body: zlib.decompress(body, wbits=31),
    "zstd": zstd.decompress,
}


def read(api: Client, path: str, coding: str, **headers: str) -> tuple[Any, bytes]:
    response: Any = api.get(path, headers={"Accept-Encoding": coding, **headers})
    return response, b"".join(response.streaming_content) if response.streaming else response.content


@pytest.mark.parametrize("path", ["/api/people", "/api/people?includeAll=true"])
def test_each_coding_has_its_own_strong_etag_and_all_are_accepted(api: Client, alice: User, path: str) -> None:
    for number in range(30):
        make_person(alice, name=f"Ada {number}")
    responses = {coding: read(api, path, coding) for coding in DECODE}
    plain = responses[""][1]
    tags = {coding: response["ETag"] for coding, (response, _) in responses.items()}
    assert len(set(tags.values())) == 3
    assert not any(tag.startswith("W/") for tag in tags.values())
    for coding, (response, body) in responses.items():
        assert response.get("Content-Encoding", "") == coding
        assert "Accept-Encoding" in response["Vary"]
        assert DECODE[coding](body) == plain
        assert len(body) == len(plain) if not coding else len(body) < len(plain) / 2
        assert coding == "" or response.get("Content-Length") in {None, str(len(body))}
        for asked in DECODE:
            again, _ = read(api, path, asked, **{"If-None-Match": f'"other", {tags[coding]}'})
            assert (again.status_code, again["ETag"]) == (304, tags[coding])
            assert "Accept-Encoding" in again["Vary"]
    api.ok("POST", "/api/people", {"name": "Grace"}, status=201)
    assert read(api, path, "gzip", **{"If-None-Match": ", ".join(tags.values())})[0].status_code == 200


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate", "gzip"),
        ("GZIP;q=0.5, zstd;q=0.1", "gzip"),
        ("gzip;q=0, zstd;q=0", None),
        ("*", "gzip"),
        ("*;q=0", None),
        ("identity", None),
        ("br", None),
        ("gzip;q=high", None),
        ("", None),
    ],
)
def test_coding_is_negotiated_by_accept_encoding(accepted: str, coding: str | None) -> None:
    assert choose_coding(accepted) == coding


def compress(response: HttpResponse | StreamingHttpResponse, **headers: str) -> Any:
    request = RequestFactory().get("/", headers={"Accept-Encoding": "gzip", **headers})
    return CompressionMiddleware(lambda _: response)(request)


@pytest.mark.parametrize(
    "response",
    [
        JsonResponse({"text": "x" * (MIN_BYTES - 20)}),
        JsonResponse({"text": "x" * MIN_BYTES}, headers={"Cache-Control": "no-store"}),
        JsonResponse({"text": "x" * MIN_BYTES}, headers={"Content-Encoding": "br"}),
        HttpResponse("x" * MIN_BYTES, content_type="text/html"),
        HttpResponse("x" * MIN_BYTES, content_type="image/jpeg"),
        StreamingHttpResponse([b'"', b"x" * 1000, b'"'], content_type="application/json"),
    ],
    ids=["short", "secret", "encoded", "page", "picture", "short stream"],
)
def test_short_secret_and_other_responses_are_not_compressed(response: HttpResponse | StreamingHttpResponse) -> None:
    before = b"x" * 900
    left = compress(response)
    assert left.get("Content-Encoding") in {None, "br"}
    assert before in left.getvalue()


def test_coding_suffix_is_removed_from_conditional_headers() -> None:
    seen: list[str] = []

    def view(request: Any) -> HttpResponse:
        seen.extend((request.headers["If-Match"], request.headers["If-None-Match"]))
        return HttpResponse()

    request = RequestFactory().get("/", headers={"If-Match": '"a-gzip", "b"', "If-None-Match": 'W/"c-zstd"'})
    CompressionMiddleware(view)(request)
    assert seen == ['"a", "b"', 'W/"c"']


@pytest.mark.parametrize(
    ("method", "path", "body", "secret"),
    [
        ("GET", "/api/auth/csrf", None, "csrfToken"),
        ("POST", "/api/user/api-tokens", {"name": "t" * 100}, "token"),
        ("POST", "/api/user/mfa/totp", {}, "otpauthUrl"),
        (
            "POST",
            "/api/notifications/endpoints",
            {"type": "WEBHOOK", "label": "x", "url": "https://127.0.0.1/"},
            "secret",
        ),
    ],
)
def test_secrets_are_neither_stored_nor_compressed(
    alice: User, settings: Any, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: Any, secret: str
) -> None:
    settings.OUTBOUND_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("contacts_project.kernel.api.compression.MIN_BYTES", 1)
    client = Client()
    client.force_login(alice)
    response = client.call(method, path, body, headers={"Accept-Encoding": "gzip"})
    assert secret.encode() in response.content
    assert (response.get("Content-Encoding"), response["Cache-Control"]) == (None, "no-store")


def test_responses_without_etag_are_compressed(api: Client) -> None:
    assert api.get("/api/openapi.json", headers={"Accept-Encoding": "gzip"})["Content-Encoding"] == "gzip"
