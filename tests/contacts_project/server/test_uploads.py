"""Uploads are counted for their account and address from the first byte: those of strangers are small and short, and
one that is too slow or too much is dropped, alone."""

import asyncio
import select
import socket
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from io import BytesIO
from itertools import pairwise
from typing import Any

import h11
import orjson
import pytest
import requests
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from PIL import Image

from accounts.models import User
from accounts.models.tokens import new_token
from contacts_project.kernel.api.asgi_responses import EventStream
from contacts_project.operation import health
from contacts_project.server import bodies
from contacts_project.server.bodies import MIB, STRANGER_BYTES, BodySpace, Holder, Spool
from contacts_project.server.connection import DATA_EVENTS_PER_TURN, FIRST_DATA_EVENTS
from contacts_project.server.request_head import Caller
from tests.builders import make_token, make_user
from tests.concurrency import wait_until
from tests.contacts_project.server.server_thread import RunningServer, read_response, serve_views, serve_whole_service

SENT_BYTES = 512 * 1024  # of each upload that never ends
ADDRESSES, UPLOADS = 20, 200
UPLOADS_OF_CHUNKS, CHUNKS = 4, 5000


def upload_head(path: str, length: int | None, *headers: str) -> bytes:
    framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", framing, "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def made_up_credential(number: int) -> str:
    kinds = (
        f"Authorization: Bearer {new_token()}",
        f"Cookie: sessionid={number:032}",
        "Accept: */*",
    )
    return kinds[number % len(kinds)]


