"""The ledger: attempts and their times, giving up, claims, and deliveries that are no longer wanted."""

import datetime as dt
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.core.management import call_command
from django.db import IntegrityError, transaction

from accounts.models import User
from notifications.channels.interface import AttemptOutcome
from notifications.models import Delivery
from notifications.services import dispatch, sender
from people.dates import schedule
from people.models import ImportantDate, Person
from tests.builders import UNKNOWN_ID
from tests.notifications.recording_channel import DOWN, OK, RecordingChannel

pytestmark = pytest.mark.django_db

DUE = dt.datetime(2026, 5, 4, 9, tzinfo=dt.UTC)


@pytest.fixture(autouse=True)
def clock() -> Any:
    with time_machine.travel("2026-05-04T08:00:00Z", tick=False) as clock:
        yield clock


@pytest.fixture
def date(ada: Person) -> ImportantDate:
    row = ImportantDate(owner=ada.owner, person=ada, title="Met", date=dt.date(1990, 5, 4), reminder_enabled=True)
    schedule.schedule_date(row, schedule.load_calendar(ada.owner), dt.datetime(2026, 5, 4, 8, tzinfo=dt.UTC))
    row.save()
    return row


def run(after: dt.timedelta = dt.timedelta()) -> None:
    call_command("deliver_reminders", "--now", (DUE + after).isoformat())


def minutes(n: float) -> dt.timedelta:
    return dt.timedelta(minutes=n)


def test_delivery_is_unique_in_the_database(date: ImportantDate, channel: RecordingChannel) -> None:
    run()
    row = Delivery.unscoped.get()
    row.pk = UUID(UNKNOWN_ID)
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)


def test_retries_have_growing_delays(date: ImportantDate, channel: RecordingChannel) -> None:
    channel.always = DOWN
    expected = [0, 1, 5, 30, 120, 300, 600]
    for tries, offset in enumerate(expected, 1):
        if offset:
            run(minutes(offset * 0.89))
            assert len(channel.sent) == tries - 1
        run(minutes(offset * 1.11))
        assert len(channel.sent) == tries
    row = Delivery.unscoped.get()
    assert (row.state, row.code, row.attempts) == ("failed", "http_5xx", 7)
    assert channel.recorded == [("one", DOWN)]
    run(minutes(800))
    assert len(channel.sent) == 7


def test_every_try_has_the_same_content(date: ImportantDate, channel: RecordingChannel) -> None:
    channel.outcomes = [DOWN, DOWN]
    for offset in (0, 2, 6):
        run(minutes(offset))
    assert [sent.outcome for sent in channel.sent] == [DOWN, DOWN, OK]
    assert (
        len({(sent.notice.id, str(sorted(sent.notice.content.items())), sent.notice.made_at) for sent in channel.sent})
        == 1
    )
    assert channel.recorded == [("one", OK)]
    assert Delivery.unscoped.get().state == "sent"


def test_delivery_is_not_retried_on_the_next_day(date: ImportantDate, alice: User, channel: RecordingChannel) -> None:
    channel.always = DOWN
    User.objects.filter(pk=alice.pk).update(reminder_hour=23)
    date.next_due_at = DUE + dt.timedelta(hours=14)
    date.save()
    for offset in (840, 842, 846, 873, 1000, 1200, 1400):
        run(minutes(offset))
    # Attempts at 23:00, 23:01, 23:05, 23:30; the next, two hours after the first, would be on the next day.
    assert len(channel.sent) == 4
    assert Delivery.unscoped.get().state == "failed"


def test_retry_after_is_honoured(date: ImportantDate, channel: RecordingChannel) -> None:
    channel.outcomes = [AttemptOutcome(code="http_429", retry_after=3600)]
    for offset in (0, 6, 35, 59):
        run(minutes(offset))
    assert len(channel.sent) == 1
    run(minutes(60))
    assert len(channel.sent) == 2


def test_retry_after_beyond_the_day_ends_the_delivery(date: ImportantDate, channel: RecordingChannel) -> None:
    channel.outcomes = [AttemptOutcome(code="http_429", retry_after=20 * 3600)]
    run()
    row = Delivery.unscoped.get()
    assert (row.state, row.code) == ("failed", "http_429")


