"""A served instance with an account of 10,000 people, and what its processes hold; for benchmarks over HTTP."""

import datetime as dt
import http.client
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import psycopg

from tests import ROOT
from tests.loopback import closed_port

PEOPLE, BATCH = 10_000, 2_000
TIES = 3
GIVEN = ("Ada", "Grace", "Łukasz", "Zoë", "Björn", "Chloé", "Noor", "Élise", "山田", "Ivan", "Mary Ann", "José")
_SYLLABLES = ("ban", "cor", "del", "fin", "gro", "hul", "jak", "lom", "mir", "nok", "per", "qui", "ras", "sto", "tiv")


@dataclass
class Instance:
    """What runs, and whom it knows. Ids are those of people, in the order in which they were made."""

    process: "subprocess.Popen[str]"
    port: int
    bearer: str = ""
    people: list[str] = field(default_factory=list)
    kind: str = ""

    def client(self) -> "Client":
        return Client(self)

    def memory(self) -> list[tuple[str, float]]:
        """MB that each process holds for itself: anonymous memory, where a page that several share counts once."""
        return [(_name(pid), _held(pid) / 1024) for pid in _tree(self.process.pid)]

    def cpu_seconds(self) -> float:
        """What its processes have taken of the CPU."""
        return sum(_cpu_ticks(pid) for pid in _tree(self.process.pid)) / os.sysconf("SC_CLK_TCK")


class Client:
    """One connection that is kept."""

    def __init__(self, instance: Instance) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=600)
        self.headers = {"Authorization": f"Bearer {instance.bearer}"} if instance.bearer else {}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[bytes, Any]:
        """The body of a success, and its headers."""
        data = None if body is None else orjson.dumps(body)
        typed = {} if body is None else {"Content-Type": "application/json"}
        self.connection.request(method, path, data, {**self.headers, **typed, **headers})
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status < 400, (method, path, answer.status, content[:500])
        return content, answer.headers

    def json(self, method: str, path: str, body: Any = None) -> Any:
        return orjson.loads(self.ask(method, path, body)[0])


@contextmanager
def served(database: str, **more: str) -> Iterator[Instance]:
    """An instance with two web processes and an account, on SQLite or a new database of TEST_DATABASE_URL; `more` goes
    into its environment, DATABASE_URL for a database that is there already."""
    left_out = {"DATABASE_URL", "TEST_DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "SECRET_KEY"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        port = closed_port()
        environment |= {"PORT": str(port), "DATA_DIR": folder, "WEB_WORKERS": "2", "PYTHONUNBUFFERED": "1", **more}
        if database == "postgresql" and "DATABASE_URL" not in more:
            environment["DATABASE_URL"] = new_database(os.environ["TEST_DATABASE_URL"])
        log = Path(folder) / "log"
        with log.open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "serve"],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                start_new_session=True,
            )
            try:
                assert process.stdout
                if not any(line.startswith("Ready at") for line in process.stdout):
                    raise RuntimeError(log.read_text()[-2000:])
                instance = Instance(process, port)
                sign_up(instance)
                yield instance
            finally:
                process.terminate()
                process.wait(30)


def fill(instance: Instance, size: int = PEOPLE) -> None:
    """Import people in batches, each related to others of the batch."""
    client = instance.client()
    for start in range(0, size, BATCH):
        receipt = client.json("POST", "/api/user/import", import_document(start, min(BATCH, size - start)))
        assert not receipt["errors"], receipt["errorMessages"][:3]
        instance.people += [row["newId"] for row in receipt["results"] if row["section"] == "people"]
    instance.kind = client.json("GET", "/api/relationship-types")["relationshipTypes"][0]["id"]


def sign_up(instance: Instance, email: str = "bench@example.org") -> None:
    """Make an account, whose token the next clients have."""
    instance.bearer = make_token(instance, register(instance, email))