def endless_upload(number: int) -> tuple[bytes, bytes]:
    """The head and the beginning of an upload that never ends: a third small ones, a third large, a third chunked."""
    path = ("/api/people", "/api/user/import", "/api/people/01a201b4-1b7b-716c-a8d6-bb286dd1e7c7/photo")[number % 3]
    headers = made_up_credential(number // 3), f"X-Forwarded-For: 198.51.100.{number % ADDRESSES}"
    if number % 3 == 0:
        return upload_head(path, STRANGER_BYTES, *headers), b"x" * (STRANGER_BYTES - 1)
    if number % 3 == 1:
        return upload_head(path, 20 * MIB, *headers), b"x" * SENT_BYTES
    return upload_head(path, None, *headers), b"%x\r\n%s" % (MIB, b"x" * SENT_BYTES)


def send_all(server: RunningServer, number: int) -> list[socket.socket]:
    sockets = []
    for upload in range(number):
        head, beginning = endless_upload(upload)
        sockets.append(server.connect(head))
        # Their senders do not read: what the server does not take fills their buffers alone.
        sockets[-1].setblocking(False)
        with suppress(BlockingIOError, ConnectionError):
            sockets[-1].send(beginning)
    return sockets


def photo() -> bytes:
    file = BytesIO()
    Image.effect_noise((700, 700), 90).convert("RGB").save(file, "PNG")
    return file.getvalue()


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
def test_two_hundred_uploads_that_never_end_are_noticed_by_nobody(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Five minutes after the start of this process, the health check misses the scheduler.
    monkeypatch.setattr(health, "STARTED_AT", timezone.now())
    settings.TRUSTED_PROXY_COUNT = 1
    alice = make_user("alice@example.org")
    headers = {"Authorization": f"Bearer {make_token(alice)}", "X-Forwarded-For": "203.0.113.7"}
    picture = photo()
    assert len(picture) > 10 * STRANGER_BYTES
    with serve_whole_service() as server:
        attackers = send_all(server, UPLOADS)
        bodies_of_strangers = server.application.stranger_bodies
        wait_until(lambda: len(bodies_of_strangers.receiving) >= UPLOADS // 3)
        for _ in range(3):
            made = requests.post(f"{server.base}/api/people", json={"name": "Ada"}, headers=headers, timeout=60)
            assert made.status_code == 201
            person = f"{server.base}/api/people/{made.json()['person']['id']}"
            sent = requests.post(f"{person}/photo", files={"photo": picture}, headers=headers, timeout=60)
            assert sent.status_code == 200, sent.text
            for path in ("/api/health", "/app/", "/api/people"):
                assert requests.get(f"{server.base}{path}", headers=headers, timeout=60).status_code == 200
            put_card(server, alice, headers)
        # All that is kept of them: what a stranger may send.
        assert bodies_of_strangers.space.used <= UPLOADS * STRANGER_BYTES
        assert Spool.total_bytes <= UPLOADS * STRANGER_BYTES
        wait_until(lambda: not server.application.bodies.space.used)
        for attacker in attackers:
            attacker.close()
        wait_until(lambda: not bodies_of_strangers.space.used and not Spool.total_bytes)


def put_card(server: RunningServer, alice: User, headers: dict[str, str]) -> None:
    card = "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Curie;Marie;;;\r\nFN:Marie Curie\r\nNOTE:{}\r\nEND:VCARD\r\n".format(
        "n" * 90_000
    )
    response = requests.put(
        f"{server.base}/dav/addressbooks/{alice.pk}/contacts/{time.monotonic_ns()}.vcf",
        data=card.encode(),
        auth=(alice.email, headers["Authorization"].removeprefix("Bearer ")),
        headers={"X-Forwarded-For": headers["X-Forwarded-For"], "Content-Type": "text/vcard", "If-None-Match": "*"},
        timeout=60,
    )
    assert response.status_code == 201, response.text


@pytest.mark.django_db(transaction=True)
def test_large_body_of_a_stranger_is_answered_without_it() -> None:
    """With the 401 of the route, and its reason; also to a client that sends all of it before it reads."""
    with serve_whole_service() as server:
        for head in (
            upload_head("/api/people", 900_000, f"Authorization: Bearer {new_token()}"),
            upload_head("/api/people", None, f"Authorization: Bearer {new_token()}"),
            upload_head("/api/people", 900_000, f"Cookie: sessionid={1:032}"),
        ):
            client = server.connect(head)
            client.sendall(b"%x\r\n" % 900_000 if b"chunked" in head else b"")
            client.sendall(b"x" * 900_000)
            status, headers, body = read_response(client.makefile("rb"))
            assert (status, headers["connection"]) == (401, "close")
            assert orjson.loads(body)["code"] == "unauthenticated"
        # Nobody has to be known here, so that the route reads the body: it is too large.
        client = server.connect(upload_head("/api/auth/login", 900_000))
        client.sendall(b"x" * 900_000)
        assert read_response(client.makefile("rb"))[0] == 413
        # A client that asks first sends nothing.
        asking = server.connect(upload_head("/api/people", 900_000, "Expect: 100-continue"))
        assert read_response(asking.makefile("rb"))[0] == 401
        # A small one is taken, and refused by the route.
        small = server.connect(upload_head("/api/people", 2, f"Authorization: Bearer {new_token()}") + b"{}")
        status, headers, body = read_response(small.makefile("rb"))
        assert (status, headers.get("connection")) == (401, None)
        wait_until(lambda: Spool.total_bytes == 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
def test_large_body_needs_a_credential_that_is_known_now() -> None:
    alice = make_user("alice@example.org")
    client = requests.Session()
    with serve_whole_service() as server:
        card = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:A\r\nNOTE:{}\r\nEND:VCARD\r\n".format("n" * 100_000)
        token = make_token(alice)
        for headers, status in (
            ({"Authorization": f"Bearer {token}"}, 200),
            ({"Authorization": f"Bearer {token[:-1]}x"}, 401),
        ):
            sent = client.post(
                f"{server.base}/api/vcard/import", files={"file": ("a.vcf", card)}, headers=headers, timeout=60
            )
            assert sent.status_code == status, sent.text
        User.objects.filter(pk=alice.pk).update(is_active=False)
        sent = client.post(
            f"{server.base}/api/vcard/import",
            files={"file": ("a.vcf", card)},
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )
        assert sent.status_code == 401


def echo(request: WSGIRequest) -> HttpResponse:
    return JsonResponse({"length": len(request.body)})


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with serve_views({"/api/user/import": echo, "/api/people": echo}) as served:
        yield served


def begin_upload(server: RunningServer, account: int, sent: int, length: int = 10 * MIB) -> socket.socket:
    head = upload_head("/api/user/import", length, f"Cookie: sessionid={account:032}")
    return server.connect(head + b"x" * sent)


def upload(server: RunningServer, account: int, size: int) -> int:
    client = server.connect(upload_head("/api/user/import", size, f"Cookie: sessionid={account:032}"))
    client.sendall(b"x" * size)
    status, _, body = read_response(client.makefile("rb"))
    return int(orjson.loads(body)["length"]) if status == 200 else status


def answered(uploads: list[socket.socket]) -> list[socket.socket]:
    return select.select(uploads, [], [], 0)[0]


def hold_for(known: BodySpace, seconds: float) -> None:
    """As if the bodies had come so much earlier: on a busy machine the next one may take longer than these did."""
    for body in list(known.receiving):
        body.started -= seconds


def test_account_with_many_slow_uploads_is_limited_and_others_are_not(server: RunningServer) -> None:
    known: BodySpace = server.application.bodies
    known.space.per_caller = MIB
    other = begin_upload(server, 2, 200_000, 300_000)
    wait_until(lambda: known.space.used == 200_000)
    slow = [begin_upload(server, 1, 150_000) for _ in range(20)]
    # The oldest of them were dropped to make room for the next, with words.
    wait_until(lambda: len(answered(slow)) == 14 and known.space.held["caller", f"{1:032}"] == 6 * 150_000)
    status, headers, body = read_response(answered(slow)[0].makefile("rb"))
    assert (status, headers["connection"], orjson.loads(body)["code"]) == (408, "close", "too_slow")
    hold_for(known, 30)
    assert upload(server, 2, 700_000) == 700_000
    # Also of its own: it is limited in space, not shut out.
    assert upload(server, 1, 700_000) == 700_000
    other.sendall(b"x" * 100_000)
    assert read_response(other.makefile("rb"))[0] == 200


def test_when_all_space_is_taken_the_slowest_upload_gives_way(server: RunningServer) -> None:
    known: BodySpace = server.application.bodies
    known.space.total = 2 * MIB
    slow = [begin_upload(server, account, 300_000) for account in range(6)]
    wait_until(lambda: known.space.used == 6 * 300_000)
    hold_for(known, 30)
    assert upload(server, 7, 550_000) == 550_000
    assert read_response(slow[0].makefile("rb"))[0] == 408
    wait_until(lambda: len(known.receiving) == 5)


def test_bodies_of_strangers_have_a_minute(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "STRANGER_SECONDS", 0.1)
    # However it drips, and whatever it shows: its credential is looked up for more than this alone.
    for header in ("Accept: */*", f"Cookie: sessionid={1:032}"):
        dripping = server.connect(upload_head("/api/people", 1000, header))
        stopped = threading.Event()

        def drip(client: socket.socket = dripping, stopped: threading.Event = stopped) -> None:
            while not stopped.wait(0.01):
                try:
                    client.sendall(b"x")
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            assert read_response(dripping.makefile("rb"))[0] == 408
        finally:
            stopped.set()
            thread.join()


def test_strangers_of_one_address_make_room_for_its_next(server: RunningServer) -> None:
    strangers: BodySpace = server.application.stranger_bodies
    strangers.space.per_caller = 400_000
    slow = [server.connect(upload_head("/api/people", 60_000) + b"x" * 50_000) for _ in range(20)]
    wait_until(lambda: len(strangers.receiving) == 8)
    assert strangers.space.used <= 400_000
    assert requests.post(f"{server.base}/api/people", data=b"x" * 50_000, timeout=60).json()["length"] == 50_000
    assert read_response(slow[0].makefile("rb"))[0] == 408


def begin_stream(request: WSGIRequest) -> EventStream:
    async def events() -> AsyncGenerator[bytes, None]:
        yield b"data: begun\n\n"
        await asyncio.Event().wait()

    return EventStream(events())


def test_body_counts_until_the_response_is_made_however_long_it_is_sent() -> None:
    """A READ token may open a hundred streams: with a body each, they would fill the space of strangers for hours."""
    with serve_views({"/stream": begin_stream, "/long": lambda _: HttpResponse(b"x" * 8 * MIB)}) as server:
        strangers: BodySpace = server.application.stranger_bodies
        for path, beginning in (("/stream", b"begun"), ("/long", b"xxx")):
            head = upload_head(path, 60_000, f"Cookie: sessionid={1:032}")
            client = server.connect(head + b"x" * 60_000, receive_buffer=4096)
            received = b""
            while beginning not in received:
                received += client.recv(1024)
            wait_until(lambda: not strangers.space.used)
            client.close()


def test_small_bodies_of_accounts_are_taken_while_strangers_fill_their_space(server: RunningServer) -> None:
    """What fills it is complete, and waits for threads: none of it can be dropped."""
    strangers: BodySpace = server.application.stranger_bodies
    crowd = Holder(Caller("address", "203.0.113.1"), "203.0.113.1")
    for taken in (strangers.space.total, strangers.space.total - 5000):
        assert strangers.space.try_acquire(crowd, taken, is_urgent=True)
        for header, status in ((f"Cookie: sessionid={1:032}", 200), ("Accept: */*", 503)):
            client = server.connect(upload_head("/api/people", 20_000, header))
            client.sendall(b"x" * 20_000)
            assert read_response(client.makefile("rb"))[0] == status
        strangers.space.release(crowd, taken)
    wait_until(lambda: not strangers.space.used and not server.application.bodies.space.used)


def test_tiny_chunks_hold_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs the event loop as much as a large one: six bytes on the wire, and 400 KB of them took a second."""
    parsed, iterations = 0, [0]
    next_event = h11.Connection.next_event

    def count(connection: h11.Connection) -> object:
        nonlocal parsed
        event = next_event(connection)
        if isinstance(event, h11.Data):
            if not parsed:
                asyncio.get_running_loop().call_soon(tick, asyncio.get_running_loop())
            parsed += 1
        return event

    def tick(loop: asyncio.AbstractEventLoop) -> None:
        iterations.append(parsed)
        if parsed < UPLOADS_OF_CHUNKS * CHUNKS:
            loop.call_soon(tick, loop)

    monkeypatch.setattr(h11.Connection, "next_event", count)
    with serve_views({"/api/people": echo}) as server:
        clients = [server.connect(upload_head("/api/people", None)) for _ in range(UPLOADS_OF_CHUNKS)]
        for client in clients:
            client.sendall(b"1\r\nx\r\n" * CHUNKS + b"0\r\n\r\n")
        for client in clients:
            assert orjson.loads(read_response(client.makefile("rb"))[2])["length"] == CHUNKS
    assert parsed == iterations[-1] == UPLOADS_OF_CHUNKS * CHUNKS
    steps = [after - before for before, after in pairwise(iterations)]
    assert max(steps) <= DATA_EVENTS_PER_TURN + UPLOADS_OF_CHUNKS * FIRST_DATA_EVENTS