def test_final_failure_ends_the_delivery(date: ImportantDate, channel: RecordingChannel) -> None:
    channel.outcomes = [AttemptOutcome(code="http_4xx", is_final=True, is_gone=True)]
    run()
    run(minutes(5))
    assert len(channel.sent) == 1
    assert Delivery.unscoped.get().state == "failed"


def test_first_try_after_midnight_may_be_retried_that_day(date: ImportantDate, channel: RecordingChannel) -> None:
    dispatch.scan(now=DUE)
    channel.outcomes = [DOWN]
    run(dt.timedelta(days=1))
    run(dt.timedelta(days=1, minutes=2))
    assert [sent.outcome for sent in channel.sent] == [DOWN, OK]
    assert channel.sent[0].notice.content["daysUntil"] == -1
    assert channel.sent[0].notice.content["late"] is True
    assert Delivery.unscoped.get().late


def test_delivery_tried_on_its_day_is_not_tried_on_the_next(date: ImportantDate, channel: RecordingChannel) -> None:
    channel.always = DOWN
    run()
    run(dt.timedelta(days=1))
    row = Delivery.unscoped.get()
    assert (len(channel.sent), row.state, row.code, row.attempts) == (1, "failed", "http_5xx", 1)
    assert channel.recorded == [("one", DOWN)]


def claim(pk: UUID) -> Delivery | None:
    """Claim the delivery, as a worker does right before it sends."""
    (delivery,) = sender.load_deliveries([pk])
    return delivery if sender.claim(delivery, now=DUE) else None


def test_delivery_is_claimed_once(date: ImportantDate, channel: RecordingChannel) -> None:
    dispatch.scan(now=DUE)
    row = Delivery.unscoped.get()
    assert claim(row.pk) is not None
    assert claim(row.pk) is None
    run()
    assert channel.sent == []


def test_expired_claim_is_taken_over(date: ImportantDate, channel: RecordingChannel, clock: Any) -> None:
    dispatch.scan(now=DUE)
    row = Delivery.unscoped.get()
    dead = claim(row.pk)
    assert dead is not None
    clock.shift(61)
    run(minutes(1))
    assert len(channel.sent) == 1
    # The worker that was presumed dead comes back and must not overwrite the outcome.
    sender.record_attempt(dead, DOWN, now=DUE)
    row.refresh_from_db()
    assert (row.state, row.code) == ("sent", "")
    assert len(channel.recorded) == 1


def test_claim_of_a_killed_process_is_free_at_once(date: ImportantDate, channel: RecordingChannel) -> None:
    dispatch.scan(now=DUE)
    row = Delivery.unscoped.get()
    claim(row.pk)
    machine, pid, start = Delivery.unscoped.get().holder.split(":")
    for holder in (f"{machine}:{pid}:{start}", f"elsewhere:{pid}:1", ""):
        Delivery.unscoped.update(holder=holder)
        run()
        assert channel.sent == [], f"nothing says that {holder!r} is gone"
    Delivery.unscoped.update(holder=f"{machine}:{pid}:{int(start) - 1}")
    run()
    assert len(channel.sent) == 1
    assert Delivery.unscoped.get().claims == 2


def test_delivery_that_kills_its_senders_ends(date: ImportantDate, channel: RecordingChannel, clock: Any) -> None:
    dispatch.scan(now=DUE)
    row = Delivery.unscoped.get()
    for _ in range(5):
        assert claim(row.pk) is not None
        clock.shift(61)
    run()
    row.refresh_from_db()
    assert (row.state, row.code) == ("skipped", "crashed")


def test_hand_out_enqueues_each_delivery_once_until_it_counts_as_lost(
    date: ImportantDate, channel: RecordingChannel, clock: Any
) -> None:
    handed: list[str] = []
    clock.move_to(DUE)
    dispatch.scan(now=DUE)
    for _ in range(2):
        dispatch.enqueue_due(handed.append)
    assert len(handed) == 1
    clock.shift(121)
    dispatch.enqueue_due(handed.append)
    assert len(handed) == 2
    for delivery_id in handed:
        sender.send_delivery(delivery_id=UUID(delivery_id), now=DUE + minutes(3))
    assert len(channel.sent) == 1


