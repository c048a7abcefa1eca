"""At most two outbound exchanges of one account at a time: accounts with slow servers delay no other account."""

import multiprocessing
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db import connections
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.outbound import exchanges
from contacts_project.kernel.outbound.exchanges import (
    EXCHANGES,
    HOST_CALLS,
    MAX_EXCHANGES,
    MAX_SLOW_DELIVERIES,
    AccountBusyError,
    ExchangeRules,
    Exchanges,
    MachineLocks,
    exchanges_of,
)
from contacts_project.kernel.outbound.session import Rules
from contacts_project.processes.queue_pool import THREADS, WINDOW, QueueExecutor
from notifications.models import Delivery, DeliveryState, Destination
from notifications.services import dispatch
from notifications.services.backlog import BACKLOG, Backlog
from tests.builders import make_user
from tests.client import Client
from tests.concurrency import wait_until
from tests.loopback import Received, Recorder, Reply, recording_server
from tests.notifications.test_workers import make_due
from tests.patient_calls import start_patient_call

SLOW_HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
FAST_HOST = "127.0.0.9"


@pytest.fixture(autouse=True)
def _own_exchanges(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget which accounts were slow in other tests."""
    monkeypatch.setattr(EXCHANGES, "_slow", {})
    yield
    while BACKLOG.take():
        pass


def rules_of(account: UUID, *, wait_seconds: float = 0.0, is_delivery: bool = False) -> ExchangeRules:
    return ExchangeRules(account, wait_seconds, is_delivery)


def test_third_exchange_of_an_account_is_refused() -> None:
    found, account, other = Exchanges(), uuid4(), uuid4()
    with ExitStack() as stack:
        for _ in range(MAX_EXCHANGES):
            stack.enter_context(found.exchange(rules_of(account)))
        assert not found.has_place(account)
        with pytest.raises(AccountBusyError), found.exchange(rules_of(account)):
            raise AssertionError
        with found.exchange(rules_of(other)):
            assert found.has_place(other)
    assert found.has_place(account)


def test_waiting_exchanges_get_their_turn_in_order() -> None:
    """One at a time can have the place that is free; a delivery that comes later does not go before them."""
    found, account = Exchanges(), uuid4()
    order: list[int] = []

    def take(number: int) -> None:
        with found.exchange(rules_of(account, wait_seconds=60)):
            order.append(number)
            with_turn.release()
            go_on.acquire()

    with_turn, go_on = threading.Semaphore(0), threading.Semaphore(0)
    threads = [threading.Thread(target=take, args=(number,)) for number in range(4)]
    with found.exchange(rules_of(account)), found.exchange(rules_of(account)):
        for number, thread in enumerate(threads, start=1):
            thread.start()
            wait_until(lambda: found.places.waiting(account) == number)  # noqa: B023 - called here
    for _ in range(2):  # two at a time have a place; both have written their number before one of them gives it back
        assert with_turn.acquire(timeout=30)
        assert with_turn.acquire(timeout=30)
        go_on.release(2)
    for thread in threads:
        thread.join()
    assert (set(order[:2]), set(order[2:])) == ({0, 1}, {2, 3})
    assert (found.places.held(account), found.places.waiting(account)) == (0, 0)


def _hold(account: UUID, data_dir: Any, ready: Any, end: Any) -> None:
    """In another process: hold both exchanges of the account until the end."""
    settings.DATA_DIR = data_dir
    locks = MachineLocks()
    ready.put([locks.try_lock(account) is not None for _ in range(MAX_EXCHANGES)])
    end.wait()


def test_limit_holds_between_processes_and_ends_with_a_killed_one() -> None:
    context, account = multiprocessing.get_context("fork"), uuid4()
    ready, end = context.Queue(), context.Event()
    process = context.Process(target=_hold, args=(account, settings.DATA_DIR, ready, end))
    process.start()
    assert ready.get(timeout=60) == [True, True]
    found = Exchanges()
    with pytest.raises(AccountBusyError), found.exchange(rules_of(account)):
        raise AssertionError
    with found.exchange(rules_of(uuid4())):
        pass
    process.kill()
    process.join()
    with found.exchange(rules_of(account)), found.exchange(rules_of(account)):
        pass


def test_slow_accounts_together_have_half_of_the_waiting_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert THREADS["reminders"].waiting == MAX_SLOW_DELIVERIES * 2
    found, slow = Exchanges(), [uuid4() for _ in range(MAX_SLOW_DELIVERIES)]
    monkeypatch.setattr(exchanges, "SLOW_SECONDS", -1.0)
    for account in slow:
        with found.exchange(rules_of(account, is_delivery=True)):
            pass
    assert all(found.is_slow(account) for account in slow)
    with ExitStack() as stack:
        for account in slow[1:]:
            stack.enter_context(found.exchange(rules_of(account, is_delivery=True)))
        stack.enter_context(found.exchange(rules_of(slow[1], is_delivery=True)))
        assert not found.has_place(slow[0])
        with pytest.raises(AccountBusyError), found.exchange(rules_of(slow[0], is_delivery=True)):
            raise AssertionError
        assert found.places.held(slow[0]) == 0
        with found.exchange(rules_of(slow[0])):  # its sync or a test send, which are no deliveries
            pass
        with found.exchange(rules_of(uuid4(), is_delivery=True)):
            pass
    monkeypatch.setattr(exchanges, "SLOW_SECONDS", 60.0)
    with found.exchange(rules_of(slow[0], is_delivery=True)):
        pass
    assert not found.is_slow(slow[0])


def test_hosts_and_accounts_of_the_backlog_take_turns() -> None:
    backlog, numbers = Backlog(), [UUID(int=number) for number in range(6)]
    first, second = uuid4(), uuid4()
    for key, number in ((first, 0), (first, 1), (first, 2), (second, 3), ("one.example", 4), (second, 5), (first, 0)):
        backlog.put(key, numbers[number])
    assert [backlog.take() for _ in range(7)] == [numbers[n] for n in (0, 3, 4, 1, 5, 2)] + [None]


def test_thousands_of_slow_accounts_in_the_backlog_are_not_asked_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, fast = [uuid4() for _ in range(1_000)], uuid4()
    monkeypatch.setattr(EXCHANGES, "_slow", dict.fromkeys(slow))
    asked: list[UUID] = []
    has_place = EXCHANGES.has_place

    def ask(account: UUID) -> bool:
        asked.append(account)
        return has_place(account)

    monkeypatch.setattr(EXCHANGES, "has_place", ask)
    for account in slow[:MAX_SLOW_DELIVERIES]:
        EXCHANGES.slow_places.acquire(account)
    backlog, numbers = Backlog(), (UUID(int=number) for number in count())
    of_slow = [next(numbers) for _ in range(2) for account in slow]
    for account, number in zip([*slow, *slow], of_slow, strict=True):
        backlog.put(account, number)
    of_fast = [next(numbers) for _ in range(100)]
    for number in of_fast:
        backlog.put(fast, number)
    assert [backlog.take() for _ in range(101)] == [*of_fast, None]
    assert len(asked) < 1_200
    # A place of theirs is free: they take turns again, each with its oldest first, and nothing is lost.
    for account in slow[:MAX_SLOW_DELIVERIES]:
        EXCHANGES.slow_places.release(account)
    assert [backlog.take() for _ in range(2_001)] == [*of_slow, None]


def test_accounts_take_turns_in_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many deliveries one account has, those of others are among the first.

    Mails, slow accounts and those of which nothing is known go apart.
    """
    many, few, slow, new = uuid4(), uuid4(), uuid4(), uuid4()
    monkeypatch.setattr(EXCHANGES, "_slow", {slow: None})
    monkeypatch.setattr(EXCHANGES, "_fast", {many: None, few: None})
    rows = [(uuid4(), many, "webhook") for _ in range(50)] + [(uuid4(), slow, "ntfy") for _ in range(3)]
    rows += [(uuid4(), new, "push") for _ in range(2)]
    rows += [(uuid4(), few, "webhook") for _ in range(2)] + [(uuid4(), many, "email"), (uuid4(), few, "email")]
    batches = dispatch.make_batches(rows)
    owner_of = {row[0]: row[1] for row in rows}
    owners = [[owner_of[id_] for id_ in batch] for batch in batches]
    assert owners[0] == [few, many]
    assert owners[1][:4] == [many, few, many, few]
    assert owners[-2:] == [[new] * 2, [slow] * 3]
    assert sorted(id_ for batch in batches for id_ in batch) == sorted(row[0] for row in rows)
    assert max(map(len, batches)) == dispatch.BATCH_SIZE


def make_webhooks(owner: User, receivers: list[Recorder]) -> None:
    """Create the enabled channels of the account."""
    User.objects.filter(pk=owner.pk).update(email_reminders_enabled=False)
    for receiver in receivers:
        row = Destination(owner=owner, type="WEBHOOK", label=receiver.host, secret="whsec_" + "A" * 44)
        row.set_url(f"{receiver.url}/{owner.pk}", "")
        row.save()


class Server:
    """Counts the requests under way at all its hosts together, by account, and holds them until it is released."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.released = threading.Event()
        self.under_way: Counter[str] = Counter()
        self.most: Counter[str] = Counter()

    def hold(self, request: Received) -> Reply:
        with self.lock:
            self.under_way[request.path] += 1
            self.most[request.path] = max(self.most[request.path], self.under_way[request.path])
        self.released.wait()
        with self.lock:
            self.under_way[request.path] -= 1
        return Reply()


@pytest.mark.django_db(transaction=True)
def test_twenty_accounts_with_slow_webhooks_delay_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty hostile accounts, each with three hosts that do not answer and four reminders on each, beside twenty
    honest ones. All honest reminders are sent while none of the hostile calls has ended."""
    monkeypatch.setattr(HOST_CALLS, "threads", WINDOW)
    monkeypatch.setattr(Rules, "start_call", start_patient_call)
    server, executor = Server(), QueueExecutor("reminders", THREADS["reminders"])
    tasks: list[Future[None]] = []

    def enqueue(*delivery_ids: str) -> None:
        tasks.append(executor.submit(send, [UUID(text) for text in delivery_ids]))

    def send(delivery_ids: list[UUID]) -> None:
        try:
            dispatch.send_queued(delivery_ids=delivery_ids, enqueue=enqueue)
        finally:
            connections.close_all()

    with ExitStack() as stack:
        slow = [stack.enter_context(recording_server(host=host)) for host in SLOW_HOSTS]
        fast = stack.enter_context(recording_server(host=FAST_HOST))
        stack.callback(executor.shutdown)
        stack.callback(server.released.set)
        for receiver in slow:
            receiver.reply = server.hold
        hostile = [make_user(f"hostile-{number}@example.org") for number in range(20)]
        honest = [make_user(f"honest-{number}@example.org") for number in range(20)]
        for owner in hostile:
            make_webhooks(owner, slow)
            make_due(owner, 4)
        for owner in honest:
            make_webhooks(owner, [fast])
            make_due(owner, 1)
        dispatch.scan(now=timezone.now())
        dispatch.enqueue_due(enqueue)
        wait_until(lambda: len(fast.received) == 20)
        ended = Delivery.unscoped.filter(owner__in=hostile).exclude(attempts=0).count()
        assert ended == 0, "no hostile call has ended yet"
        assert set(server.most.values()) <= {1, 2}
        server.released.set()
        while pending := [task for task in list(tasks) if not task.done()]:
            pending[0].result(180)
    assert max(server.most.values()) <= MAX_EXCHANGES
    honest_states = Delivery.unscoped.filter(owner__in=honest).values_list("state", "attempts")
    assert set(honest_states) == {(DeliveryState.SENT, 1)}


@pytest.mark.django_db
def test_third_request_of_an_account_that_waits_for_a_server_is_503(
    monkeypatch: pytest.MonkeyPatch, receiver: Recorder, alice: User, api: Client
) -> None:
    """In a web process, too: test sends, new destinations and connection tests share the two exchanges."""
    monkeypatch.setattr(exchanges, "_PLACES", replace(exchanges._PLACES, seconds=0))
    make_webhooks(alice, [receiver])
    path = f"/api/notifications/endpoints/{Destination.unscoped.get().pk}/test"
    with exchanges_of(alice.pk, wait_seconds=0), ExitStack() as stack:
        for _ in range(MAX_EXCHANGES):
            stack.enter_context(EXCHANGES.exchange(rules_of(alice.pk)))
        assert "under way" in api.ok("POST", path, status=503)["error"]
        assert receiver.received == []
    api.ok("POST", path)
    assert len(receiver.received) == 1


@pytest.mark.django_db
def test_command_sends_others_before_the_rest_of_a_slow_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """`deliver_reminders` has one thread: after one slow delivery of an account, its others come last."""
    clock = [0.0]  # of the exchanges: on a busy machine, any delivery may take long
    monkeypatch.setattr(exchanges, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    order: list[str] = []

    def note(request: Received) -> Reply:
        order.append(request.path)
        if request.path.endswith(str(hostile.pk)):
            clock[0] += 2 * exchanges.SLOW_SECONDS
        return Reply()

    with recording_server() as receiver:
        receiver.reply = note
        hostile, honest = make_user("hostile@example.org"), [make_user(f"{n}@example.org") for n in range(3)]
        for owner, number in ((hostile, 4), *((owner, 2) for owner in honest)):
            make_webhooks(owner, [receiver])
            make_due(owner, number)
        dispatch.scan(now=timezone.now())
        assert sum(dispatch.send_due(now=timezone.now()).values()) == 10
    places = [place for place, path in enumerate(order) if path.endswith(str(hostile.pk))]
    assert len(order) == 10
    assert places[0] < 4
    assert places[1:] == [7, 8, 9]
