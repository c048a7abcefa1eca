"""The load. Each writer has its own records and logs which writes were acknowledged, refused or not answered."""

import http.client
import random
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from uuid import uuid4

import orjson
from PIL import Image

from tests.bench.instance import import_document

Fields = dict[str, Any]


@dataclass
class Log:
    """The acknowledged state, over all writers.

    `people`: the fields of a person as last acknowledged, None if it was deleted or merged into another; `unanswered`:
    the results of later writes without an answer, any of which may be stored.
    """

    people: dict[str, Fields | None] = field(default_factory=dict)
    unanswered: dict[str, list[Fields | None]] = field(default_factory=lambda: defaultdict(list))
    photos: dict[str, str] = field(default_factory=dict)
    relationships: set[str] = field(default_factory=set)
    reminded: dict[str, str] = field(default_factory=dict)
    cards: set[str] = field(default_factory=set)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


class Caller:
    """A connection of one account, which is reopened after it broke."""

    def __init__(self, port: int, bearer: str, log: Log) -> None:
        self.port, self.bearer, self.log = port, bearer, log
        self.connection: http.client.HTTPConnection | None = None

    def call(self, what: str, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        """Send a request; returns the parsed response, or None if it failed. The outcome is counted under `what`."""
        headers = {"Authorization": f"Bearer {self.bearer}", "Content-Type": content_type}
        data = body if isinstance(body, bytes | None) else orjson.dumps(body)
        try:
            self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            self.connection.request(method, path, data, headers)
            response = self.connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException):
            self.log.outcomes[what, "no answer"] += 1
            self.connection = None
            time.sleep(0.2)
            return None
        if response.status < 400:
            self.log.outcomes[what, "acknowledged"] += 1
            return orjson.loads(content) if content[:1] in (b"{", b"[") else content
        self.log.outcomes[what, str(response.status)] += 1
        if response.status != 503:
            self.log.failures.append(f"{method} {path}: {response.status} {content[:200]!r}")
        time.sleep(0.2)
        return None


class Writer:
    """Creates, changes, deletes, merges and relates people, and sets photos. No other writer touches them."""

    def __init__(self, caller: Caller, seed: int) -> None:
        self.caller, self.log, self.random = caller, caller.log, random.Random(seed)
        self.own_people: list[str] = []
        self.number = 0
        self.seed = seed

    def step(self) -> None:
        if len(self.own_people) < 4:  # the other operations need some people to choose from
            self.create()
            return
        operations = [self.create, self.change, self.delete, self.merge, self.relate, self.photograph, self.read]
        [operation] = self.random.choices(operations, [4, 6, 1, 2, 2, 1, 8])
        operation()

    def create(self) -> str | None:
        self.number += 1
        name = f"N{self.number} of {self.seed}"
        body = {
            "name": "Zelda",
            "nickname": name,
            "emails": [{"type": "home", "email": f"n{self.number}@s{self.seed}.example"}],
        }
        if (made := self.caller.call("create", "POST", "/api/people", body)) is None:
            return None
        key: str = made["person"]["id"]
        self.log.people[key] = {"nickname": name}
        self.own_people.append(key)
        return key

    def _write(self, what: str, key: str, after: Fields | None, *request: Any) -> Any:
        response = self.caller.call(what, *request)
        if response is None:
            self.log.unanswered[key].append(after)
        else:
            self.log.people[key], self.log.unanswered[key] = after, []
        return response

    def change(self) -> None:
        self.number += 1
        key = self.random.choice(self.own_people)
        after = {"nickname": f"changed {self.number}"}
        self._write("change", key, after, "PUT", f"/api/people/{key}", after)

    def delete(self) -> None:
        key = self.own_people.pop(self.random.randrange(len(self.own_people)))
        self._write("delete", key, None, "DELETE", f"/api/people/{key}")

    def merge(self) -> None:
        primary, secondary = self.random.sample(self.own_people, 2)
        self.own_people.remove(secondary)
        body = {"primaryId": primary, "secondaryId": secondary}
        # The primary keeps its nickname, because everybody has one here.
        self._write("merge", secondary, None, "POST", "/api/people/merge", body)
        self.log.photos.pop(primary, None)
        self.log.photos.pop(secondary, None)

    def relate(self) -> None:
        one, other = self.create(), self.create()
        if one and other:
            body = {"personId": one, "relatedPersonId": other, "relationshipTypeId": None}
            if made := self.caller.call("relate", "POST", "/api/relationships", body):
                self.log.relationships.add(made["relationship"]["id"])
            self.own_people.remove(one)
            self.own_people.remove(other)

    def photograph(self) -> None:
        if (key := self.create()) is None:
            return
        self.own_people.remove(key)
        color = tuple(self.random.randrange(256) for _ in range(3))
        jpeg, boundary = BytesIO(), uuid4().hex
        Image.new("RGB", (300, 300), color).save(jpeg, "JPEG")
        part_headers = 'Content-Disposition: form-data; name="photo"; filename="a.jpg"\r\nContent-Type: image/jpeg'
        head = f"--{boundary}\r\n{part_headers}\r\n\r\n"
        body = head.encode() + jpeg.getvalue() + f"\r\n--{boundary}--\r\n".encode()
        form = f"multipart/form-data; boundary={boundary}"
        if made := self.caller.call("photo", "POST", f"/api/people/{key}/photo", body, form):
            self.log.photos[key] = made["photo"]

    def read(self) -> None:
        key = self.random.choice(self.own_people)
        paths = [f"/api/people/{key}", "/api/people?limit=100", "/api/people/search?q=zel", "/api/dashboard/graph",
                 "/api/reminders/upcoming", "/api/people/duplicates"]  # fmt: skip
        self.caller.call("read", "GET", self.random.choice(paths))


