"""SyncEvolution against the service: `carddav` and `caldavtodo`, with its local side in evolution-data-server."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from people.models import Person
from tests.client import client_of
from tests.contacts_project.server.server_thread import RunningServer
from tests.dav.devices import Device
from tests.dav.programs.evolution import session_environment
from tests.dav.programs.recorder import Recorder
from tests.dav.programs.required import require
from tests.dav.programs.seeded import BORN, FRIEND, interactions, names, person_named, seed
from tests.dav.programs.syncevolution import SyncEvolution, is_installed
from tests.dav.test_calendars import path
from tests.dav.test_sequences import without_number

# Its local side is slow; what it asks of the databases is what the other programs ask.
pytestmark = pytest.mark.one_database

NEW = "BEGIN:VCARD\nVERSION:3.0\nFN:Grace Hopper\nN:Hopper;Grace;;;\nTEL;TYPE=CELL:+1 555 0100\nEND:VCARD\n"


def assert_nothing_lost(before: dict[str, Any], after: dict[str, Any]) -> None:
    """The number is the new one, and all else as before, but for two things that this program writes otherwise."""
    new = [entry["number"].replace("7946 0001", "7946 9999") for entry in before["phoneNumbers"]]
    assert [entry["number"] for entry in after["phoneNumbers"]] == new
    assert {"name": "X-EVOLUTION-FILE-AS", "value": "Lovelace, Ada", "label": None} in after["more"]
    for person in (before, after):
        person["more"] = [line for line in person["more"] if line["name"] != "X-EVOLUTION-FILE-AS"]
        for entry in person["imHandles"]:
            entry.pop("type")  # it knows no kind of an IMPP
        for day in person["importantDates"]:
            day.pop("updatedAt")
    assert without_number(after) == without_number(before)


def item_with(program: SyncEvolution, source: str, word: str) -> tuple[str, str]:
    """The id and the text of the local item with this word."""
    return next((item, text) for item, text in program.export(source).items() if word in text)


def change(program: SyncEvolution, source: str, old: str, new: str) -> None:
    item, text = item_with(program, source, old)
    program.update(source, item, text.replace(old, new))


@pytest.fixture
def device(alice: User, server: RunningServer) -> Device:
    require("syncevolution", is_installed())
    seed(alice)
    return Device(alice)


@pytest.fixture
def program(device: Device, server: RunningServer, tmp_path: Path) -> Iterator[SyncEvolution]:
    databases = {
        "addressbook": f"{server.base}{device.book}",
        "todo": f"{server.base}{path(device, 'keep-in-touch')}",
    }
    with session_environment(tmp_path / "session") as environment:
        program = SyncEvolution(environment, tmp_path)
        program.configure(f"{server.base}/", device.user.email, device.token, databases)
        yield program


def test_its_contacts_and_tasks_sync_in_both_directions(
    program: SyncEvolution, device: Device, recorder: Recorder
) -> None:
    user, api = device.user, client_of(device.user)
    assert program.sync("slow") == {"addressbook": (0, 0, 0, 3, 0, 0), "todo": (0, 0, 0, 1, 0, 0)}
    before = person_named(user, "Ada")
    change(program, "addressbook", "7946 0001", "7946 9999")
    program.add("addressbook", NEW)
    change(program, "todo", "STATUS:NEEDS-ACTION", "STATUS:COMPLETED")
    recorder.clear()
    assert program.sync() == {"addressbook": (1, 1, 0, 0, 0, 0), "todo": (0, 1, 0, 0, 0, 0)}
    assert [line for line in recorder.requests if re.search(" (4(?!01)|5)", line)] == []
    assert_nothing_lost(before, person_named(user, "Ada"))
    # It knows no X-JABBER, and writes it as IMPP.
    assert device.text("u-rich-1.vcf").upper().count("JABBER.EXAMPLE") == 1
    assert person_named(user, "Grace")["phoneNumbers"][0]["number"] == "+1 555 0100"
    assert interactions(user, FRIEND) == 1

    api.ok("PUT", f"/api/people/{before['id']}", {"jobTitle": "from the service"})
    program.delete("addressbook", item_with(program, "addressbook", "Hopper")[0])
    # Of contacts Ada alone: no card has the day of the last contact. Of the tasks that which it ticked: after
    # its PUT the program asks for the ETag, and takes it for that of its own text. So it gets another one at first.
    assert program.sync() == {"addressbook": (0, 0, 1, 0, 1, 0), "todo": (0, 0, 0, 0, 1, 0)}
    assert "STATUS:NEEDS-ACTION" in item_with(program, "todo", f"SUMMARY:{FRIEND}")[1]
    assert "TITLE:from the service" in item_with(program, "addressbook", "Lovelace")[1]
    assert names(user) == ["Ada", FRIEND, BORN]
    assert Person.objects.owned_by(user).deleted().get().name == "Grace"
    api.ok("PUT", f"/api/people/{person_named(user, FRIEND)['id']}", {"nickname": "Annie"})
    assert program.sync() == {"addressbook": (0, 0, 0, 0, 1, 0), "todo": (0, 0, 0, 0, 1, 0)}
    assert "STATUS:NEEDS-ACTION" in item_with(program, "todo", f"SUMMARY:{FRIEND}")[1]
    assert program.sync() == {"addressbook": (0,) * 6, "todo": (0,) * 6}
    assert interactions(user, FRIEND) == 1
