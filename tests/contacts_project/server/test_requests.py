"""Which requests the server accepts, their maximum sizes, and the errors that it sends itself."""

from collections.abc import Iterator

import orjson
import pytest
import requests
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse, JsonResponse
from django.urls import resolve

from accounts.models.tokens import new_token
from contacts_project.kernel.api.body_limit import BodyLimitMiddleware
from contacts_project.server.bodies import MAX_DISCARDED_BYTES
from tests.contacts_project.server.server_thread import RunningServer, read_response, serve_views


def echo(request: WSGIRequest) -> HttpResponse:
    """Return what was received. As in the service, bodies that are too large are refused."""

    view = resolve(request.path).func
    refusal = BodyLimitMiddleware(lambda request: HttpResponse()).process_view(request, view, (), {})
    if refusal is not None:
        assert isinstance(refusal, HttpResponse)
        return refusal
    return JsonResponse(
        {
            "length": len(request.body),
            "address": request.META["REMOTE_ADDR"],
            "forwarded": request.headers.get("X-Forwarded-For", ""),
            "host": request.META["HTTP_HOST"],
            "groups": len(request.GET.get("groupIds", "").split(",")),
        }
    )


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with serve_views({"/api/people": echo, "/api/vcard/import": echo, "/api/user/import": echo}) as served:
        yield served


@pytest.mark.parametrize(
    ("path", "limit"),
    [("people", "MAX_JSON_BYTES"), ("vcard/import", "MAX_VCARD_BYTES"), ("user/import", "MAX_IMPORT_BYTES")],
)
def test_chunked_bodies_have_the_same_limits(server: RunningServer, path: str, limit: str) -> None:
    url, most = f"{server.base}/api/{path}", getattr(settings, limit)
    with requests.Session() as session:  # one connection, which stays open after the refusals
        session.headers["Authorization"] = f"Bearer {new_token()}"
        assert session.post(url, data=iter([b"x" * 1000] * 3)).json()["length"] == 3000
        assert session.post(url, data=iter([b"x" * (most // 4)] * 4)).json()["length"] == most
        too_much = session.post(url, data=iter([b"x" * (most // 4)] * 4 + [b"y"]))
        assert (too_much.status_code, too_much.json()["code"]) == (413, "too_large")
        assert session.post(url, data=b"x" * (most + 1)).status_code == 413
        assert session.post(url, data=b"x" * 10).json()["length"] == 10


def test_expect_continue_with_a_too_large_body_is_refused_at_once(server: RunningServer) -> None:
    head = "POST /api/people HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n"
    status, headers, _ = read_response(server.connect(head.encode()).makefile("rb"))
    assert (status, headers["connection"]) == (413, "close")
    short = server.connect(head.replace("2000000", "2").encode())
    assert short.recv(100).startswith(b"HTTP/1.1 100 ")
    short.sendall(b"{}")
    assert orjson.loads(read_response(short.makefile("rb"))[2])["length"] == 2


def test_huge_body_is_refused_without_reading_it(server: RunningServer) -> None:
    head = f"POST /api/people HTTP/1.1\r\nHost: a\r\nContent-Length: {MAX_DISCARDED_BYTES + 1}\r\n\r\n"
    status, headers, _ = read_response(server.connect(head.encode()).makefile("rb"))
    assert (status, headers["connection"]) == (413, "close")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (
            "POST /api/people HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        ("POST /api/people HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("POST /api/people HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400),
        ("POST /api/people HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        ("GET /api/people HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n", 400),
        ("GET /api/people HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("nonsense\r\n\r\n", 400),
        ("GET /api/people?" + "x" * 40_000 + " HTTP/1.1\r\nHost: a\r\n\r\n", 431),
        ("GET /api/people HTTP/1.1\r\nHost: a\r\nX: " + "y" * 400_000, 431),
    ],
)
def test_ambiguous_and_too_long_heads_end_the_connection(server: RunningServer, head: str, status: int) -> None:
    connection = server.connect(head.encode())
    got, headers, body = read_response(connection.makefile("rb"))
    assert (got, headers["content-type"], headers["connection"]) == (status, "application/json", "close")
    assert orjson.loads(body)["error"]
    assert headers["x-request-id"]
    assert headers["cache-control"] == "no-store"


def test_a_hundred_group_ids_fit_into_a_url(server: RunningServer) -> None:
    ids = ",".join(["01a201b4-1b7b-716c-a8d6-bb286dd1e7c7" + "x" * 40] * 100)
    response = requests.get(f"{server.base}/api/people?groupIds={ids}").json()
    assert (len(ids), response["groups"]) == (7_699, 100)


def test_remote_address_cannot_be_forged_by_headers(server: RunningServer) -> None:
    """The address is the peer's, and X_Forwarded_For, which proxies pass on, is not read as X-Forwarded-For."""
    headers = {"X-Forwarded-For": "192.0.2.1", "X_Forwarded_For": "192.0.2.2", "Remote-Addr": "192.0.2.3"}
    response = requests.get(f"{server.base}/api/people", headers=headers).json()
    assert (response["address"], response["forwarded"]) == ("127.0.0.1", "192.0.2.1")


def test_pipelined_requests_are_answered_in_order(server: RunningServer) -> None:
    one = "POST /api/people HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {2}\r\nContent-Length: {0}\r\n\r\n{1}"
    file = server.connect(
        "".join(one.format(size, "x" * size, new_token()) for size in (3, 0, 70_000, 5)).encode()
    ).makefile("rb")
    with file:
        assert [orjson.loads(read_response(file)[2])["length"] for _ in range(4)] == [3, 0, 70_000, 5]


@pytest.mark.parametrize(
    "target", ["/api/people", "http://{}/api/people", "HTTP://{}/api/p%65ople", "https://{}/api/people"]
)
def test_a_target_may_be_a_url(server: RunningServer, target: str) -> None:
    """RFC 9112, 3.2.2: then its host counts, whatever Host says; and its path as any other, limits included."""
    named = "other.example:81" if "{}" in target else "header.example"
    head = f"POST {target.format(named)}?groupIds=a,b HTTP/1.1\r\nHost: header.example\r\nContent-Length: 10\r\n\r\n"
    status, _, body = read_response(server.connect(head.encode() + b"0123456789").makefile("rb"))
    received = orjson.loads(body)
    assert (status, received["host"], received["length"], received["groups"]) == (200, named, 10, 2)
