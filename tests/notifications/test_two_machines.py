"""Concurrent runs in separate processes, as on two machines, and every task run twice."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from notifications import tasks
from notifications.models import Delivery, Destination
from notifications.models.deliveries import last_heartbeat
from tests.fork_targets import run_command
from tests.loopback import Recorder
from tests.notifications.test_workers import ids, make_due, webhook
from tests.workers import start_fork

pytestmark = pytest.mark.django_db(transaction=True)
__all__ = ["webhook"]  # the fixture


def test_four_concurrent_runs_send_each_notice_once(
    tmp_path: Path, webhook: Destination, receiver: Recorder, alice: User
) -> None:
    make_due(alice, 40)
    runs = [start_fork(run_command, tmp_path / "log", {}, "deliver_reminders") for _ in range(4)]
    for run in runs:
        run.join(120)
    assert [run.exitcode for run in runs] == [0] * 4, (tmp_path / "log").read_text()
    assert ids(receiver) == Counter({str(row.pk): 1 for row in Delivery.unscoped.all()})
    assert len(receiver.received) == 40
    assert last_heartbeat("due_scan") is not None, "cron in the scheduler's place keeps health fit"


def test_tasks_may_run_twice(webhook: Destination, receiver: Recorder, alice: User) -> None:
    make_due(alice, 3)
    User.objects.filter(pk=alice.pk).update(reminders_stale=True)
    handed: list[str] = []
    for _ in range(2):
        tasks.replan(str(alice.pk))
        before = timezone.now()
        tasks.due_scan()
        beat: Any = last_heartbeat("due_scan")
        assert beat >= before
    handed = [str(pk) for pk in Delivery.unscoped.values_list("pk", flat=True)]
    for delivery_id in [*handed, *handed]:
        tasks.send(delivery_id)
    tasks.purge_deliveries()
    tasks.purge_deliveries()
    assert len(receiver.received) == 3
    assert set(Delivery.unscoped.values_list("state", flat=True)) == {"sent"}


def test_task_for_a_deleted_row_does_nothing(alice: User) -> None:
    tasks.send(str(alice.pk))
    alice_id = str(alice.pk)
    alice.delete()
    tasks.replan(alice_id)
