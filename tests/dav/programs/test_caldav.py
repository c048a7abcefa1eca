"""The library `caldav` and its caldav-server-tester against the service.

They have an environment of their own, since what they stand on (niquests) replaces urllib3 wherever it is installed:
`python -m venv build/caldav-tester`, then pip with requirements/caldav-tester.txt; `.ci/run` does so.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from tests import ROOT
from tests.contacts_project.server.server_thread import RunningServer
from tests.dav.devices import Device
from tests.dav.programs.required import require
from tests.dav.programs.seeded import BORN, FRIEND, interactions, seed

# What the programs see does not depend on the database.
pytestmark = pytest.mark.one_database

PROGRAMS = ROOT / "build/caldav-tester/bin"
# Those that need nothing of a calendar but what it is; the others make calendars, or fill one with 70 events and tasks.
CHECKS = (
    *("CheckGetCurrentUserPrincipal", "CheckWellKnown", "CheckWWWAuthenticate", "CheckNonExistingResource"),
    *("CheckPropfindAllprop", "CheckCalendarProperties", "CheckScheduling", "CheckMakeDeleteCalendar"),
    "CheckPrincipalSearch",
)
SUPPORTED = {"auth.www-authenticate", "auth.www-authenticate.usable-scheme", "calendar-color", "calendar-order"}
# Collections are fixed, nobody is invited, nobody else is found; a colour is #RRGGBB.
UNSUPPORTED = {"create-calendar", "scheduling", "principal-search", "calendar-color.name"}
_SCRIPT = """
import json, sys
from datetime import datetime
import caldav
url, user, password = sys.argv[1:]
principal = caldav.DAVClient(url, username=user, password=password).principal()
calendars = {one.get_display_name(): one for one in principal.calendars()}
june = {"start": datetime(2026, 6, 1), "end": datetime(2026, 7, 1)}
born = calendars["Important dates"].search(event=True, expand=False, **june)
(task,) = calendars["Keep in touch"].todos()
before = str(task.icalendar_component["SUMMARY"])
task.complete()
task.load()
print(json.dumps([sorted(calendars), [str(one.icalendar_component["SUMMARY"]) for one in born], before,
    str(task.icalendar_component["STATUS"])]))
"""


@pytest.fixture
def device(alice: User, server: RunningServer) -> Device:
    require("caldav", (PROGRAMS / "caldav-server-tester").exists())
    seed(alice)
    return Device(alice)


def run(folder: Path, program: str, *arguments: str) -> Any:
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    command = [str(PROGRAMS / program), *arguments]
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_library_reads_dates_and_completes_a_task(server: RunningServer, device: Device, tmp_path: Path) -> None:
    said = run(tmp_path, "python", "-c", _SCRIPT, f"{server.base}/", device.user.email, device.token)
    assert said == [["Important dates", "Keep in touch"], [f"Birthday: {BORN}"], FRIEND, "NEEDS-ACTION"]
    assert interactions(device.user, FRIEND) == 1


def test_the_tester_finds_fixed_collections_and_nothing_broken(
    server: RunningServer, device: Device, tmp_path: Path
) -> None:
    login = ["--caldav-username", device.user.email, "--caldav-password", device.token]
    target = ["--caldav-url", f"{server.base}/", *login, "--caldav-calendar", "Keep in touch"]
    checks = [option for check in CHECKS for option in ("--run-checks", check)]
    found = run(tmp_path, "caldav-server-tester", *target, "--format", "json", *checks)["features"]
    told = {name: feature["support"] for name, feature in found.items() if feature["support"] != "unknown"}
    assert told == {**dict.fromkeys(SUPPORTED, "full"), **dict.fromkeys(UNSUPPORTED, "unsupported")}
