"""Requests of clients that keep a copy, through the whole WSGI application: change feed, batches, calendar.

The note describes the response.
"""

from itertools import count
from typing import Any
from urllib.parse import urlsplit

import orjson

from people.models import ImportantDate, Person
from tests.bench.figures import Figure, SharedData, figure
from tests.bench.people import large_account
from tests.bench.requests import Caller, measured

_numbers = count()


def change_feed(shared: SharedData) -> list[Figure]:
    """Measure the feed of an account of 10,000 people: everything, one change, and no changes."""
    owner = large_account(shared)
    caller = Caller(owner)
    key = str(Person.objects.owned_by(owner).active().values_list("pk", flat=True)[0])
    totals: dict[str, int] = {}

    def read(cursor: str | None) -> str:
        totals.update(changes=0, requests=0, bytes=0)
        while True:
            query = f"?limit=1000&cursor={cursor}" if cursor else "?limit=1000"
            _, _, content = caller.ask("GET", f"/api/changes{query}")
            page: Any = orjson.loads(content)
            totals["changes"] += len(page["changes"])
            totals["requests"] += 1
            totals["bytes"] += len(content)
            cursor = page["cursor"]
            if not page["hasMore"]:
                return str(cursor)

    def note() -> str:
        return ", ".join(f"{number:,} {name}" for name, number in totals.items())

    everything = figure("change feed: from nothing", lambda: read(None), times=3)
    figures = [Figure(everything.name, everything.seconds, everything.queries, None, note())]
    cursor = read(None)

    def one_change() -> None:
        nonlocal cursor
        cursor = read(cursor)

    def change() -> None:
        caller.ok("PUT", f"/api/people/{key}", {"nickname": f"Ada {next(_numbers)}"})

    def change_and_read() -> None:
        change()
        one_change()

    write_alone = measured("change feed: the write alone", change)
    write_and_read = measured("change feed: a write, and reading it", change_and_read)
    figures += [write_alone, Figure(write_and_read.name, write_and_read.seconds, write_and_read.queries, None, note())]
    figures.append(measured("change feed: nothing new", one_change))
    return figures


def batches(shared: SharedData) -> list[Figure]:
    """Measure the creation of a hundred people: in one batch, in an atomic one, and in a hundred requests."""
    caller = Caller(large_account(shared))

    def people(atomic: bool) -> None:
        made = [
            {"method": "POST", "path": "/api/people", "body": {"name": f"Batch {next(_numbers)}"}} for _ in range(100)
        ]
        caller.ok("POST", "/api/batch", {"operations": made, "atomic": atomic})

    def one_by_one() -> None:
        for _ in range(100):
            caller.ok("POST", "/api/people", {"name": f"Batch {next(_numbers)}"})

    return [
        figure("batch: 100 people", lambda: people(False), times=3),
        figure("batch: 100 people, atomic", lambda: people(True), times=3),
        figure("batch: 100 people by 100 requests", one_by_one, times=3),
    ]


def calendar(shared: SharedData) -> list[Figure]:
    """Measure the .ics file of 10,000 dates, and a 304 for it."""
    owner = large_account(shared)
    caller = Caller(owner)
    dates = ImportantDate.objects.owned_by(owner).active().count()
    made = orjson.loads(caller.ask("POST", "/api/calendar-feeds", {"name": "Bench"})[2])["calendarFeed"]
    path = urlsplit(made["url"]).path
    _, headers, content = caller.ask("GET", path)
    note = f"{dates:,} dates, {len(content):,} bytes, {content.count(b'BEGIN:VEVENT'):,} events"
    return [
        figure("calendar: the whole file", lambda: caller.ok("GET", path), times=3, note=note),
        measured("calendar: 304", lambda: caller.ok("GET", path, HTTP_IF_NONE_MATCH=headers["ETag"])),
    ]


BENCHES = [("change feed", change_feed), ("batch of 100", batches), ("calendar of 10,000 dates", calendar)]
