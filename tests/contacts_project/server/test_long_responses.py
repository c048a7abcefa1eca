"""Long responses are sent as they are made. What a caller does not read is kept up to its share of the space; beyond it
the response waits for its reader, without a thread, and is never cut."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
import requests
from django.core.handlers.wsgi import WSGIRequest
from django.http import StreamingHttpResponse

from accounts.models import User
from contacts_project.server import thread_queues
from contacts_project.server.bodies import MIB, WINDOW_BYTES, Holder, Space, Spool
from contacts_project.server.responses import SEGMENT_BYTES, ResponseSpool
from tests.builders import make_token, make_user
from tests.concurrency import wait_until
from tests.contacts_project.server.server_thread import RunningServer, serve_views, serve_whole_service
from tests.dav.devices import DECLARED, read_multistatus

PIECE = b"0123456789abcdef" * 4096
PIECES = 320  # of 64 KiB: 20 MiB
LENGTH = PIECES * len(PIECE)
made: list[int] = []
numbers = count()
has_begun = threading.Event()


def long(request: WSGIRequest) -> StreamingHttpResponse:
    def pieces() -> Iterator[bytes]:
        for number in range(PIECES):
            made.append(number)
            yield PIECE

    return StreamingHttpResponse(pieces())


def breaking(request: WSGIRequest) -> StreamingHttpResponse:
    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield PIECE
        has_begun.wait(60)
        raise ValueError("broken")

    return StreamingHttpResponse(pieces())


def quick(request: WSGIRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse([b"quick"])


@pytest.fixture
def server() -> Iterator[RunningServer]:
    made.clear()
    with serve_views({"/long": long, "/breaking": breaking, "/quick": quick}) as served:
        served.application.responses.per_caller = 2 * MIB
        yield served


def ask(server: RunningServer, account: int, path: str = "/long") -> socket.socket:
    # Few requests of one caller to one and the same address run at a time.
    head = f"GET {path}?{next(numbers)} HTTP/1.0\r\nHost: a\r\nCookie: sessionid={account:032}\r\n\r\n"
    return server.connect(head.encode(), receive_buffer=4096)


def read_all(reader: socket.socket) -> bytes:
    return reader.makefile("rb").read().partition(b"\r\n\r\n")[2]


def test_response_waits_for_its_reader_beyond_the_share_of_its_caller(server: RunningServer) -> None:
    queue, held = server.application.requests, server.application.responses.held
    readers = [ask(server, 1) for _ in range(3)]
    wait_until(lambda: len(queue.reader_waits) == 3)
    # All three together; beside it, the beginning of each has room.
    assert sum(number for (kind, _), number in held.items() if kind == "caller") <= 2 * MIB
    assert Spool.total_bytes <= 2 * MIB + 3 * WINDOW_BYTES
    # No more was made than what is kept and what the network took.
    assert len(made) * len(PIECE) < LENGTH
    # The threads, of which there are two, are free for others and for the same caller.
    assert requests.get(f"{server.base}/quick", timeout=60).content == b"quick"
    assert len(requests.get(f"{server.base}/long", timeout=60).content) == LENGTH
    for reader in readers:
        assert read_all(reader) == PIECE * PIECES
    wait_until(lambda: Spool.total_bytes == 0 and not held)
    assert (queue.free_threads, queue.in_progress) == (2, {})


def test_reader_that_goes_away_ends_the_response(server: RunningServer) -> None:
    queue = server.application.requests
    readers = [ask(server, account) for account in range(3)]
    wait_until(lambda: len(queue.reader_waits) == 3)
    for reader in readers:
        reader.close()
    wait_until(lambda: Spool.total_bytes == 0 and queue.free_threads == 2 and not queue.in_progress)
    assert not queue.reader_waits
    assert len(made) < 3 * PIECES


def test_slowest_of_too_many_readers_is_disconnected(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the caller who has most of them."""
    monkeypatch.setattr(thread_queues, "READER_WAITS", replace(thread_queues.READER_WAITS, total=4))
    queue = server.application.requests
    honest = ask(server, 2)
    wait_until(lambda: len(queue.reader_waits) == 1)
    greedy = [ask(server, 1) for _ in range(4)]
    # Five would wait: one of the four is gone, and never the one of the other caller.
    wait_until(lambda: len(server.server.server_state.connections) == 4)
    assert read_all(honest) == PIECE * PIECES
    cut = 0
    for reader in greedy:
        try:
            cut += read_all(reader) != PIECE * PIECES
        except ConnectionResetError:
            cut += 1
    assert cut == 1


