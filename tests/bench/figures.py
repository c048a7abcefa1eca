"""What a benchmark is: a function that takes the shared data and returns figures. Benchmarks assert no times.

Times are CPU times of the process (`time.process_time`), because other load on the machine can double elapsed times
but hardly changes CPU times. PostgreSQL's server is not included, on either side of a ratio.

A module of tests/bench lists `BENCHES = [("name", function), ...]`; each function takes the SharedData and returns one
or more Figures. The floor, where there is one, is measured in the same run: the bare SQL for the same rows plus orjson.
"""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from django.db import connection


@dataclass(frozen=True)
class Figure:
    """One line of the table. Times are medians in seconds of CPU time, unless the note says otherwise."""

    name: str
    seconds: float
    queries: int | None = None
    floor_seconds: float | None = None
    note: str = ""

    def row(self) -> list[str]:
        """The cells of the figure: name, time, floor, ratio, queries, note."""
        floor = "" if self.floor_seconds is None else _milliseconds(self.floor_seconds)
        ratio = "" if self.floor_seconds is None else f"{self.seconds / self.floor_seconds:.2f}"
        queries = "" if self.queries is None else str(self.queries)
        return [self.name, _milliseconds(self.seconds), floor, ratio, queries, self.note]


@dataclass
class SharedData:
    """Data that benchmarks share, created once per key (`shared.once("people-10000", make)`)."""

    database: str
    made: dict[str, Any] = field(default_factory=dict)

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]


def timed(work: Callable[[], Any], *, times: int = 5, warm: bool = True) -> float:
    """The median CPU time of this process for `work` in seconds, after one run that warms caches."""
    if warm:
        work()
    spans = []
    for _ in range(times):
        start = time.process_time()
        work()
        spans.append(time.process_time() - start)
    return statistics.median(spans)


def floor(*querysets: Any) -> Callable[[], None]:
    """The time to read the rows of `querysets` with bare SQL and to serialize them with orjson."""
    statements = [queryset.query.sql_with_params() for queryset in querysets]

    def work() -> None:
        with connection.cursor() as cursor:
            for sql, params in statements:
                cursor.execute(sql, params)
                orjson.dumps(cursor.fetchall(), default=str)

    return work


def query_count(work: Callable[[], Any]) -> int:
    """The number of SQL statements of `work`. Django's own query log cannot be used, because each request clears it."""
    counted = 0

    def count(execute: Any, *call: Any) -> Any:
        nonlocal counted
        counted += 1
        return execute(*call)

    with connection.execute_wrapper(count):
        work()
    return counted


def figure(
    name: str, work: Callable[[], Any], *, floor: Callable[[], Any] | None = None, times: int = 5, note: str = ""
) -> Figure:
    """Measure `work` and its floor alternately, so that other load on the machine affects both equally."""
    queries = query_count(work)
    if floor is None:
        return Figure(name, timed(work, times=times), queries, None, note)
    floor()
    pairs = [(timed(floor, times=1, warm=False), timed(work, times=1, warm=False)) for _ in range(times)]
    floor_seconds, seconds = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Figure(name, seconds, queries, floor_seconds, note)


def figure_with_server(name: str, work: Callable[[], Any], *, times: int = 50) -> Figure:
    """Measure `work` including the CPU time of PostgreSQL's process. It is a mean, because the system counts it in
    hundredths of a second; the note contains the server's part, and the median of the elapsed time."""
    queries = query_count(work)
    work()
    ours, servers, clock = time.process_time(), _server_cpu(), []
    for _ in range(times):
        start = time.perf_counter()
        work()
        clock.append(time.perf_counter() - start)
    ours, servers = ((now - then) / times for now, then in ((time.process_time(), ours), (_server_cpu(), servers)))
    note = f"by the clock {_milliseconds(statistics.median(clock))}"
    if connection.vendor == "postgresql":
        note = f"of it the server {_milliseconds(servers)}, {note}"
    return Figure(name, ours + servers, queries, None, note)


def _server_cpu() -> float:
    """CPU seconds of the server process of this connection; 0 for SQLite, which has none."""
    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        process = cursor.fetchone()[0]
    # proc(5): user and system time are fields 14 and 15; field 2 may contain blanks.
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"
