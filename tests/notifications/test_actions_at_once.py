"""Concurrent answers to reminders, and answers whose process dies half way."""

from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from contacts_project.kernel.ownership.models import OwnedQuerySet
from notifications.models import Delivery
from notifications.services import dispatch, due_scan
from people.models import Interaction, Person
from tests.client import Client, client_of
from tests.concurrency import run_concurrently
from tests.notifications.recording_channel import RecordingChannel
from tests.notifications.test_actions import answers as given_answers
from tests.notifications.test_actions import links
from tests.notifications.test_reminders import DAY, remind
from tests.rounds import rounds

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("clock")]


@pytest.fixture
def sent_twice(api: Client, ada: Person, channel: RecordingChannel) -> RecordingChannel:
    """A channel with two destinations, to which today's reminder about Ada was sent."""
    channel.on = {"one": None, "two": None}
    remind(api, ada, "1990-03-01")
    call_command("deliver_reminders")
    assert channel.sent_notices == [(DAY, "2026-03-01")] * 2
    return channel


def test_concurrent_actions_act_once(api: Client, sent_twice: RecordingChannel) -> None:
    paths = [links(sent_twice, place)[word] for place in (0, 1) for word in ("contacted", "snooze1") for _ in range(2)]
    for _ in range(rounds(1)):
        results = run_concurrently(*(partial(client_of(None).ok, "post", path) for path in paths))
        assert all(result["success"] for result in results)
    assert Interaction.unscoped.count() == 1
    for said in given_answers(api):
        assert sorted(said) == ["contacted", "snooze1"]


def test_two_scans_send_a_snoozed_reminder_once(api: Client, sent_twice: RecordingChannel, clock: Any) -> None:
    client_of(None).ok("post", links(sent_twice)["snooze1"])
    clock.move_to("2026-03-02T09:00:00Z")
    assert sorted(run_concurrently(*[partial(dispatch.scan, now=timezone.now())] * 2)) == [0, 2]
    call_command("deliver_reminders")
    assert sorted(sent.key for sent in sent_twice.sent[2:]) == ["one", "two"]


def test_interrupted_action_changes_nothing(sent_twice: RecordingChannel, monkeypatch: pytest.MonkeyPatch) -> None:
    path = links(sent_twice)["contacted"]
    with monkeypatch.context() as broken:
        broken.setattr(OwnedQuerySet, "bulk_update", kill_process)
        with pytest.raises(RuntimeError):
            client_of(None).call("post", path)
    assert Interaction.unscoped.count() == 0
    client_of(None).ok("post", path)
    assert Interaction.unscoped.count() == 1


def test_snoozed_reminder_is_sent_once_after_a_killed_scan(
    sent_twice: RecordingChannel, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client_of(None).ok("post", links(sent_twice)["snooze1"])
    clock.move_to("2026-03-02T09:00:00Z")
    with monkeypatch.context() as broken:
        broken.setattr(due_scan, "write_deliveries", kill_process)
        call_command("deliver_reminders")
    assert Delivery.unscoped.filter(round=1).count() == 0
    call_command("deliver_reminders")
    call_command("deliver_reminders")
    assert len(sent_twice.sent) == 4


def kill_process(*args: Any, **kwargs: Any) -> Any:
    raise RuntimeError("killed here")
