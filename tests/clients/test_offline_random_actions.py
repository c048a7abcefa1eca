"""Three devices act at random while networks fail and programs are killed, and lose nothing.

OFFLINE_ROUNDS=1000 runs a thousand rounds. OFFLINE_SEED selects another run than the default; 0 selects a random one.
"""

import json
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from contacts_client import Action, RefusedError

from tests.clients.devices import Device, KilledError, settle

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = int(os.environ.get("OFFLINE_ROUNDS", "60"))
SEED = int(os.environ.get("OFFLINE_SEED", "11")) or random.randrange(1, 10**9)
TEXT_FIELDS = ("notes", "nickname", "organization")
#: Fields repeated from other records, which may be outdated (docs/changes.md).
REPEATED_FIELDS = {"displayName", "memberCount", "person", "relatedPerson", "relationshipType", "inverse"}


class RandomUsers:
    """What the users of the devices do. `given_up` are the values that a user saw and replaced or deleted."""

    def __init__(self, devices: list[Device], generator: random.Random) -> None:
        self.devices, self.generator = devices, generator
        self.written: list[str] = []
        self.given_up: set[str] = set()

    def value(self, device: Device) -> str:
        self.written.append(f"{device.name}-{len(self.written)}.")
        return self.written[-1]

    def mark_given_up(self, seen: Any) -> None:
        text = json.dumps(seen)
        self.given_up |= {value for value in self.written if value in text}

    def act(self, device: Device) -> None:
        people = list(device.copy.all("person"))
        actions: list[Callable[[Device, Any], None]] = [self.sync] * 4 + [self.create_records]
        if people:
            actions += (
                [self.edit_text] * 5 + [self.add_entry] * 3 + [self.remove_entry, self.join_group, self.delete_person]
            )
            actions += [self.add_date, self.add_date, self.edit_date, self.edit_date]
        if device.copy.conflicts():
            actions += [self.resolve_conflict] * 3
        self.generator.choice(actions)(device, self.generator.choice(people) if people else None)

    def create_records(self, device: Device, person: Any) -> None:
        device.copy.create("person", {"name": self.value(device), "emails": [{"email": self.unique_email(device)}]})
        if self.generator.random() < 0.3:
            device.copy.create("group", {"name": self.value(device)})

    def edit_text(self, device: Device, person: Any) -> None:
        field = self.generator.choice(TEXT_FIELDS)
        before = person.get(field)
        device.copy.update("person", person["id"], {field: self.value(device)})
        self.mark_given_up(before)

    def unique_email(self, device: Device) -> str:
        return f"{self.value(device)}x@example.org"

    def add_entry(self, device: Device, person: Any) -> None:
        emails = person.get("emails", [])
        device.copy.update("person", person["id"], {"emails": [*emails, {"email": self.unique_email(device)}]})

    def remove_entry(self, device: Device, person: Any) -> None:
        emails = person.get("emails", [])
        if emails:
            gone = emails[self.generator.randrange(len(emails))]
            device.copy.update("person", person["id"], {"emails": [entry for entry in emails if entry is not gone]})
            self.mark_given_up(gone)

    def join_group(self, device: Device, person: Any) -> None:
        groups = [group["id"] for group in device.copy.all("group")]
        if groups:
            joined = {*person.get("groupIds", []), self.generator.choice(groups)}
            device.copy.update("person", person["id"], {"groupIds": sorted(joined)})

    def add_date(self, device: Device, person: Any) -> None:
        body = {"personId": person["id"], "title": self.value(device), "date": "2000-01-01"}
        device.copy.create("importantDate", body)

    def edit_date(self, device: Device, person: Any) -> None:
        dates = list(device.copy.all("importantDate"))
        if dates:
            date = self.generator.choice(dates)
            device.copy.update("importantDate", date["id"], {"title": self.value(device)})
            self.mark_given_up(date["title"])

    def delete_person(self, device: Device, person: Any) -> None:
        if self.generator.random() < 0.5:
            device.copy.delete("person", person["id"])
            dates = [date for date in device.copy.all("importantDate") if date["personId"] == person["id"]]
            self.mark_given_up([person, dates])

    def resolve_conflict(self, device: Device, person: Any) -> None:
        conflict = self.generator.choice(device.copy.conflicts())
        now = device.copy.get(conflict.type, conflict.id) or {}
        keep = self.generator.choice(["mine", "theirs"])
        device.copy.resolve(conflict, keep)  # type: ignore[arg-type]
        if keep == "theirs":
            self.mark_given_up([conflict.mine, conflict.base])
            return
        self.mark_given_up(conflict.theirs)  # the user saw it, even if another edit has replaced it since
        if conflict.field is not None:
            self.mark_given_up([now.get(conflict.field), conflict.base])
        elif conflict.action is Action.DELETE:
            self.mark_given_up([now, [d for d in device.copy.all("importantDate") if d["personId"] == conflict.id]])
        else:
            self.mark_given_up([conflict.base, [now.get(field) for field in conflict.mine]])

    def sync(self, device: Device, person: Any) -> None:
        fault = self.generator.choice(["ok", "ok", "unsent", "unanswered", "killed before", "killed after"])
        survives = self.generator.randrange(4)

        def outcome(request: httpx.Request) -> str:
            nonlocal survives
            survives -= 1
            return fault if survives < 0 and fault != "ok" and self.generator.random() < 0.7 else "ok"

        try:
            with device.faulty_network(outcome):
                device.copy.sync()
        except httpx.TransportError:
            pass
        except KilledError:
            device.restart()


def records(device: Device) -> Iterator[tuple[str, str, Any]]:
    for type_ in ("person", "group", "importantDate", "relationshipType"):
        for record in device.copy.store.records(type_):
            yield type_, record["id"], {name: value for name, value in record.items() if name not in REPEATED_FIELDS}


def test_random_edits_and_faults_lose_nothing(device: Callable[[str], Device]) -> None:
    devices = [device(name) for name in ("phone", "laptop", "tablet")]
    users = RandomUsers(devices, random.Random(SEED))
    for _ in range(ROUNDS):
        users.act(users.generator.choice(devices))
    settle(*devices)
    new = device("new")
    new.copy.sync()
    there = list(records(new))
    shown = [[c.mine, c.theirs] for d in devices for c in d.copy.conflicts()]
    refused = [edit.body for d in devices for edit in d.copy.store.edits()]
    text = json.dumps([there, shown, refused])
    lost = [value for value in users.written if value not in users.given_up and value not in text]
    print(f"{ROUNDS} rounds, seed {SEED}: {len(users.written)} values, {len(there)} records, {len(shown)} conflicts,"
          f" {len(refused)} refused")  # fmt: skip
    assert not lost, f"lost with seed {SEED}: {lost}"
    for each in devices:
        assert list(records(each)) == there, SEED
        assert all(edit.problem or each.copy._is_blocked(edit) for edit in each.copy.store.edits())
    # A duplicate value is a write that was applied twice.
    alive = json.dumps([record for type_, _, record in there if type_ != "relationshipType"])
    assert not [value for value in users.written if alive.count(value) > 1], SEED


def test_refusal_is_not_an_error_of_the_store(device: Callable[[str], Device]) -> None:
    phone = device("phone")
    phone.connection.token = ""
    with pytest.raises(RefusedError):
        phone.connection.ask("GET", "/api/people/none")