def test_command_distinguishes_deliveries_sent_by_another_run(
    ada: Person, channel: RecordingChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for title in ("Met", "Wed", "Moved"):
        row = ImportantDate(owner=ada.owner, person=ada, title=title, date=DUE.date(), reminder_enabled=True)
        schedule.schedule_date(row, schedule.load_calendar(ada.owner), DUE - minutes(60))
        row.save()
    others: list[UUID] = []

    def send_while_another_run_sends(key: str, notice: Any, row: Any = None) -> AttemptOutcome:
        if not others:
            ids = Delivery.unscoped.rows().filter(state="pending").order_by("id").values_list("pk", flat=True)
            others.extend(ids)
            ImportantDate.unscoped.filter(pk=Delivery.unscoped.get(pk=ids[1]).source_id).update(reminder_enabled=False)
            sender.send_delivery(delivery_id=others[0], now=DUE)
        return OK

    monkeypatch.setattr(channel, "send", send_while_another_run_sends)
    out = StringIO()
    call_command("deliver_reminders", "--now", DUE.isoformat(), stdout=out)
    assert out.getvalue() == "3 planned, 1 sent, 0 failed, 1 skipped, 1 taken by another run\n"


def test_command_counts_reminders_that_are_too_late_as_skipped(date: ImportantDate, channel: RecordingChannel) -> None:
    out = StringIO()
    call_command("deliver_reminders", "--now", (DUE + dt.timedelta(4)).isoformat(), stdout=out)
    assert out.getvalue() == "1 planned, 0 sent, 0 failed, 1 skipped, 0 taken by another run\n"


def test_delivery_with_a_lost_claim_is_enqueued_again(
    date: ImportantDate, channel: RecordingChannel, clock: Any
) -> None:
    handed: list[str] = []
    clock.move_to(DUE)
    dispatch.scan(now=DUE)
    claim(Delivery.unscoped.get().pk)
    dispatch.enqueue_due(handed.append)
    assert handed == []
    clock.shift(61)
    dispatch.enqueue_due(handed.append)
    assert len(handed) == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda date, channel: ImportantDate.unscoped.filter(pk=date.pk).update(deleted_at=DUE), "deleted"),
        (lambda date, channel: ImportantDate.unscoped.filter(pk=date.pk).delete(), "deleted"),
        (lambda date, channel: Person.unscoped.filter(pk=date.person_id).update(deleted_at=DUE), "deleted"),
        (lambda date, channel: ImportantDate.unscoped.update(reminder_enabled=False), "reminder_off"),
        (lambda date, channel: User.objects.update(is_active=False), "account_inactive"),
        (lambda date, channel: channel.on.update(one="disabled"), "disabled"),
        (lambda date, channel: channel.on.clear(), "removed"),
    ],
)
def test_delivery_that_is_no_longer_wanted_is_not_sent(
    date: ImportantDate, channel: RecordingChannel, change: Any, reason: str
) -> None:
    channel.outcomes = [DOWN]
    run()
    change(date, channel)
    run(minutes(2))
    row = Delivery.unscoped.get()
    assert (len(channel.sent), row.state, row.code) == (1, "skipped", reason)


def test_permanent_removal_of_a_person_deletes_its_deliveries(date: ImportantDate, channel: RecordingChannel) -> None:
    run()
    date.person.delete()
    assert not Delivery.unscoped.exists()


def test_contact_since_planning_cancels_the_reminder(ada: Person, alice: User, channel: RecordingChannel) -> None:
    ada.contact_reminder_enabled, ada.last_contact = True, dt.date(2026, 4, 4)
    schedule.schedule_contact(ada, schedule.load_calendar(alice), dt.datetime(2026, 5, 4, 8, tzinfo=dt.UTC))
    ada.save()
    channel.outcomes = [DOWN]
    run()
    Person.unscoped.update(last_contact="2026-05-04")
    run(minutes(2))
    assert (len(channel.sent), Delivery.unscoped.get().code) == (1, "contacted")
