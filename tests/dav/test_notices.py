"""What the owner is told of a device, over the account's channels, and the link that brings all back."""

import datetime as dt
import re
from collections.abc import Callable

import orjson
import pytest
import time_machine
from django.core.management import call_command
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from notifications.channels import channels
from notifications.channels.webhook import body_of
from notifications.models import Delivery
from notifications.notices.actions import action_links
from notifications.notices.notice import NoticeKind
from notifications.notices.wording import wording_of
from notifications.services.sender import build_notice
from people.models import Person
from tests.client import Client, client_of
from tests.dav.devices import Device, signed_in
from tests.notifications.recording_channel import RecordingChannel

pytestmark = pytest.mark.django_db(transaction=True)


def deliveries(user: User, kind: NoticeKind) -> list[Delivery]:
    return list(Delivery.objects.owned_by(user).filter(kind=kind).select_related("owner"))


def test_one_link_brings_back_all_that_a_device_deleted(alice: User) -> None:
    api, device = client_of(alice), Device(alice)
    for n in range(9):
        api.ok("POST", "/api/people", {"name": f"Person {n}"}, status=201)
    with account_write(alice):
        Person.objects.owned_by(alice).update(created_at=timezone.now() - dt.timedelta(days=1))
    for href in sorted(device.sync().entries):
        assert device.call("DELETE", href).status_code == 204
    assert api.ok("GET", "/api/people")["people"] == []
    (delivery,) = deliveries(alice, NoticeKind.DAV_DELETIONS)
    assert (delivery.channel, delivery.content["count"], delivery.content["deviceName"]) == ("email", 6, "test")
    since = orjson.loads(body_of(build_notice(delivery, timezone.now())))["data"]["since"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", since)
    (link,) = action_links(build_notice(delivery, timezone.now()))
    path = link.url[link.url.index("/api/actions/") :]
    assert b"test" in Client().call("GET", path, HTTP_ACCEPT="text/html").content
    assert api.ok("GET", "/api/people")["people"] == []
    assert Client().call("POST", path).json() == {"success": True, "message": "9 are back."}
    assert len(api.ok("GET", "/api/people")["people"]) == 9
    assert Client().call("POST", path).json()["message"] == "This was done before. Nothing has changed."


def test_what_was_refused_is_told_once_a_day(alice: User) -> None:
    device = Device(alice)
    for name in ("a.vcf", "b.vcf"):
        assert device.put(name, "no card").status_code == 403
    (delivery,) = deliveries(alice, NoticeKind.DAV_REFUSED)
    assert delivery.content["deviceName"] == "test"
    assert wording_of(build_notice(delivery, timezone.now())).url.endswith("/app/devices")


def recording(name: str) -> RecordingChannel:
    """A channel that records what that of this name would send, which says which kinds it carries."""
    columns = {"name": name, "kinds": channels()[name].kinds}
    found: RecordingChannel = type("Recording", (RecordingChannel,), columns)()
    return found


def delete_all(alice: User, device: Device) -> None:
    for href in sorted(device.sync().entries):
        assert device.call("DELETE", href).status_code == 204


def refuse(alice: User, device: Device) -> None:
    assert device.put("a.vcf", "no card").status_code == 403


@pytest.mark.parametrize(
    ("kind", "act"),
    [(NoticeKind.DAV_DELETIONS, delete_all), (NoticeKind.DAV_REFUSED, refuse)],
    ids=["deletions", "refused"],
)
def test_notices_of_devices_go_over_every_channel_and_wait_for_the_end_of_quiet_hours(
    alice: User, monkeypatch: pytest.MonkeyPatch, kind: NoticeKind, act: Callable[[User, Device], None]
) -> None:
    recorded = [recording(name) for name in ("email", "push", "webhook", "ntfy")]
    monkeypatch.setattr("notifications.channels.CHANNELS", tuple(recorded))
    api, device = signed_in(alice), Device(alice)
    api.ok("PUT", "/api/user/quiet-hours", {"from": "22:00", "to": "07:00"})
    for n in range(8):
        api.ok("POST", "/api/people", {"name": f"Person {n}"}, status=201)
    night = dt.datetime(2026, 12, 1, 23, 30, tzinfo=dt.UTC)
    with time_machine.travel(night, tick=False):
        act(alice, device)
    rows = deliveries(alice, kind)
    assert sorted(row.channel for row in rows) == ["email", "ntfy", "push", "webhook"]
    morning = dt.datetime(2026, 12, 2, 7, tzinfo=dt.UTC)
    assert {row.next_try_at for row in rows} == {morning}
    call_command("deliver_reminders", "--now", "2026-12-02T06:59:00Z")
    assert [each.sent for each in recorded] == [[], [], [], []]
    call_command("deliver_reminders", "--now", "2026-12-02T07:00:00Z")
    call_command("deliver_reminders", "--now", "2026-12-02T07:05:00Z")
    for each in recorded:
        (sent,) = each.sent
        assert (sent.notice.kind, sent.notice.content["deviceName"]) == (kind, "test")
        body = orjson.loads(body_of(sent.notice))
        assert (body["type"], body["data"]["deviceName"]) == (kind.value, "test")
