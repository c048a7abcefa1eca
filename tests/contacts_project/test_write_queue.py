"""SQLite's writers wait in line: whoever comes back for more does not overtake those who wait. Turns are counted."""

import multiprocessing
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.database.sqlite3 import WriteQueue, limit_lock_wait, queue_of, skip_if_locked
from contacts_project.kernel.errors import is_unavailable
from notifications.models import Delivery, DeliveryState
from notifications.models.deliveries import Heartbeat, record_heartbeat
from notifications.services import dispatch
from tests.builders import make_person, make_user
from tests.client import Client, client_of
from tests.concurrency import run_concurrently
from tests.notifications.recording_channel import RecordingChannel
from tests.notifications.test_workers import make_due

pytestmark = pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no lock of all writers")


@pytest.fixture
def queue(tmp_path: Path) -> WriteQueue:
    return WriteQueue(tmp_path / "db")


def test_writers_get_the_place_in_the_order_in_which_they_came(queue: WriteQueue) -> None:
    order: list[int] = []

    def write(number: int) -> None:
        queue.acquire(60)
        order.append(number)
        queue.pass_turn()
        queue.release()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(10)]
    queue.acquire(60)
    for number, thread in enumerate(threads):
        thread.start()
        while len(queue._waiting) <= number:
            time.sleep(0.001)
    queue.pass_turn()
    queue.release()
    for thread in threads:
        thread.join(60)
    assert order == list(range(10))
    queue.acquire(0)


def test_writer_that_waits_too_long_leaves_the_line(queue: WriteQueue) -> None:
    queue.acquire(60)
    with pytest.raises(OperationalError) as caught:
        queue.acquire(0.01)
    assert is_unavailable(caught.value)
    queue.pass_turn()
    queue.release()
    queue.acquire(0)


def test_another_process_has_the_turn(queue: WriteQueue, tmp_path: Path) -> None:
    """Each WriteQueue stands for a process. The place is given up when the turn is not to be had."""
    other = WriteQueue(tmp_path / "db")
    other.acquire(60)
    for _ in range(2):
        with pytest.raises(OperationalError):
            queue.acquire(0.01)
    other.pass_turn()
    queue.acquire(0)


@pytest.fixture
def writes() -> Iterator[WriteQueue]:
    """The queue of this process for the test's database; free before and after the test."""
    found = queue_of(str(connection.settings_dict["NAME"]))
    assert not found._is_taken
    yield found
    assert not found._is_taken


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("writes")
@pytest.mark.parametrize("is_statement", [True, False], ids=["statement", "transaction"])
@pytest.mark.parametrize("is_inside", [True, False], ids=["from a transaction", "outside"])
def test_writes_begin_while_rows_are_read_although_others_have_written(is_statement: bool, is_inside: bool) -> None:
    """SQLite refuses at once, without waiting, to write after a read that is older than another's write."""
    users = [make_user(f"{number}@example.org") for number in range(5)]

    def write() -> None:
        User.objects.filter(pk=users[0].pk).update(name="changed")

    read = User.objects.order_by("email").values_list("email", flat=True)
    if is_inside:
        with transaction.atomic():
            rows = read.iterator(2)
            found = [next(rows)]
    else:
        rows = read.iterator(2)
        found = [next(rows)]
    given_up: Any = read.iterator(2)
    next(given_up)
    given_up.close()
    run_concurrently(write)
    if is_statement:
        write()
    else:
        with transaction.atomic():
            write()
    run_concurrently(write)
    write()
    assert [*found, *rows] == sorted(user.email for user in users)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("writes")
@pytest.mark.parametrize("end", ["commit", "roll back", "set to roll back", "close"])
def test_place_is_free_after_each_end_of_a_transaction(end: str) -> None:
    try:
        with transaction.atomic():
            record_heartbeat("one", timezone.now())
            if end == "roll back":
                raise ValueError  # noqa: TRY301 - the end of the transaction is what is tested
            if end == "set to roll back":
                transaction.set_rollback(True)
            if end == "close":
                connection.close()
    except ValueError:
        pass
    assert Heartbeat.objects.exists() is (end == "commit")