def register(instance: Instance, email: str, password: str = "Analytical-1843") -> dict[str, str]:
    """Make an account; returns the headers of its browser: cookies, CSRF token and origin."""
    account = {"email": email, "password": password, "name": "Bench"}
    _, headers = Client(replace(instance, bearer="")).ask("POST", "/api/auth/register", account)
    cookies = [cookie.partition(";")[0] for cookie in headers.get_all("Set-Cookie")]
    csrf = next(cookie.partition("=")[2] for cookie in cookies if cookie.startswith("csrftoken="))
    return {"Cookie": "; ".join(cookies), "X-CSRFToken": csrf, "Origin": f"http://127.0.0.1:{instance.port}"}


def make_token(instance: Instance, browser: dict[str, str], scope: str = "READ_WRITE") -> str:
    """A bearer token, made in that browser."""
    body = {"name": "bench", "scope": scope}
    content, _ = Client(replace(instance, bearer="")).ask("POST", "/api/user/api-tokens", body, **browser)
    return str(orjson.loads(content)["apiToken"]["token"])


def _id(kind: int, number: int) -> str:
    return str(UUID(int=(1_760_000_000_000 + number << 80) | (7 << 76) | (kind << 64) | (2 << 62) | number))


def import_document(start: int, size: int) -> dict[str, Any]:
    """So many people, each related to others of them, as an account's export has it."""
    numbers = range(start, start + size)
    groups = range(20)
    ties = [(n, start + (n - start + step * step) % size) for n in numbers for step in range(1, TIES + 1)]
    return {
        "format": "contact-network",
        "version": 1,
        "groups": [{"id": _id(1, n), "name": f"Group {n}", "color": "#336699"} for n in groups],
        "relationshipTypes": [
            {"id": _id(3, 0), "name": "MATE", "label": "Mate", "color": "#336699", "inverseId": _id(3, 0)}
        ],
        "people": [_person(n) for n in numbers],
        "relationships": [
            {
                "id": _id(6, TIES * start + number),
                "personId": _id(4, one),
                "relatedPersonId": _id(4, other),
                "relationshipTypeId": _id(3, 0),
            }
            for number, (one, other) in enumerate(ties)
        ],
    }


def _person(n: int) -> dict[str, Any]:
    born = dt.date(1940, 1, 1) + dt.timedelta(days=n * 7 % 27_000)
    surname = "".join(_SYLLABLES[n // 15**place % 15] for place in range(4)).title()
    return {
        "id": _id(4, n),
        "uid": f"urn-{n}",
        "name": GIVEN[n % len(GIVEN)],
        "surname": surname,
        "organization": f"Company {n % 300}",
        "notes": f"Met at the conference of {n}.",
        "phoneNumbers": [
            {"type": "mobile", "number": f"+49 151 {n:08}"},
            {"type": "work", "number": f"+49 30 {n:07}"},
        ],
        "emails": [
            {"type": "home", "email": f"p{n}@example.org"},
            {"type": "work", "email": f"p{n}@example.com"},
        ],
        "addresses": [{"type": "home", "streetLine1": f"Main Street {n}", "locality": "Berlin", "country": "Germany"}],
        "groupIds": [_id(1, n % 20), _id(1, n % 19)] if n % 20 != n % 19 else [_id(1, n % 20)],
        "relationshipToUserId": _id(3, 0) if n % 3 == 0 else None,
        "importantDates": [{"id": _id(5, n), "type": "BIRTHDAY", "title": "", "date": born.isoformat()}],
    }


def new_database(url: str) -> str:
    """Make an empty database on the server of the URL; its own URL."""
    name = f"bench_{os.getpid()}_{closed_port()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    before, _, parameters = url.partition("?")
    base, _, _ = before.rpartition("/")
    return f"{base}/{name}" + (f"?{parameters}" if parameters else "")


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from _tree(int(child))


def _name(pid: int) -> str:
    """The last part of the module that the process runs: server, background, supervisor."""
    arguments = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return arguments[arguments.index("-m") + 1].rpartition(".")[2] if "-m" in arguments else arguments[0]


def _cpu_ticks(pid: int) -> int:
    """User and system time (proc(5): the 14th and 15th field of stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _held(pid: int) -> int:
    """KiB of anonymous memory."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:"))