def test_response_that_breaks_does_not_look_complete(server: RunningServer) -> None:
    response = requests.get(f"{server.base}/breaking", timeout=60, stream=True)
    assert response.raw.read(1) == PIECE[:1]
    has_begun.set()
    with pytest.raises(requests.exceptions.RequestException):
        _ = response.content
    assert requests.get(f"{server.base}/quick", timeout=60).content == b"quick"
    wait_until(lambda: Spool.total_bytes == 0)


def test_head_of_a_long_response_has_its_length_and_keeps_nothing(server: RunningServer) -> None:
    response = requests.head(f"{server.base}/long", timeout=60)
    assert (response.status_code, int(response.headers["Content-Length"])) == (200, LENGTH)
    wait_until(lambda: Spool.total_bytes == 0)


def test_bytes_come_out_as_they_went_in() -> None:
    """Through memory and files, with a reader that is ahead, behind, and ahead again."""
    windows, space, holder = Space(MIB), Space(64 * MIB, 64 * MIB), Holder("one", "192.0.2.1")
    spool = ResponseSpool(windows, space, holder)
    written, read = b"", b""
    for number in range(3 * SEGMENT_BYTES // len(PIECE)):
        piece = number.to_bytes(4, "big") + PIECE[4:]
        spool.write(piece)
        written += piece
        if number % 100 > 60:
            for _ in range(2):
                with spool._changed:
                    read += spool._next_chunk()
        assert windows.used + space.used == len(written) - len(read)
    assert read + spool.read_whole() == written
    assert (windows.used, space.used, space.held, Spool.total_bytes) == (0, 0, {}, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
def test_multiget_of_a_book_that_has_no_space_is_whole() -> None:
    alice = make_user("alice@example.org")
    token = make_token(alice)
    book = f"/dav/addressbooks/{alice.pk}/contacts/"
    with serve_whole_service() as server:
        fill_book(server, alice, token, book)
        server.application.responses.per_caller = 0
        hrefs = "".join(f"<d:href>{book}{number}.vcf</d:href>" for number in range(30))
        body = (
            f"<card:addressbook-multiget {DECLARED}><d:prop><d:getetag/><card:address-data/></d:prop>{hrefs}"
            "</card:addressbook-multiget>"
        )
        answers: list[bytes] = []

        def report() -> None:
            response = requests.request(
                "REPORT", f"{server.base}{book}", data=body, auth=(alice.email, token), timeout=60
            )
            answers.append(response.content)

        threads = [threading.Thread(target=report) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {len(read_multistatus(answer).entries) for answer in answers} == {30}
        assert min(map(len, answers)) > 30 * 60_000
        wait_until(lambda: not Spool.total_bytes)


def fill_book(server: RunningServer, owner: User, token: str, book: str) -> None:
    for number in range(30):
        lines = ["BEGIN:VCARD", "VERSION:3.0", f"UID:{number}", f"N:P{number};;;;", f"FN:P{number}"]
        card = "\r\n".join([*lines, f"X-LONG:{'n' * 60_000}", "END:VCARD", ""])
        response = requests.put(
            f"{server.base}{book}{number}.vcf",
            data=card.encode(),
            auth=(owner.email, token),
            headers={"Content-Type": "text/vcard", "If-None-Match": "*"},
            timeout=60,
        )
        assert response.status_code == 201, response.text
