"""evolution-data-server against the service: what GNOME's Contacts, Calendar and Evolution do."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from dav.models import Refusal
from people.models import Person
from tests.builders import set_plan_limits
from tests.client import client_of
from tests.contacts_project.server.server_thread import RunningServer
from tests.dav.devices import Device
from tests.dav.programs.evolution import Evolution, EvolutionError, is_installed, running_evolution
from tests.dav.programs.recorder import Recorder, wait_until
from tests.dav.programs.required import require
from tests.dav.programs.seeded import BORN, FRIEND, interactions, names, person_named, seed
from tests.dav.test_calendars import path
from tests.dav.test_sequences import assert_only_the_number_changed

# What it sends reaches PostgreSQL by its measured requests, in tests/dav/test_sequences.py.
pytestmark = pytest.mark.sqlite_suffices

NEW = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Grace Hopper\r\nN:Hopper;Grace;;;\r\nTEL;TYPE=CELL:+1 555 0100\r\nEND:VCARD"
ANYBODYS = "BEGIN:VTODO\r\nUID:new-1\r\nSUMMARY:Buy milk\r\nEND:VTODO"


@pytest.fixture
def device(alice: User, server: RunningServer) -> Device:
    require("evolution-data-server", is_installed())
    seed(alice)
    return Device(alice)


@pytest.fixture
def evolution(device: Device, server: RunningServer, tmp_path: Path) -> Iterator[Evolution]:
    with running_evolution(tmp_path, server.port, device.user.email, device.token) as running:
        yield running


def objects(evolution: Evolution, kind: str, word: str) -> list[str]:
    """The tasks or events of the program with a word in them."""
    return [text for text in evolution.call("objects", kind) if word in text]


def test_it_finds_reads_edits_creates_and_deletes(evolution: Evolution, device: Device, recorder: Recorder) -> None:
    user, api = device.user, client_of(device.user)
    book = f"{evolution.server}{device.book}"
    calendars = [f"{evolution.server}{path(device, name)}" for name in ("dates", "keep-in-touch")]
    assert evolution.call("discover") == [
        f"Contacts {book}",
        f"Important dates {calendars[0]}",
        f"Keep in touch {calendars[1]}",
    ]
    evolution.call("open", "book", device.book)
    wait_until(lambda: len(evolution.call("cards")) == 3)
    assert not evolution.call("is_read_only", "book")
    recorder.quiet()
    assert recorder.when_idle(lambda: evolution.call("refresh", "book")) == ["PROPFIND contacts/ 207"]

    before = person_named(user, "Ada")
    evolution.call("edit", "Lovelace", "mobile-phone", "+44 20 7946 9999")
    assert_only_the_number_changed(before, person_named(user, "Ada"))
    evolution.call("create", NEW)
    assert person_named(user, "Grace")["phoneNumbers"][0]["number"] == "+1 555 0100"

    # What others change arrives; what it wrote itself is not read again.
    recorder.quiet()
    recorder.clear()
    api.ok("PUT", f"/api/people/{before['id']}", {"jobTitle": "from the service"})
    evolution.call("refresh", "book")
    wait_until(lambda: any("TITLE:from the service" in card for card in evolution.call("cards")))
    assert [request for request in recorder.quiet() if request.startswith("GET")] == []

    evolution.call("delete", "Hopper")
    assert names(user) == ["Ada", FRIEND, BORN]
    assert Person.objects.owned_by(user).deleted().get().name == "Grace"


def test_what_is_refused_is_said_to_the_person_and_undone_there(
    evolution: Evolution, device: Device, settings: Any
) -> None:
    evolution.call("open", "book", device.book)
    wait_until(lambda: len(evolution.call("cards")) == 3)
    set_plan_limits(settings, people=3)
    with pytest.raises(EvolutionError):
        evolution.call("create", NEW)
    assert len(evolution.call("cards")) == len(names(device.user)) == 3
    assert Refusal.objects.owned_by(device.user).get().reason["code"] == "plan_people"
    set_plan_limits(settings, people=4)
    evolution.call("create", NEW)
    assert "Grace" in names(device.user)


def test_a_token_that_reads_is_a_book_that_may_not_be_written(
    server: RunningServer, alice: User, tmp_path: Path, recorder: Recorder
) -> None:
    require("evolution-data-server", is_installed())
    seed(alice)
    reader = Device(alice, "READ")
    with running_evolution(tmp_path, server.port, alice.email, reader.token) as evolution:
        evolution.call("open", "book", reader.book)
        wait_until(lambda: len(evolution.call("cards")) == 3)
        assert evolution.call("is_read_only", "book")
        with pytest.raises(EvolutionError):
            evolution.call("create", NEW)
    assert not any(request.startswith("PUT") for request in recorder.requests)


def test_dates_are_read_and_a_tick_is_a_talk(evolution: Evolution, device: Device, recorder: Recorder) -> None:
    evolution.call("open", "events", path(device, "dates"))
    evolution.call("open", "tasks", path(device, "keep-in-touch"))
    wait_until(lambda: objects(evolution, "events", f"SUMMARY:Birthday: {BORN}"))
    wait_until(lambda: objects(evolution, "tasks", f"SUMMARY:{FRIEND}"))
    assert evolution.call("is_read_only", "events")
    assert not evolution.call("is_read_only", "tasks")
    (task,) = objects(evolution, "tasks", f"SUMMARY:{FRIEND}")
    uid = task.partition("UID:")[2].partition("\r")[0]
    evolution.call("tick", uid)
    assert interactions(device.user, FRIEND) == 1
    # It reads the task at once, since the answer had no ETag: open again, with the next day.
    (again,) = objects(evolution, "tasks", f"SUMMARY:{FRIEND}")
    assert "STATUS:NEEDS-ACTION" in again
    assert "DUE;VALUE=DATE:20260701" in task
    assert "DUE;VALUE=DATE:20260701" not in again
    with pytest.raises(EvolutionError):
        evolution.call("create_task", ANYBODYS)
    assert not objects(evolution, "tasks", "Buy milk")
    recorder.quiet()
    assert recorder.when_idle(lambda: evolution.call("refresh", "tasks")) == ["PROPFIND keep-in-touch/ 207"]
    assert interactions(device.user, FRIEND) == 1
