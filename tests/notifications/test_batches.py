"""Deliveries that are claimed in one batch: each is sent once, and none delays the others."""

import datetime as dt
import threading
from uuid import UUID

import pytest
from django.db import connections
from django.utils import timezone

from accounts.models import User
from notifications import tasks
from notifications.channels import email
from notifications.channels.email import EmailChannel
from notifications.models import Delivery, Destination
from notifications.services import dispatch, due_scan, sender
from people.models import ImportantDate
from tests.builders import make_user
from tests.loopback import Received, Recorder, Reply
from tests.mailbox import Mailbox
from tests.notifications.notices import make_notice
from tests.notifications.test_workers import ids, make_due, webhook

pytestmark = pytest.mark.django_db(transaction=True)
__all__ = ["webhook"]  # the fixture


def write_due_deliveries(owner: User, count: int) -> list[UUID]:
    make_due(owner, count)
    dispatch.scan(now=timezone.now())
    return list(Delivery.unscoped.values_list("pk", flat=True))


def send_alone(delivery_id: UUID) -> None:
    try:
        sender.send_batch(delivery_ids=[delivery_id])
    finally:
        connections.close_all()


def states() -> set[tuple[str, int, int]]:
    return set(Delivery.unscoped.values_list("state", "attempts", "claims"))


def test_a_batch_is_sent_over_one_connection(alice: User, webhook: Destination, receiver: Recorder) -> None:
    receiver.reply = Reply()
    batch = write_due_deliveries(alice, 5)
    assert sender.send_batch(delivery_ids=batch) == []
    assert sender.send_batch(delivery_ids=batch) == []
    assert ids(receiver) == dict.fromkeys(map(str, batch), 1)
    assert states() == {("sent", 1, 1)}
    assert len(receiver.connections) == 1


def test_oldest_delivery_of_a_batch_is_sent_first(alice: User, webhook: Destination) -> None:
    batch = sorted(write_due_deliveries(alice, 3))
    for number, delivery_id in enumerate(batch):
        due = timezone.now() - dt.timedelta(minutes=number)
        Delivery.unscoped.filter(pk=delivery_id).update(next_try_at=due)
    assert [delivery.pk for delivery in sender.load_deliveries(batch)] == batch[::-1]


def test_slow_delivery_lets_the_others_continue_separately(
    alice: User, webhook: Destination, receiver: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "_SLOW_SEND_SECONDS", 0.0)
    receiver.reply = Reply()
    batch, alone = write_due_deliveries(alice, 3), list[tuple[str, ...]]()
    dispatch.send_queued(delivery_ids=batch, enqueue=lambda *ids: alone.append(ids))
    assert len(alone) == 2
    rows = Delivery.unscoped.filter(pk__in=[id_ for ids in alone for id_ in ids])
    assert set(rows.values_list("state", "attempts", "claims", "claim")) == {("pending", 0, 0, None)}
    for ids_ in alone:
        tasks.send(*ids_)
    assert ids(receiver) == dict.fromkeys(map(str, batch), 1)


def test_waiting_deliveries_of_a_batch_are_not_claimed(alice: User, webhook: Destination, receiver: Recorder) -> None:
    """While the first of the batch is sent, another run sends the rest, which this run then skips."""
    batch = write_due_deliveries(alice, 3)

    def send_the_last(request: Received) -> Reply:
        if request.headers["webhook-id"] == str(batch[0]):
            thread = threading.Thread(target=send_alone, args=(batch[2],))
            thread.start()
            thread.join()
        return Reply()

    receiver.reply = send_the_last
    sender.send_batch(delivery_ids=batch)
    assert ids(receiver) == dict.fromkeys(map(str, batch), 1)
    assert states() == {("sent", 1, 1)}


def test_worker_that_lost_its_claims_sends_nothing(alice: User, webhook: Destination, receiver: Recorder) -> None:
    """The row may change after it was read; the claim right before the send checks its current state."""
    batch = write_due_deliveries(alice, 2)
    receiver.reply = Reply()
    stale = sender.load_deliveries(batch)
    sender.send_batch(delivery_ids=batch)
    assert [sender.claim(delivery, now=timezone.now()) for delivery in stale] == [False, False]


