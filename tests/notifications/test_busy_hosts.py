"""The limit of concurrent calls per host: deliveries over it wait in order, do not fail, and delay no other hosts."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.core.cache import cache
from django.db import connections
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.outbound.exchanges import HOST_CALLS, HostBusyError, HostCalls, host_call, limited_hosts
from contacts_project.kernel.outbound.session import Rules
from notifications.models import Delivery, DeliveryState, Destination
from notifications.services import dispatch
from notifications.services.backlog import BACKLOG, Backlog
from notifications.services.sender import send_delivery
from tests.builders import make_user
from tests.loopback import Received, Recorder, Reply, recording_server
from tests.notifications.test_workers import ids, make_due
from tests.patient_calls import start_patient_call

FAST = "127.0.0.2"


@pytest.fixture
def _four_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the host limit four threads, as a worker has."""
    monkeypatch.setattr(HOST_CALLS, "threads", 4)
    yield
    while BACKLOG.take():
        pass


def make_webhook(owner: User, receiver: Recorder) -> None:
    """Create the only enabled channel of the account."""
    User.objects.filter(pk=owner.pk).update(email_reminders_enabled=False)
    row = Destination(owner=owner, type="WEBHOOK", label="Recorder", secret="whsec_" + "A" * 44)
    row.set_url(f"{receiver.url}/hook", "")
    row.save()


def write_due_deliveries(owner: User, number: int) -> list[UUID]:
    """Plan deliveries that are due; returns their ids in the order in which they were planned."""
    make_due(owner, number)
    dispatch.scan(now=timezone.now())
    return list(Delivery.unscoped.filter(owner=owner).order_by("id").values_list("pk", flat=True))


def send_queued(delivery_id: UUID) -> None:
    try:
        dispatch.send_queued(delivery_ids=[delivery_id], enqueue=lambda id_: send_queued(UUID(id_)))
    finally:
        connections.close_all()


def test_host_gets_three_quarters_of_the_threads_or_the_configured_number(settings: Any) -> None:
    calls = HostCalls()
    assert calls.limit_of("one.example") == float("inf"), "a command has one thread, and waits for nobody"
    for threads, most in ((1, 1), (2, 1), (4, 3), (8, 6)):
        calls.threads = threads
        assert calls.limit_of("one.example") == most
    settings.OUTBOUND_CALLS_PER_HOST = 2
    assert calls.limit_of("one.example") == 2


def test_call_over_the_limit_of_its_host_is_refused() -> None:
    calls = HostCalls()
    calls.threads = 4
    with ExitStack() as under_way:
        for _ in range(3):
            under_way.enter_context(calls.hold("slow.example"))
        with pytest.raises(HostBusyError), calls.hold("slow.example"):
            raise AssertionError
        with calls.hold("other.example"):
            assert not calls.has_place("slow.example")
    assert calls.has_place("slow.example")


def test_only_calls_that_request_it_are_limited(settings: Any) -> None:
    settings.OUTBOUND_CALLS_PER_HOST = 1
    with limited_hosts(), host_call("one.example"), pytest.raises(HostBusyError), host_call("one.example"):
        raise AssertionError
    with host_call("one.example"), host_call("one.example"):
        assert HOST_CALLS.has_place("one.example")


def test_calls_per_second_are_limited_and_the_next_one_waits(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.OUTBOUND_CALLS_PER_SECOND = 3
    cache.clear()
    with time_machine.travel("2026-05-01T12:00:00Z", tick=False) as clock, limited_hosts():
        monkeypatch.setattr(time, "sleep", clock.shift)
        start, times = time.time(), []
        for _ in range(8):
            with host_call("one.example"):
                times.append(round(time.time() - start, 1))
        with host_call("other.example"):
            times.append(round(time.time() - start, 1))
    assert times == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_call_that_waits_too_long_is_given_back(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.OUTBOUND_CALLS_PER_SECOND = 1
    cache.clear()
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with time_machine.travel("2026-05-01T12:00:00Z", tick=False), limited_hosts():
        with host_call("one.example"):
            pass
        with pytest.raises(HostBusyError), host_call("one.example"):
            raise AssertionError
        assert HOST_CALLS.has_place("one.example")


def test_waiting_deliveries_are_sent_in_order_when_their_host_is_free(settings: Any) -> None:
    settings.OUTBOUND_CALLS_PER_HOST = 1
    backlog, numbers = Backlog(), [UUID(int=number) for number in range(4)]
    for number in (2, 0, 1):
        backlog.put("busy.example", numbers[number])
    backlog.put("free.example", numbers[3])
    with HOST_CALLS.hold("busy.example"):
        assert [backlog.take(), backlog.take()] == [numbers[3], None]
    assert [backlog.take() for _ in range(4)] == [*numbers[:3], None]


@pytest.mark.django_db
def test_delivery_to_a_busy_host_stays_due_without_a_try(settings: Any, receiver: Recorder, alice: User) -> None:
    settings.OUTBOUND_CALLS_PER_HOST = 1
    make_webhook(alice, receiver)
    [delivery_id] = write_due_deliveries(alice, 1)
    with HOST_CALLS.hold("127.0.0.1"), pytest.raises(HostBusyError):
        send_delivery(delivery_id=delivery_id, now=timezone.now())
    row = Delivery.unscoped.get()
    assert (row.state, row.attempts, row.claims, row.code, row.first_tried_at) == ("pending", 0, 0, "", None)
    assert row.next_try_at is not None
    assert row.next_try_at < row.expires_at
    assert not dispatch.enqueue_due(lambda *ids: None), "whoever waits for the host has it"
    assert list(dispatch.send_due(now=timezone.now()).values()) == [1]
    assert len(receiver.received) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_four_threads")
def test_hanging_host_does_not_delay_other_hosts(
    receiver: Recorder, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four threads; twenty deliveries to a host that hangs stand in the queue before three to one that answers."""
    monkeypatch.setattr(Rules, "start_call", start_patient_call)
    others_are_sent = threading.Event()

    def hang(request: Received) -> Reply:
        others_are_sent.wait()
        return Reply()

    receiver.reply = hang
    carol = make_user("carol")
    for owner in (alice, carol):
        make_webhook(owner, receiver)
    with recording_server(host=FAST) as fast, ThreadPoolExecutor(4) as threads:
        bob = make_user("bob")
        make_webhook(bob, fast)
        queue = write_due_deliveries(alice, 10) + write_due_deliveries(carol, 10) + write_due_deliveries(bob, 3)
        sending = [threads.submit(send_queued, delivery_id) for delivery_id in queue]
        try:
            for task in sending[20:]:
                task.result(180)
            assert len(fast.received) == 3
            assert len(receiver.received) == 3, "as many as may be under way to one host"
        finally:
            others_are_sent.set()
        for task in sending:
            task.result(180)
    assert set(Delivery.unscoped.values_list("state", "attempts")) == {(DeliveryState.SENT, 1)}
    assert set(ids(receiver).values()) == {1}