@pytest.mark.django_db(transaction=True)
def test_single_statement_waits_in_line_and_a_read_does_not(writes: WriteQueue) -> None:
    record_heartbeat("one", timezone.now())
    row = Heartbeat.objects.get()
    writes.acquire(60)
    try:
        assert Heartbeat.objects.count() == 1
        with limit_lock_wait(0.01), pytest.raises(OperationalError):
            row.delete()
        with skip_if_locked():
            Heartbeat.objects.update(beat_at=timezone.now())
    finally:
        writes.pass_turn()
        writes.release()
    Heartbeat.objects.update(beat_at=timezone.now())


def write_on_and_on(commits: Any, end: Any) -> None:
    """In another process: one transaction after the other, without a pause."""
    connections.close_all()
    while not end.is_set():
        with transaction.atomic():
            record_heartbeat("import", timezone.now())
            time.sleep(0.005)
        commits.value += 1
    connections.close_all()


@pytest.mark.django_db(transaction=True)
def test_writer_waits_for_one_turn_of_another_process(monkeypatch: pytest.MonkeyPatch, writes: WriteQueue) -> None:
    """Beside a process that comes back at once, forty writes each wait for the transaction under way, and no other.

    Nor do they keep that process from writing: the two alternate.
    """
    context = multiprocessing.get_context("fork")
    commits, end, waits, asked = context.Value("i", 0), context.Event(), [], []
    take_turn = writes._take_turn

    def take_and_count(give_up_at: float) -> None:
        take_turn(give_up_at)
        asked.append(commits.value)

    monkeypatch.setattr(writes, "_take_turn", take_and_count)
    connections.close_all()
    process = context.Process(target=write_on_and_on, args=(commits, end))
    process.start()
    try:
        while commits.value < 2:
            time.sleep(0.001)
        for number in range(40):
            with transaction.atomic():
                waits.append(commits.value - asked[-1])
                record_heartbeat(f"reminder {number}", timezone.now())
        assert commits.value >= 30
    finally:
        end.set()
        process.join(60)
    assert set(waits) <= {0, 1}


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> RecordingChannel:
    recording = RecordingChannel()
    monkeypatch.setattr("notifications.channels.CHANNELS", (recording,))
    return recording


class Line:
    """Notes who gets the writer's place, and how many others got it while each thread waited."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, writes: WriteQueue) -> None:
        self.got: list[str] = []
        self.overtaken: dict[str, list[int]] = {}
        acquire, lock = writes.acquire, threading.Lock()

        def note(seconds: float) -> None:
            name = threading.current_thread().name
            with lock:
                asked = len(self.got)
            acquire(seconds)
            with lock:
                self.overtaken.setdefault(name, []).append(len(self.got) - asked)
                self.got.append(name)

        monkeypatch.setattr(writes, "acquire", note)


@pytest.mark.django_db(transaction=True)
def test_reminder_beside_an_account_import_waits_for_one_turn(
    monkeypatch: pytest.MonkeyPatch, writes: WriteQueue, alice: User, channel: RecordingChannel
) -> None:
    """A long import in one thread, reminders in another: none of their writes is overtaken by more than one batch."""
    source, target = make_user("source@example.org"), client_of(make_user("target@example.org"))
    for number in range(400):
        make_person(source, name=f"Person {number}")
    document = client_of(source).ok("GET", "/api/user/export")
    make_due(alice, 20)
    line = Line(monkeypatch, writes)
    imported = threading.Event()

    def import_account(client: Client) -> None:
        threading.current_thread().name = "import"
        try:
            client.ok("POST", "/api/user/import", document)
        finally:
            imported.set()
            connections.close_all()

    thread = threading.Thread(target=import_account, args=(target,))
    thread.start()
    rounds = 0
    while not imported.is_set():
        dispatch.scan(now=timezone.now())
        dispatch.send_due(now=timezone.now())
        rounds += 1
    thread.join()
    reminder = threading.current_thread().name
    assert line.got.count("import") > 3
    assert rounds > 0
    assert max(line.overtaken[reminder]) <= 1
    assert set(Delivery.unscoped.values_list("state", flat=True)) == {DeliveryState.SENT}
