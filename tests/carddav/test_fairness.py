"""What keeps one account's address book and edits from holding up others: counts of messages, requests and threads."""

import datetime as dt
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import User
from carddav import tasks
from carddav.models import Connection, Run, RunState, RunTrigger
from carddav.services import runs, schedule
from carddav.sync.context import SyncContext, Tally
from carddav.sync.lock import locked
from contacts_project.kernel.outbound.exchanges import EXCHANGES, MAX_EXCHANGES, ExchangeRules
from contacts_project.kernel.outbound.session import Rules
from contacts_project.kernel.outbound.sockets import MIN_BYTES, PACE_SECONDS, Pace
from contacts_project.kernel.pending_messages import LOST_AFTER, PendingMessage
from contacts_project.kernel.webdav.errors import OverdueError, ServerTimeoutError
from contacts_project.kernel.webdav.login import Login
from contacts_project.kernel.webdav.session import open_session
from contacts_project.processes.queue_pool import THREADS, QueueExecutor
from tests.builders import make_person, make_user
from tests.carddav.builders import make_connection
from tests.carddav.conftest import USER
from tests.carddav.servers import PASSWORD
from tests.client import Client
from tests.loopback import Received, Recorder, Reply, recording_server
from tests.patient_calls import start_patient_call


class Messages:
    """Stands for the broker: keeps what was enqueued instead of sending it."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, tuple[Any, ...]]] = []

    def of(self, name: str) -> int:
        return sum(sent == name for sent, _ in self.sent)


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> Messages:
    found = Messages()

    def keep(task: Any, args: Any = None, kwargs: Any = None, **options: Any) -> None:
        found.sent.append((task.name.rpartition(".")[2], tuple(args or ())))

    monkeypatch.setattr("celery.app.task.Task.apply_async", keep)
    return found


@pytest.mark.django_db(transaction=True)
def test_storm_of_edits_enqueues_one_message(alice: User, api: Client, messages: Messages) -> None:
    connection = make_connection(alice)
    person = make_person(alice)
    for number in range(50):
        api.ok("PUT", f"/api/people/{person.pk}", {"notes": str(number)})
    assert messages.of("sync_edits") == 1
    tasks.sync_edits(str(alice.pk))
    [run] = Run.objects.owned_by(alice)
    assert messages.of("run_sync") == 1
    # The message was taken: the next edits are another one's, and the run that is queued is not enqueued again.
    for number in range(50):
        api.ok("PUT", f"/api/people/{person.pk}", {"notes": f"again {number}"})
    assert messages.of("sync_edits") == 2
    tasks.sync_edits(str(alice.pk))
    for _ in range(5):
        assert api.call("POST", "/api/carddav/sync").status_code == 200
    assert messages.of("run_sync") == 1
    Run.objects.owned_by(alice).filter(pk=run.pk).update(state=RunState.RUNNING)
    with locked(connection):
        tasks.sync_edits(str(alice.pk))
    assert (messages.of("run_sync"), messages.of("sync_edits")) == (1, 3), "edits during a run are looked at after it"


@pytest.mark.django_db(transaction=True)
def test_lost_message_is_enqueued_again(alice: User, api: Client, messages: Messages) -> None:
    make_connection(alice)
    person = make_person(alice)
    with time_machine.travel(timezone.now(), tick=False) as clock:
        api.ok("PUT", f"/api/people/{person.pk}", {"notes": "one"})
        clock.shift(LOST_AFTER)
        api.ok("PUT", f"/api/people/{person.pk}", {"notes": "two"})
        api.ok("PUT", f"/api/people/{person.pk}", {"notes": "three"})
    assert messages.of("sync_edits") == 2


@pytest.mark.django_db(transaction=True)
def test_storm_of_settings_and_addresses_enqueues_one_message_of_each(
    alice: User, api: Client, messages: Messages, settings: Any
) -> None:
    """The relatives: replanning after a change of settings, and the geocoder."""
    settings.GEOCODER_URL = "http://127.0.0.1:1/"
    api.ok("PUT", "/api/user/geocoding", {"geocodingEnabled": True})
    for number in range(10):
        api.ok("PUT", "/api/user/reminder-hour", {"hour": number})
        body = {"name": "Ada", "addresses": [{"type": "home", "locality": f"Town {number}"}]}
        api.ok("POST", "/api/people", body, status=201)
    assert (messages.of("replan"), messages.of("geocode")) == (1, 1)
    # Not exactly these: services of earlier tests in this process may leave messages of theirs.
    assert {f"replan:{alice.pk}", "geocode"} <= set(PendingMessage.objects.values_list("key", flat=True))


def test_server_that_drips_is_cut_off_after_a_minute_of_waiting() -> None:
    """A byte every 20 seconds: three reads, whatever time the caller takes between them."""
    pace = Pace()
    for _ in range(3):
        assert pace.remaining() > 0
        pace.add(20, 1)
    with pytest.raises(TimeoutError):
        pace.remaining()


def test_server_at_the_minimum_speed_is_read_to_the_end() -> None:
    pace = Pace()
    for _ in range(600):
        assert pace.remaining() > 0
        pace.add(PACE_SECONDS / 10, MIN_BYTES // 10)
    assert pace.remaining() == PACE_SECONDS, "the next minute begins"
    pace.add(PACE_SECONDS / 2, 0)
    assert pace.remaining() == PACE_SECONDS / 2


class Clock:
    """A monotonic clock that moves only when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.monotonic()
        monkeypatch.setattr("contacts_project.kernel.webdav.session.time.monotonic", lambda: self.now)


