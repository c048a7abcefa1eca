"""The weekly digest: its weekday and hour, once per ISO week, not without events, and on which channels."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import User
from notifications.models import Delivery, DigestSchedule
from notifications.services import dispatch
from people.models import Person
from tests.client import Client
from tests.notifications.recording_channel import DOWN, RecordingChannel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]

SUNDAY, MONDAY, WEDNESDAY = 0, 1, 3


def add(api: Client, person: Person, date: str) -> None:
    body = {"title": "Met", "date": date}
    api.ok("post", f"/api/people/{person.pk}/important-dates", body)


def switch(api: Client, weekday: int, *, enabled: bool = True) -> None:
    api.ok("put", "/api/user/weekly-digest", {"enabled": enabled, "weekday": weekday})


def run(now: str) -> None:
    call_command("send_digests", "--now", now)


def days(channel: RecordingChannel) -> list[list[str]]:
    return [[event["date"] for event in sent.notice.content["events"]] for sent in channel.sent]


def test_digest_is_sent_on_its_weekday_at_the_reminder_hour(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    for date in ("2000-03-01", "2000-03-02", "2000-03-09", "2000-03-10"):
        add(api, ada, date)
    switch(api, MONDAY)
    run("2026-03-02T08:59:00Z")
    assert channel.sent == []
    run("2026-03-02T09:00:00Z")
    assert days(channel) == [["2026-03-02", "2026-03-09"]]
    content = channel.sent[0].notice.content
    assert (content["from"], content["to"], content["late"]) == ("2026-03-02", "2026-03-09", False)
    for moment in ("2026-03-02T09:01:00Z", "2026-03-03T09:00:00Z"):
        run(moment)
    assert len(channel.sent) == 1
    run("2026-03-09T09:00:00Z")
    assert days(channel)[1:] == [["2026-03-09", "2026-03-10"]]


@pytest.mark.parametrize("weekday", range(7))
def test_zero_is_sunday(api: Client, weekday: int) -> None:
    switch(api, weekday)
    dispatch.reschedule_stale(now=timezone.now())
    # The events of the week that begins on this Sunday.
    assert DigestSchedule.objects.get().next_on.isoformat() == f"2026-03-0{1 + weekday}"


def test_digest_follows_the_time_zone(api: Client, ada: Person, channel: RecordingChannel) -> None:
    add(api, ada, "2000-03-04")
    api.ok("put", "/api/user/timezone", {"timezone": "Pacific/Kiritimati"})
    switch(api, WEDNESDAY)
    run("2026-03-03T18:59:00Z")
    assert channel.sent == []
    run("2026-03-03T19:00:00Z")
    assert days(channel) == [["2026-03-04"]]


def test_no_digest_without_events(api: Client, ada: Person, channel: RecordingChannel) -> None:
    switch(api, MONDAY)
    run("2026-03-02T09:00:00Z")
    assert (channel.sent, Delivery.unscoped.count()) == ([], 0)


def test_one_digest_per_iso_week_even_if_the_weekday_changes(
    api: Client, ada: Person, channel: RecordingChannel, clock: Any
) -> None:
    for day in range(1, 29):
        add(api, ada, f"2000-03-{day:02}")
    switch(api, MONDAY)
    run("2026-03-02T09:00:00Z")
    clock.move_to("2026-03-02T10:00:00Z")
    switch(api, WEDNESDAY)
    run("2026-03-04T09:00:00Z")
    assert len(channel.sent) == 1
    clock.move_to("2026-03-04T10:00:00Z")
    switch(api, SUNDAY)
    run("2026-03-08T09:00:00Z")
    assert len(channel.sent) == 1
    run("2026-03-15T09:00:00Z")
    assert len(channel.sent) == 2


def test_digest_enabled_in_the_afternoon_of_its_weekday_is_sent_at_once(
    api: Client, ada: Person, channel: RecordingChannel
) -> None:
    add(api, ada, "2000-03-04")
    switch(api, SUNDAY)
    call_command("send_digests")
    assert days(channel) == [["2026-03-04"]]


def test_missed_digest_is_caught_up(api: Client, ada: Person, channel: RecordingChannel) -> None:
    add(api, ada, "2000-03-03")
    add(api, ada, "2000-03-11")
    switch(api, MONDAY)
    run("2026-03-04T10:00:00Z")
    assert days(channel) == [["2026-03-11"]]
    assert channel.sent[0].notice.content["late"] is True
    run("2026-03-13T10:00:00Z")
    assert len(channel.sent) == 1


def test_no_digest_when_disabled(api: Client, ada: Person, channel: RecordingChannel) -> None:
    add(api, ada, "2000-03-04")
    switch(api, MONDAY)
    switch(api, MONDAY, enabled=False)
    run("2026-03-02T09:00:00Z")
    assert channel.sent == []
    switch(api, MONDAY)
    channel.outcomes = [DOWN]
    run("2026-03-02T09:00:00Z")
    switch(api, MONDAY, enabled=False)
    run("2026-03-02T09:02:00Z")
    assert (len(channel.sent), Delivery.unscoped.get().code) == (1, "reminder_off")


def test_digest_is_mailed_even_if_reminders_by_mail_are_disabled(api: Client, ada: Person, mailoutbox: Any) -> None:
    add(api, ada, "2000-03-04")
    api.ok("put", "/api/notifications/email", {"enabled": False})
    switch(api, MONDAY)
    run("2026-03-02T09:00:00Z")
    (mail,) = mailoutbox
    assert mail.to == ["alice@example.org"]
    assert "Ada" in mail.body


def test_command_counts_digests_without_a_channel_as_skipped(api: Client, ada: Person, settings: Any) -> None:
    settings.EMAIL_VERIFICATION = "mandatory"
    User.objects.update(proven_email=None)
    add(api, ada, "2000-03-04")
    switch(api, MONDAY)
    out = StringIO()
    call_command("send_digests", "--now", "2026-03-02T09:00:00Z", stdout=out)
    assert Delivery.unscoped.get().code == "no_channel"
    assert out.getvalue() == "1 planned, 0 sent, 0 failed, 1 skipped\n"


def test_digest_of_a_run_for_the_past(api: Client, ada: Person, channel: RecordingChannel) -> None:
    add(api, ada, "2000-02-11")
    switch(api, MONDAY)
    run("2026-02-09T09:00:00Z")
    run("2026-02-09T09:00:00Z")
    assert days(channel) == [["2026-02-11"]]
    assert DigestSchedule.objects.get().next_on.isoformat() == "2026-03-02"
