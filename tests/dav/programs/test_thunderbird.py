"""Thunderbird against the service: its address book and its calendars, in one run, since it takes 7 s to start."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from dav.authentication import CHALLENGE
from dav.models import Refusal
from people.models import Person
from tests.builders import set_plan_limits
from tests.client import client_of
from tests.contacts_project.server.server_thread import RunningServer
from tests.dav.devices import Device
from tests.dav.programs.recorder import Recorder, wait_until
from tests.dav.programs.required import require
from tests.dav.programs.seeded import BORN, FRIEND, interactions, names, person_named, seed
from tests.dav.programs.thunderbird import Thunderbird, ThunderbirdError, is_installed, running_thunderbird
from tests.dav.test_calendars import path
from tests.dav.test_sequences import assert_only_the_number_changed

# What it sends reaches PostgreSQL by its measured requests, in tests/dav/test_sequences.py.
pytestmark = pytest.mark.sqlite_suffices

REALM = re.findall('realm="(.*?)"', CHALLENGE)[0]
TASKS, DATES = "Keep in touch", "Important dates"


@pytest.fixture
def device(alice: User, server: RunningServer) -> Device:
    require("thunderbird", is_installed())
    seed(alice)
    return Device(alice)


@pytest.fixture
def thunderbird(device: Device, server: RunningServer, tmp_path: Path) -> Iterator[Thunderbird]:
    with running_thunderbird(tmp_path) as running:
        running.call("login", server.base, REALM, device.user.email, device.token)
        yield running


def test_its_book_and_its_calendars(
    thunderbird: Thunderbird, device: Device, server: RunningServer, recorder: Recorder, settings: Any
) -> None:
    login = (device.user.email, device.token, f"{server.base}/")
    assert thunderbird.call("addBook", *login) == [["Contacts", f"{server.base}{device.book}"]]
    wait_until(lambda: len(thunderbird.call("cards")) == 3)
    recorder.quiet()
    edits_creates_and_deletes(thunderbird, device, recorder)
    takes_ours_after_a_refusal(thunderbird, device, recorder, settings)
    syncs_on_after_an_expired_token(thunderbird, device, recorder)
    calendars = thunderbird.call("addCalendars", *login)
    assert [name for name, _, _ in calendars] == [DATES, TASKS]
    assert calendars[1][1] == f"{server.base}{path(device, 'keep-in-touch')}"
    ticks_a_task_off(thunderbird, device, recorder)


def edits_creates_and_deletes(thunderbird: Thunderbird, device: Device, recorder: Recorder) -> None:
    user, api = device.user, client_of(device.user)
    assert recorder.when_idle(lambda: thunderbird.call("sync")) == ["REPORT contacts/ 207"]
    assert not thunderbird.call("isReadOnly")
    recorder.clear()
    before = person_named(user, "Ada")
    thunderbird.call("edit", "Lovelace", {"tel": "+44 20 7946 9999"})
    recorder.wait_for("REPORT contacts/")
    assert recorder.quiet() == ["PUT contacts/u-rich-1.vcf 204", "REPORT contacts/ 207"]
    assert_only_the_number_changed(before, person_named(user, "Ada"))
    thunderbird.call("create", "Grace", "Hopper", "grace@example.org")
    wait_until(lambda: "Grace" in names(user))
    assert person_named(user, "Grace")["emails"][0]["email"] == "grace@example.org"
    recorder.quiet()
    api.ok("PUT", f"/api/people/{before['id']}", {"jobTitle": "from the service"})
    thunderbird.call("sync")
    wait_until(lambda: any("TITLE:from the service" in card for card in thunderbird.call("cards")))
    thunderbird.call("delete", "Hopper")
    wait_until(lambda: names(user) == ["Ada", FRIEND, BORN])
    assert Person.objects.owned_by(user).deleted().get().name == "Grace"


def takes_ours_after_a_refusal(thunderbird: Thunderbird, device: Device, recorder: Recorder, settings: Any) -> None:
    """It says nothing of a refused change and keeps showing it, until the card is listed with another ETag."""
    recorder.quiet()
    recorder.clear()
    thunderbird.call("edit", FRIEND, {"fn": "", "n": ["", "", "", "", ""]})
    recorder.wait_for("PUT")
    assert [request[-3:] for request in recorder.quiet() if request.startswith("PUT")] == ["403"]
    assert names(device.user) == ["Ada", FRIEND, BORN]
    assert Refusal.objects.owned_by(device.user).exists()
    assert not any(f"FN:{FRIEND}" in card for card in thunderbird.call("cards"))
    thunderbird.call("sync")
    wait_until(lambda: any(f"FN:{FRIEND}" in card for card in thunderbird.call("cards")))
    set_plan_limits(settings, people=3)
    recorder.clear()
    thunderbird.call("create", "Nobody", "Here", "nobody@example.org")
    recorder.wait_for("PUT")
    assert [request[-3:] for request in recorder.quiet() if request.startswith("PUT")] == ["507"]
    assert names(device.user) == ["Ada", FRIEND, BORN]
    assert Refusal.objects.owned_by(device.user).filter(reason__code="plan_people").exists()


def syncs_on_after_an_expired_token(thunderbird: Thunderbird, device: Device, recorder: Recorder) -> None:
    user, api = device.user, client_of(device.user)
    api.ok("PUT", f"/api/people/{person_named(user, 'Ada')['id']}", {"jobTitle": "while it was away"})
    recorder.clear()
    token = thunderbird.call("syncWithToken", "http://elsewhere.example/sync/1")
    assert "REPORT contacts/ 400" in recorder.quiet()
    wait_until(lambda: any("TITLE:while it was away" in card for card in thunderbird.call("cards")))
    assert token == device.sync().token
    assert recorder.when_idle(lambda: thunderbird.call("sync")) == ["REPORT contacts/ 207"]


def ticks_a_task_off(thunderbird: Thunderbird, device: Device, recorder: Recorder) -> None:
    wait_until(lambda: any(f"SUMMARY:{FRIEND}" in item for item in thunderbird.call("items", TASKS)))
    wait_until(lambda: any(f"SUMMARY:Birthday: {BORN}" in item for item in thunderbird.call("items", DATES)))
    assert thunderbird.call("isCalendarReadOnly", DATES)
    assert not thunderbird.call("isCalendarReadOnly", TASKS)
    (before,) = thunderbird.call("items", TASKS)
    assert "DUE;VALUE=DATE:20260701" in before
    thunderbird.call("tick", TASKS, FRIEND)
    wait_until(lambda: interactions(device.user, FRIEND) == 1)
    recorder.quiet()
    (after,) = thunderbird.call("items", TASKS)
    assert "STATUS:NEEDS-ACTION" in after
    assert "DUE;VALUE=DATE:20260701" not in after
    with pytest.raises(ThunderbirdError, match="403"):
        thunderbird.call("createTask", TASKS, "Buy milk")

    def refresh() -> None:
        thunderbird.call("refresh", TASKS)
        recorder.wait_for("REPORT")

    assert recorder.when_idle(refresh) == ["REPORT keep-in-touch/ 207"]
    assert interactions(device.user, FRIEND) == 1