def list_with(receiver: Recorder, work: Callable[[Any], None], **options: Any) -> None:
    with open_session(Login(receiver.url, USER, PASSWORD), **options) as session:
        work(session)


def test_session_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Each request is within its own limits, and all of them together are not."""
    settings.OUTBOUND_ALLOWED_NETWORKS, settings.OUTBOUND_ALLOWED_PORTS = ["127.0.0.0/8"], ["*"]
    clock = Clock(monkeypatch)

    def ask(session: Any) -> None:
        for _ in range(100):
            session.send("GET", receiver.url)[0].close()
            clock.now += 20

    with recording_server() as receiver, pytest.raises(OverdueError):
        list_with(receiver, ask, give_up_at=clock.now + 900)
    assert len(receiver.received) == 45
    assert issubclass(OverdueError, ServerTimeoutError)


@pytest.mark.django_db
def test_run_that_is_cut_at_its_deadline_goes_on_soon_if_it_got_somewhere(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_connection(alice, next_sync_at=timezone.now())

    def work(context: SyncContext, sync: Any) -> None:
        context.tally = Tally(imported=imported)
        raise OverdueError

    monkeypatch.setattr(runs, "work_in_book", work)
    for imported, is_due in ((3, True), (0, False)):
        run = runs.execute_run(runs.start_run(owner=alice, trigger="manual", now=timezone.now()).pk)
        assert (run.code, run.imported) == ("timeout", imported)
        assert "goes on" in str(run.error)
        assert (Connection.objects.owned_by(alice).get().next_sync_at <= timezone.now()) is is_due


def test_requests_of_an_account_to_its_servers_are_two_at_a_time(alice: User) -> None:
    """Of a session on many threads, its streams that are still read included, beside another kind of exchange."""
    lock, counts = threading.Lock(), [0, 0]

    def count(request: Received) -> Reply:
        with lock:
            counts[0] += 1
            counts[1] = max(counts)
        time.sleep(0.02)
        with lock:
            counts[0] -= 1
        return Reply(body=b"x" * 100_000)

    with recording_server() as receiver:
        receiver.reply = count
        with open_session(Login(receiver.url, USER, PASSWORD), account=alice.pk) as session:

            def ask() -> None:
                with session.response("GET", receiver.url) as response:
                    assert EXCHANGES.places.held(alice.pk) <= MAX_EXCHANGES
                    response.read(200_000)

            threads = [threading.Thread(target=ask) for _ in range(8)]
            with EXCHANGES.exchange(ExchangeRules(alice.pk, 0)):
                for thread in threads:
                    thread.start()
                while len(receiver.received) < 4:
                    time.sleep(0.001)
                assert counts[1] == 1
            for thread in threads:
                thread.join(60)
    assert len(receiver.received) == 8
    assert counts[1] <= MAX_EXCHANGES
    assert not EXCHANGES.places.held(alice.pk)


@pytest.mark.django_db(transaction=True)
def test_twenty_dripping_servers_delay_no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real threads: all honest runs end while none of the hostile servers has answered."""
    monkeypatch.setattr(Rules, "start_call", start_patient_call)
    released = threading.Event()

    def drip(request: Received) -> Reply:
        released.wait()
        return Reply(404)

    executor = QueueExecutor("sync", THREADS["sync"])
    with recording_server() as slow, recording_server(host="127.0.0.2") as fast:
        slow.reply, fast.reply = drip, Reply(404)
        accounts = [make_user(f"{kind}-{number}@example.org") for number in range(20) for kind in ("hostile", "honest")]
        started = []
        for number, owner in enumerate(accounts):
            server = fast if number % 2 else slow
            make_connection(owner, server_url=f"{server.url}/", book_url="")
            started.append(runs.start_run(owner=owner, trigger="manual", now=timezone.now()))
        try:
            done = [executor.submit(execute, run) for run in started]
            assert {task.result(180) for task in done[1::2]} == {"not_carddav"}
            assert not any(task.done() for task in done[::2])
        finally:
            released.set()
            executor.shutdown()


@pytest.mark.django_db
def test_cron_syncs_accounts_last_whose_server_took_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cron has one thread, in the request: a server that drips holds it for as long as a sync may take."""
    now, order = timezone.now(), []
    for number, code in enumerate(("timeout", "", "dns")):
        owner = make_user(f"{number}@example.org")
        make_connection(owner, last_error_code=code, next_sync_at=now - dt.timedelta(hours=3 - number))

    def note(owner: User, trigger: str, receipt: Any) -> None:
        order.append(owner.email[0])

    monkeypatch.setattr(schedule, "_sync_one", note)
    monkeypatch.setattr(schedule, "ACCOUNT_PAUSE_SECONDS", 0)
    schedule.sync_due(now=now, trigger=RunTrigger.CRON)
    assert order == ["1", "2", "0"]


def execute(run: Run) -> str:
    from django.db import connections

    try:
        return runs.execute_run(run.pk).code
    finally:
        connections.close_all()
