"""A served instance with an account of 10,000 people, and the memory of its processes; for benchmarks over HTTP."""

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
RELATIONSHIPS_PER_PERSON = 3
GIVEN_NAMES = ("Ada", "Grace", "Łukasz", "Zoë", "Björn", "Chloé", "Noor", "Élise", "山田", "Ivan", "Mary Ann", "José")
_SYLLABLES = ("ban", "cor", "del", "fin", "gro", "hul", "jak", "lom", "mir", "nok", "per", "qui", "ras", "sto", "tiv")


@dataclass
class Instance:
    """A running instance and its data. `people` are ids in the order of creation."""

    process: "subprocess.Popen[str]"
    port: int
    bearer: str = ""
    people: list[str] = field(default_factory=list)
    kind: str = ""
    environment: dict[str, str] = field(default_factory=dict)  # of its processes

    def client(self) -> "Client":
        return Client(self)

    def memory(self) -> list[tuple[str, float]]:
        """The anonymous memory of each process in MB; pages that several processes share count once."""
        return [(process_name(pid), anonymous_kib(pid) / 1024) for pid in process_tree(self.process.pid)]

    def cpu_seconds(self) -> float:
        """The CPU time of all processes so far."""
        return sum(cpu_ticks(pid) for pid in process_tree(self.process.pid)) / os.sysconf("SC_CLK_TCK")


class Client:
    """A client with one persistent connection."""

    def __init__(self, instance: Instance) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=600)
        self.headers = {"Authorization": f"Bearer {instance.bearer}"} if instance.bearer else {}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[bytes, Any]:
        """Send a request, which must succeed; returns the body and the headers of the response."""
        data = None if body is None else orjson.dumps(body)
        typed = {} if body is None else {"Content-Type": "application/json"}
        self.connection.request(method, path, data, {**self.headers, **typed, **headers})
        response = self.connection.getresponse()
        content = response.read()
        assert response.status < 400, (method, path, response.status, content[:500])
        return content, response.headers

    def json(self, method: str, path: str, body: Any = None) -> Any:
        return orjson.loads(self.ask(method, path, body)[0])


@contextmanager
def served(database: str, **settings: str) -> Iterator[Instance]:
    """An instance with two web processes and an account, on SQLite or a new database of TEST_DATABASE_URL; `more` goes
    into its environment, DATABASE_URL for a database that is there already."""
    left_out = {"DATABASE_URL", "TEST_DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "SECRET_KEY"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        port = closed_port()
        environment |= {"PORT": str(port), "DATA_DIR": folder, "WEB_WORKERS": "2", "PYTHONUNBUFFERED": "1", **settings}
        if database == "postgresql" and "DATABASE_URL" not in settings:
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
                instance = Instance(process, port, environment=environment)
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


def fill_in_bulk(instance: Instance, size: int) -> None:
    """Add people to the account without requests: a tenth of the time of `fill`, which measures imports on the way."""
    code = f"""
from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from tests.routes.many_people import add_many_people

owner = User.objects.get(email="bench@example.org")
for first in range(0, {size}, {BATCH}):
    with account_write(owner.pk):
        add_many_people(owner, min({BATCH}, {size} - first), first)
"""
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    subprocess.run(command, cwd=ROOT, env=instance.environment, check=True)


def sign_up(instance: Instance, email: str = "bench@example.org") -> None:
    """Create an account, whose token later clients use."""
    instance.bearer = make_token(instance, register(instance, email))


def register(instance: Instance, email: str, password: str = "Analytical-1843") -> dict[str, str]:
    """Create an account; returns the headers of its browser: cookies, CSRF token and origin."""
    account = {"email": email, "password": password, "name": "Bench"}
    _, headers = Client(replace(instance, bearer="")).ask("POST", "/api/auth/register", account)
    cookies = [cookie.partition(";")[0] for cookie in headers.get_all("Set-Cookie")]
    csrf = next(cookie.partition("=")[2] for cookie in cookies if cookie.startswith("csrftoken="))
    return {"Cookie": "; ".join(cookies), "X-CSRFToken": csrf, "Origin": f"http://127.0.0.1:{instance.port}"}


def make_token(instance: Instance, browser: dict[str, str], scope: str = "READ_WRITE") -> str:
    """Create an API token in that browser's session."""
    body = {"name": "bench", "scope": scope}
    content, _ = Client(replace(instance, bearer="")).ask("POST", "/api/user/api-tokens", body, **browser)
    return str(orjson.loads(content)["apiToken"]["token"])


def document_id(kind: int, number: int) -> str:
    return str(UUID(int=(1_760_000_000_000 + number << 80) | (7 << 76) | (kind << 64) | (2 << 62) | number))


def import_document(start: int, size: int) -> dict[str, Any]:
    """An export document with `size` people who are related to each other."""
    numbers = range(start, start + size)
    groups = range(20)
    pairs = [
        (n, start + (n - start + step * step) % size)
        for n in numbers
        for step in range(1, RELATIONSHIPS_PER_PERSON + 1)
    ]
    return {
        "format": "contact-network",
        "version": 1,
        "groups": [{"id": document_id(1, n), "name": f"Group {n}", "color": "#336699"} for n in groups],
        "relationshipTypes": [
            {
                "id": document_id(3, 0),
                "name": "MATE",
                "label": "Mate",
                "color": "#336699",
                "inverseId": document_id(3, 0),
            }
        ],
        "people": [document_person(n) for n in numbers],
        "relationships": [
            {
                "id": document_id(6, RELATIONSHIPS_PER_PERSON * start + number),
                "personId": document_id(4, one),
                "relatedPersonId": document_id(4, other),
                "relationshipTypeId": document_id(3, 0),
            }
            for number, (one, other) in enumerate(pairs)
        ],
    }


def document_person(n: int) -> dict[str, Any]:
    born = dt.date(1940, 1, 1) + dt.timedelta(days=n * 7 % 27_000)
    surname = "".join(_SYLLABLES[n // 15**place % 15] for place in range(4)).title()
    return {
        "id": document_id(4, n),
        "uid": f"urn-{n}",
        "name": GIVEN_NAMES[n % len(GIVEN_NAMES)],
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
        "groupIds": [document_id(1, n % 20), document_id(1, n % 19)] if n % 20 != n % 19 else [document_id(1, n % 20)],
        "relationshipToUserId": document_id(3, 0) if n % 3 == 0 else None,
        "importantDates": [{"id": document_id(5, n), "type": "BIRTHDAY", "title": "", "date": born.isoformat()}],
    }


def new_database(url: str) -> str:
    """Create an empty database on the server of the URL; returns the URL of the new database."""
    name = f"bench_{os.getpid()}_{closed_port()}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    before, _, parameters = url.partition("?")
    base, _, _ = before.rpartition("/")
    return f"{base}/{name}" + (f"?{parameters}" if parameters else "")


def process_tree(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from process_tree(int(child))


def process_name(pid: int) -> str:
    """The last part of the module that the process runs: server, background, supervisor."""
    arguments = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return arguments[arguments.index("-m") + 1].rpartition(".")[2] if "-m" in arguments else arguments[0]


def cpu_ticks(pid: int) -> int:
    """User and system time (proc(5): the 14th and 15th field of stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def anonymous_kib(pid: int) -> int:
    """KiB of anonymous memory."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:"))