class Reminder:
    """Creates people whose birthday is today, so that a reminder is due at once."""

    def __init__(self, caller: Caller) -> None:
        self.caller, self.log, self.number = caller, caller.log, 0

    def step(self) -> None:
        self.number += 1
        name = f"Due{self.number:05}"
        today = datetime.now(UTC).date()
        date = {"type": "BIRTHDAY", "date": today.replace(year=1992).isoformat(), "reminderEnabled": True}
        made = self.caller.call("remind", "POST", "/api/people", {"name": name, "importantDates": [date]})
        if made is not None:
            self.log.reminded[made["person"]["id"]] = name
            self.log.people[made["person"]["id"]] = {}
        time.sleep(1)


class Syncer:
    """Creates people here and cards on the server, and requests a sync every few seconds."""

    def __init__(self, caller: Caller, server: Any, path: str) -> None:
        self.caller, self.log, self.server, self.path, self.number = caller, caller.log, server, path, 0

    def step(self) -> None:
        self.number += 1
        made = self.caller.call("mirrored", "POST", "/api/people", {"name": f"Here{self.number:05}"})
        if made is not None:
            self.log.people[made["person"]["id"]] = {}
            self.log.cards.add(f"Here{self.number:05}")
        name = f"There{self.number:05}"
        card = f"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{name}\r\nFN:{name}\r\nN:;{name};;;\r\nEND:VCARD\r\n"
        self.server.put("user", f"{self.path}{name}.vcf", card)
        self.log.cards.add(name)
        if self.number % 5 == 0:
            self.caller.call("sync", "POST", "/api/carddav/sync")
        time.sleep(1)


class Importer:
    """Imports account documents, and logs the people that each receipt names."""

    def __init__(self, caller: Caller) -> None:
        self.caller, self.log, self.number = caller, caller.log, 0

    def step(self) -> None:
        self.number += 1
        receipt = self.caller.call("import", "POST", "/api/user/import", import_document(self.number * 150, 150))
        for row in receipt["results"] if receipt else ():
            if row["section"] == "people" and row.get("newId"):
                self.log.people[row["newId"]] = {}
        time.sleep(3)


def run_load(steppers: list[Any], stopping: threading.Event) -> list[threading.Thread]:
    """Run each stepper in a thread; exceptions are logged as failures."""

    def work(stepper: Any) -> None:
        while not stopping.is_set():
            try:
                stepper.step()
            except Exception as error:
                stepper.log.failures.append(f"{type(stepper).__name__}: {error!r}")
                time.sleep(1)

    threads = [threading.Thread(target=work, args=(stepper,), daemon=True) for stepper in steppers]
    for thread in threads:
        thread.start()
    return threads
