"""CPU time and SQL statements of requests through the whole WSGI application, including log lines.

CPU times depend little on other load on the machine. No test client is used, because it would take as long as a small
request.
"""

import io
import logging
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from accounts.models import User
from contacts_project.wsgi import application
from people.models import Person, RelationshipType
from relationships.models import Relationship
from tests.bench.figures import Figure, SharedData, query_count
from tests.bench.people import large_account
from tests.builders import make_token

ROUNDS, TIMES = 5, 20


class Caller:
    """Calls the WSGI application with a token of `owner`."""

    def __init__(self, owner: User) -> None:
        self.bearer = f"Bearer {make_token(owner)}"

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Send `body` as JSON; returns the status, headers and body of the response."""
        data = b"" if body is None else orjson.dumps(body)
        address, _, query = path.partition("?")
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": address,
            "QUERY_STRING": query,
            "SCRIPT_NAME": "",
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": "localhost",
            "HTTP_AUTHORIZATION": self.bearer,
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(data)),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(data),
            "wsgi.errors": io.StringIO(),
            **headers,
        }
        head: list[Any] = []
        response: Any = application(environ, lambda *start: head.extend(start))  # type: ignore[arg-type]
        content = b"".join(response)
        response.close()
        return int(head[0].partition(" ")[0]), dict(head[1]), content

    def ok(self, method: str, path: str, body: Any = None, **headers: str) -> None:
        """Send a request, which must succeed. The response is not decoded, because that is the client's work."""
        status, _, content = self.ask(method, path, body, **headers)
        assert status < 400, (method, path, status, content[:500])


def measured(name: str, work: Callable[[], Any], *, note: str = "") -> Figure:
    """The median CPU time of `work` over rounds of many requests, and its statements."""
    work()
    queries = query_count(work)
    spans = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(TIMES):
            work()
        spans.append((time.process_time() - start) / TIMES)
    return Figure(name, statistics.median(spans), queries, None, note)


def cpu(shared: SharedData) -> list[Figure]:
    """Measure all small, frequent requests."""
    owner = large_account(shared)
    caller = Caller(owner)
    root_logger = logging.getLogger()
    level, stream = root_logger.level, root_logger.handlers[0].stream  # type: ignore[attr-defined]
    root_logger.setLevel(logging.INFO)  # as in the service, each request writes a log line
    with Path(os.devnull).open("w") as null_device:
        root_logger.handlers[0].setStream(null_device)  # type: ignore[attr-defined]
        try:
            return [measured(f"CPU: {name}", work) for name, work in make_requests(owner, caller)]
        finally:
            root_logger.setLevel(level)
            root_logger.handlers[0].setStream(stream)  # type: ignore[attr-defined]


def make_requests(owner: User, caller: Caller) -> Iterator[tuple[str, Callable[[], Any]]]:
    rows = Person.objects.owned_by(owner).active()
    keys = [str(key) for key in rows.order_by("created_at", "id").values_list("pk", flat=True)]
    kind = str(RelationshipType.objects.owned_by(owner).values_list("pk", flat=True)[0])
    numbers = count()
    one = f"/api/people/{keys[len(keys) // 2]}"
    tag = caller.ask("GET", one)[1]["ETag"]
    yield "not modified", lambda: caller.ok("GET", one, HTTP_IF_NONE_MATCH=tag)
    for name, path in {
        "one person": one,
        "page of 100": "/api/people",
        "page of 100, includeDetails=false": "/api/people?includeDetails=false",
        "search": "/api/people/search?q=lov",
        "graph of one": f"{one}/graph",
        "orphans of one": f"{one}/orphans",
        "duplicates of one": f"{one}/duplicates",
        "groups": "/api/groups",
    }.items():
        yield name, lambda path=path: caller.ok("GET", path)  # type: ignore[misc]
    yield "create, small", lambda: caller.ok("POST", "/api/people", {"name": f"Zelda {next(numbers)}"})
    body = {
        "name": "Zelda",
        "surname": "Quist",
        "phoneNumbers": [{"type": "mobile", "number": "+44 20 7946 0000"}],
        "emails": [{"type": "home", "email": "ada@example.org"}],
        "importantDates": [{"type": "BIRTHDAY", "date": "1815-12-10"}],
    }
    yield "create", lambda: caller.ok("POST", "/api/people", {**body, "surname": f"Quist {next(numbers)}"})
    yield "update, one field", lambda: caller.ok("PUT", one, {"nickname": f"Ada {next(numbers)}"})
    yield "update", lambda: caller.ok("PUT", one, {**body, "nickname": f"Ada {next(numbers)}"})
    pairs = iter(zip(keys[6000:8000], keys[8000:], strict=True))

    def relate() -> None:
        first, second = next(pairs)
        caller.ok(
            "POST",
            "/api/relationships",
            {"personId": first, "relatedPersonId": second, "relationshipTypeId": kind},
        )

    yield "relationship", relate
    couples = iter(zip(keys[1000:2000], keys[2000:3000], strict=True))

    def merge() -> None:
        first, second = next(couples)
        caller.ok("POST", "/api/people/merge", {"primaryId": first, "secondaryId": second})

    yield "merge", merge
    yield from make_other_writes(owner, caller, keys, kind)


def make_other_writes(
    owner: User, caller: Caller, keys: Sequence[str], kind: str
) -> Iterator[tuple[str, Callable[[], Any]]]:
    numbers = count()
    relationship = str(Relationship.objects.owned_by(owner).active().values_list("pk", flat=True)[0])
    path = f"/api/relationships/{relationship}"
    yield (
        "change a relationship",
        lambda: caller.ok("PUT", path, {"relationshipTypeId": kind, "notes": f"Met {next(numbers)}"}),
    )
    group = orjson.loads(caller.ask("POST", "/api/groups", {"name": "Choir"})[2])["group"]["id"]
    yield "rename a group", lambda: caller.ok("PUT", f"/api/groups/{group}", {"name": f"Choir {next(numbers)}"})
    members = iter(keys)
    yield (
        "add a member",
        lambda: caller.ok("POST", f"/api/groups/{group}/members", {"personId": next(members)}),
    )
    dates = f"/api/people/{keys[0]}/important-dates"
    day = {"title": "Met", "date": "2020-05-04"}
    date = orjson.loads(caller.ask("POST", dates, day)[2])["importantDate"]["id"]
    yield (
        "change a date",
        lambda: caller.ok("PUT", f"{dates}/{date}", {**day, "title": f"Met {next(numbers)}"}),
    )
    talk = {"kind": "CALL", "at": "2026-02-03T12:00:00Z", "personIds": [keys[1]]}
    yield "add an interaction", lambda: caller.ok("POST", "/api/interactions", {**talk, "notes": f"{next(numbers)}"})


BENCHES = [("cpu of requests", cpu)]