def test_delivery_that_raises_does_not_stop_the_others(
    alice: User, webhook: Destination, receiver: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.reply = Reply()
    batch, real = write_due_deliveries(alice, 3), sender.build_notice

    def break_delivery(delivery: Delivery, now: dt.datetime) -> object:
        if delivery.pk == batch[0]:
            raise RuntimeError
        return real(delivery, now)

    monkeypatch.setattr(sender, "build_notice", break_delivery)
    sender.send_batch(delivery_ids=batch)
    assert set(ids(receiver)) == set(map(str, batch[1:]))
    assert Delivery.unscoped.get(pk=batch[0]).state == "sending", "found again when its lease runs out"


def test_delivery_of_a_killed_sender_is_sent_alone(alice: User, webhook: Destination) -> None:
    batch = write_due_deliveries(alice, 3)
    for delivery in sender.load_deliveries(batch):
        assert sender.claim(delivery, now=timezone.now())
    Delivery.unscoped.rows().update(held_until=timezone.now() - dt.timedelta(minutes=1))
    handed: list[tuple[str, ...]] = []
    dispatch.enqueue_due(lambda *batch: handed.append(batch))
    assert sorted(handed) == sorted((str(pk),) for pk in batch)


def test_redelivered_batch_skips_deliveries_that_were_begun(
    alice: User, webhook: Destination, receiver: Recorder
) -> None:
    receiver.reply = Reply()
    batch = write_due_deliveries(alice, 3)
    assert sender.claim(sender.load_deliveries(batch[:1])[0], now=timezone.now())
    Delivery.unscoped.rows().filter(pk=batch[0]).update(held_until=timezone.now() - dt.timedelta(minutes=1))
    sender.send_batch(delivery_ids=batch)
    assert set(ids(receiver)) == set(map(str, batch[1:]))
    sender.send_batch(delivery_ids=batch[:1])
    assert ids(receiver) == dict.fromkeys(map(str, batch), 1)


def test_delivery_of_an_unknown_channel_does_not_stop_the_others(
    alice: User, webhook: Destination, receiver: Recorder
) -> None:
    receiver.reply = Reply()
    batch = write_due_deliveries(alice, 3)
    Delivery.unscoped.filter(pk=batch[0]).update(channel="gone")
    sender.send_batch(delivery_ids=batch)
    assert set(ids(receiver)) == set(map(str, batch[1:]))


def test_several_batches_are_enqueued_at_once(alice: User, webhook: Destination) -> None:
    write_due_deliveries(alice, dispatch.BATCH_SIZE + 1)
    handed: list[tuple[str, ...]] = []
    assert dispatch.enqueue_due(lambda *batch: handed.append(batch)) == dispatch.BATCH_SIZE + 1
    assert [len(batch) for batch in handed] == [dispatch.BATCH_SIZE, 1]


def test_many_accounts_are_planned_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(due_scan, "ACCOUNTS_PER_BATCH", 2)
    for number in range(5):
        make_due(make_user(f"early{number}@example.org"), 1)
    portions: list[tuple[str, ...]] = []
    dispatch.scan(now=timezone.now(), enqueue_accounts=lambda *owners: portions.append(owners))
    assert sorted(len(portion) for portion in portions) == [1, 2, 2]
    assert not Delivery.unscoped.exists()
    handed: list[tuple[str, ...]] = []
    for portion in [*portions, *portions]:
        owners = [UUID(text) for text in portion]
        dispatch.scan_accounts_batch(owner_ids=owners, now=timezone.now(), enqueue=lambda *batch: handed.append(batch))
    assert Delivery.unscoped.count() == sum(map(len, handed)) == 5
    assert not ImportantDate.unscoped.filter(next_due_at__lte=timezone.now()).exists()


def test_mails_of_a_batch_are_sent_over_one_connection(alice: User, mailbox: Mailbox) -> None:
    channel = EmailChannel()
    with channel.reuse_connections():
        for _ in range(3):
            assert channel.send("email", make_notice(alice)).is_ok
    assert len(mailbox.messages) == 3
    assert len(set(mailbox.peers)) == 1


def test_mail_is_retried_if_the_server_closed_the_connection(alice: User, mailbox: Mailbox) -> None:
    channel = EmailChannel()
    with channel.reuse_connections():
        assert channel.send("email", make_notice(alice)).is_ok
        email._shared_connection.get().connection.sock.shutdown(2)
        assert channel.send("email", make_notice(alice)).is_ok
    assert len(set(mailbox.peers)) == 2
