"""Our own client syncs with our own server: two accounts, random edits on both, nothing lost, quiet at the end."""

import random
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from carddav.models import Run
from carddav.services import runs
from people.models import Person
from tests.carddav.builders import make_connection
from tests.client import client_of
from tests.contacts_project.server.server_thread import RunningServer
from tests.dav.devices import Device
from tests.loopback import allow_loopback

# What the database does here is in the other tests of both sides.
pytestmark = pytest.mark.one_database

# Two months, with about an edit a day on each side.
DAYS, SYNC_EVERY = 60, 6
_FIELDS = ("nickname", "jobTitle", "organization", "notes")


def sync(owner: User) -> Run:
    run = runs.execute_run(runs.start_run(owner=owner, trigger="manual", now=timezone.now()).pk)
    assert (run.code, run.error_messages) == ("", [])
    return run


def contents(user: User) -> dict[str, Any]:
    """What a card holds of each active person, by UID."""
    api, found = client_of(user), {}
    for row in Person.objects.owned_by(user).active():
        person = api.ok("GET", f"/api/people/{row.pk}")["person"]
        found[row.uid] = {
            **{name: person[name] for name in ("name", "surname", *_FIELDS)},
            "phones": sorted(entry["number"] for entry in person["phoneNumbers"]),
            "groups": sorted(group["name"] for group in person["groups"]),
        }
    return found


def test_two_instances_sync_for_two_months(server: RunningServer, settings: Any, alice: User, mallory: User) -> None:
    allow_loopback(settings)
    device = Device(mallory)
    make_connection(
        alice,
        server_url=f"{server.base}/dav/",
        username=mallory.email,
        password=device.token,
        book_url="",
        import_mode="auto",
    )
    chance, apis, expected = random.Random(1), {alice: client_of(alice), mallory: client_of(mallory)}, {}
    for number in range(10):
        owner = (alice, mallory)[number % 2]
        body = {
            "name": f"P{number}",
            "surname": "Both",
            "phoneNumbers": [{"type": "home", "number": f"+44 20 {number}"}],
        }
        apis[owner].ok("POST", "/api/people", body, status=201)
    sync(alice)
    sync(alice)
    assert contents(alice) == contents(mallory)
    assert len(contents(alice)) == 10
    for day in range(DAYS):
        for number, owner in enumerate((alice, mallory)):
            people = list(Person.objects.owned_by(owner).active().order_by("name", "pk"))
            # Each side edits fields of its own, so that nothing is in conflict and everything must survive.
            person, field = chance.choice(people), _FIELDS[2 * number + chance.randrange(2)]
            apis[owner].ok("PUT", f"/api/people/{person.pk}", {field: f"{field} of day {day}"})
            expected[person.uid, field] = f"{field} of day {day}"
            if day % 20 == 7:
                apis[owner].ok("POST", "/api/people", {"name": f"New {owner.name} {day}"}, status=201)
            if day == 30 + number:
                gone = people[number]
                apis[owner].ok("DELETE", f"/api/people/{gone.pk}", {"deleteFromCardDav": True})
                expected = {key: value for key, value in expected.items() if key[0] != gone.uid}
        if day % SYNC_EVERY == 0:
            sync(alice)
    sync(alice)
    sync(alice)
    mine, theirs = contents(alice), contents(mallory)
    assert mine == theirs
    assert len(mine) == 10 + 6 - 2
    assert {key: mine[key[0]][key[1]] for key in expected} == expected
    before = (alice.revision, mallory.revision)
    for user in (alice, mallory):
        user.refresh_from_db()
    revisions = (alice.revision, mallory.revision)
    last = sync(alice)
    for user in (alice, mallory):
        user.refresh_from_db()
    assert (alice.revision, mallory.revision) == revisions != before
    assert last.error_messages == []
