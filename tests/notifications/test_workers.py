"""Real workers that are killed: no due delivery is lost, and none that was recorded as sent is sent again."""

import datetime as dt
import logging
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from contacts_project.celery import app
from notifications import tasks
from notifications.models import Delivery, DeliveryState, Destination
from people.models import ImportantDate
from tests.builders import make_person
from tests.loopback import Received, Recorder, Reply
from tests.rounds import rounds
from tests.workers import Workers, redis_server, workers_in

log = logging.getLogger(__name__)
pytestmark = pytest.mark.django_db(transaction=True)

DELIVERIES = rounds(100)
KILLS = max(2, DELIVERIES // 200)
# A confirmed delivery is recorded within milliseconds; on a loaded machine, within this time.
RECORDING_SECONDS = 2


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    app.control  # noqa: B018 - loads the application's settings in this process
    with workers_in(tmp_path, DELIVERY_LEASE_SECONDS="20") as running:
        yield running


@pytest.fixture
def webhook(alice: User, receiver: Recorder) -> Destination:
    """The only enabled channel."""
    User.objects.filter(pk=alice.pk).update(email_reminders_enabled=False)
    receiver.reply = answer_slowly
    row = Destination(owner=alice, type="WEBHOOK", label="Recorder", secret="whsec_" + "A" * 44)
    row.set_url(f"{receiver.url}/hook", "")
    row.save()
    return row


def answer_slowly(request: Received) -> Reply:
    """Answer slowly, so that workers are killed in the middle of a delivery."""
    time.sleep(0.02)
    return Reply()


def make_due(owner: User, count: int) -> None:
    """Create dates whose reminder is due now."""
    person, now = make_person(owner), timezone.now()
    ImportantDate.objects.bulk_create(
        ImportantDate(
            owner=owner,
            person=person,
            title=f"Day {n}",
            date=now.date(),
            reminder_enabled=True,
            reminder_type="RECURRING",
            reminder_interval=1,
            reminder_interval_unit="YEARS",
            next_due_at=now,
            next_occurrence_on=now.date(),
            next_kind="day",
        )
        for n in range(count)
    )


def ids(receiver: Recorder) -> Counter[str]:
    return Counter(request.headers["webhook-id"] for request in list(receiver.received))


def sent() -> int:
    return Delivery.unscoped.filter(state=DeliveryState.SENT).count()


@pytest.mark.one_database
def test_worker_sends_due_deliveries(workers: Workers, webhook: Destination, receiver: Recorder, alice: User) -> None:
    make_due(alice, 5)
    tasks.due_scan.delay()
    workers.start()
    workers.wait_until(lambda: sent() == 5)
    assert set(ids(receiver).values()) == {1}
    tasks.due_scan.delay()
    time.sleep(1)
    assert len(receiver.received) == 5


def test_killed_workers_lose_nothing_and_repeat_only_unconfirmed_deliveries(
    workers: Workers, webhook: Destination, receiver: Recorder, alice: User
) -> None:
    make_due(alice, DELIVERIES)
    kills = send_all_while_killing_workers(workers, receiver)
    requests = by_delivery(receiver)
    rows = {str(row.pk): row for row in Delivery.unscoped.all()}
    assert len(rows) == DELIVERIES
    assert set(requests) == set(rows), "lost, or sent without a row"
    doubled = {id_: same for id_, same in requests.items() if len(same) > 1}
    for id_, same in doubled.items():
        holding = [kill for kill in kills if id_ in kill.held]
        # Not by the time of arrival: the receiver may read a request after its worker was killed.
        assert len(same) - 1 <= len(holding), "sent twice by a worker that lived, or recorded and sent again"
        for number, kill in enumerate(holding):
            confirmed = [at for request in same if (at := request.answered_at) is not None and at < kill.at]
            of_this_claim = confirmed[number:]
            assert all(kill.at - at < RECORDING_SECONDS for at in of_this_claim), "confirmed long since, not recorded"
    log.info("%d deliveries, %d kills: none lost, %d doubled", DELIVERIES, len(kills), len(doubled))


@dataclass(frozen=True)
class Kill:
    """When a worker was killed, and which deliveries it held, recorded neither as sent nor failed."""

    at: float
    held: set[str]


def send_all_while_killing_workers(workers: Workers, receiver: Recorder) -> list[Kill]:
    """Run a worker until everything is sent, killing it at random points and starting another; returns the kills."""
    dice = random.Random()
    marks = sorted(dice.sample(range(1, DELIVERIES * 9 // 10), KILLS))
    worker, kills, beat = workers.start(), list[Kill](), 0.0
    deadline = time.monotonic() + 120 + DELIVERIES / 2
    while True:
        if time.monotonic() - beat > 1:
            if sent() == DELIVERIES:
                break
            tasks.due_scan.delay()
            beat = time.monotonic()
            assert beat < deadline, (sent(), len(kills))
        if marks and len(receiver.received) >= marks[0]:
            marks.pop(0)
            time.sleep(dice.random() / 20)
            at = time.monotonic()
            workers.kill(worker)
            ours = Delivery.unscoped.filter(state=DeliveryState.SENDING, holder__contains=f":{worker.pid}:")
            held = ours.values_list("pk", flat=True)
            kills.append(Kill(at, {str(pk) for pk in held}))
            worker = workers.start()
        time.sleep(0.02)
    assert len(kills) == KILLS
    return kills


def by_delivery(receiver: Recorder) -> dict[str, list[Received]]:
    """The requests of each delivery, in order."""
    found: dict[str, list[Received]] = defaultdict(list)
    for request in list(receiver.received):
        found[request.headers["webhook-id"]].append(request)
    return found


@pytest.mark.skipif("TEST_DATABASE_URL" not in os.environ, reason="Redis stands beside PostgreSQL")
def test_deliveries_of_a_killed_worker_are_found_again_on_redis(
    tmp_path: Path, webhook: Destination, receiver: Recorder, alice: User
) -> None:
    """Redis redelivers the tasks of a dead worker only after an hour; the scan over the rows finds them earlier."""
    make_due(alice, 40)
    is_killed = Event()

    def answer_ten(request: Received) -> Reply:
        if len(receiver.received) > 10:
            is_killed.wait(180)
        return answer_slowly(request)

    receiver.reply = answer_ten
    with redis_server() as url, workers_in(tmp_path, DELIVERY_LEASE_SECONDS="2", REDIS_URL=url) as workers:
        worker = workers.start()
        workers.enqueue("notifications.tasks.due_scan")
        workers.wait_until(lambda: len(receiver.received) > 10)
        workers.kill(worker)
        is_killed.set()
        assert sent() < 40
        workers.start()
        workers.start()
        # Deliveries that the dead worker held are free after one lease, those that were queued for it after two.
        time.sleep(4)
        workers.enqueue("notifications.tasks.due_scan")
        workers.wait_until(lambda: sent() == 40)
    assert len(ids(receiver)) == 40


@pytest.mark.one_database
def test_deliveries_enqueued_without_a_worker_are_not_lost(
    workers: Workers, webhook: Destination, receiver: Recorder, alice: User
) -> None:
    make_due(alice, 3)
    tasks.due_scan()
    assert Delivery.unscoped.filter(state=DeliveryState.PENDING).count() == 3
    workers.start()
    workers.wait_until(lambda: sent() == 3)
    assert len(receiver.received) == 3


@pytest.mark.one_database
def test_lost_queue_is_filled_again(
    workers: Workers, webhook: Destination, receiver: Recorder, alice: User, settings: Any
) -> None:
    settings.DELIVERY_LEASE_SECONDS = 0
    make_due(alice, 3)
    tasks.due_scan()
    app.control.purge()
    assert dt.timedelta() <= timezone.now() - Delivery.unscoped.earliest("planned_at").planned_at
    tasks.due_scan()
    workers.start()
    workers.wait_until(lambda: sent() == 3)
    assert len(receiver.received) == 3
