"""A morning: reminders due in one minute, half by e-mail and half by webhook, on PostgreSQL and Redis.

`python -m tests.bench --db postgresql morning` takes BENCH_REMINDERS (10,000) over half as many accounts, with 1, 2
and 4 worker processes; BENCH_WORKERS=2 runs that alone. Time runs from the start of the due scan to the last one
recorded. 200 hosts receive webhooks. "statements of a reminder" does the same work in one process.
"""

import datetime as dt
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import override_settings
from django.utils import timezone

from accounts.models import User
from notifications import tasks
from notifications.models import Delivery, DeliveryState, Destination
from notifications.services import dispatch
from people.models import ImportantDate, Person
from tests import ROOT
from tests.bench.figures import Figure, SharedData, query_count
from tests.workers import redis_server, workers_in

REMINDERS = int(os.environ.get("BENCH_REMINDERS", "10000"))
WORKERS = tuple(int(number) for number in os.environ.get("BENCH_WORKERS", "1,2,4").split(","))
EACH, HOSTS = 2, 200
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Receivers:
    """The process of tests.bench.receivers."""

    process: "subprocess.Popen[str]"
    mail: int
    webhook: int

    def end(self) -> dict[str, int]:
        """What it saw."""
        answer: dict[str, int] = orjson.loads(self.process.communicate("")[0])
        return answer


@contextmanager
def receivers() -> Iterator[Receivers]:
    command = [sys.executable, "-m", "tests.bench.receivers"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        mail, webhook = process.stdout.readline().split()
        yield Receivers(process, int(mail), int(webhook))
    finally:
        process.kill()
        process.wait()


def fill(port: int) -> None:
    """Accounts with dates that are due tomorrow, by e-mail in every second account and by webhook in the others."""
    tomorrow = timezone.now() + dt.timedelta(days=1)
    users = [
        User(email=f"morning{number}@example.org", name="Ada", email_reminders_enabled=number % 2 == 0)
        for number in range(REMINDERS // EACH)
    ]
    User.objects.bulk_create(users, batch_size=1000)
    QuerySet[Any, Any](Person).bulk_create(
        [Person(owner=user, name="Grace", revision=1) for user in users], batch_size=1000
    )
    people = list(Person.unscoped.filter(owner__in=users).only("owner_id"))
    QuerySet[Any, Any](Destination).bulk_create(
        [_webhook(user, number, port) for number, user in enumerate(users) if number % 2], batch_size=1000
    )
    dates = [_date(person, tomorrow) for person in people for _ in range(EACH)]
    QuerySet[Any, Any](ImportantDate).bulk_create(dates, batch_size=1000)


def _webhook(user: User, number: int, port: int) -> Destination:
    row = Destination(owner=user, type="WEBHOOK", label="Bench", secret="whsec_" + "A" * 44, revision=1)
    row.set_url(f"http://127.0.1.{number // 2 % HOSTS + 1}:{port}/{number}", "")
    return row


def _date(person: Person, due: dt.datetime) -> ImportantDate:
    return ImportantDate(
        owner_id=person.owner_id,
        person=person,
        title="Met",
        date=due.date(),
        reminder_enabled=True,
        reminder_type="RECURRING",
        reminder_interval=1,
        reminder_interval_unit="YEARS",
        next_due_at=due,
        next_occurrence_on=due.date(),
        next_kind="day",
        revision=1,
    )


def morning(shared: SharedData) -> list[Figure]:
    return [run(shared, processes) for processes in WORKERS] if shared.database == "postgresql" else []


def run(shared: SharedData, processes: int) -> Figure:
    """One morning with so many workers."""
    with receivers() as ends, redis_server() as redis, tempfile.TemporaryDirectory() as folder:
        fill(ends.webhook)
        mail = f"smtp://127.0.0.1:{ends.mail}"
        with workers_in(Path(folder), REDIS_URL=redis, EMAIL_URL=mail) as workers:
            for _ in range(processes):
                workers.start()
            pids = [worker.pid for worker in workers.running if worker.pid]
            _wait_until_idle(pids)
            make_due()
            before, commits, load = _cpu(pids), _commits(), os.getloadavg()[0]
            workers.enqueue("notifications.tasks.due_scan")
            sent = Delivery.unscoped.filter(state=DeliveryState.SENT)
            workers.wait_until(lambda: sent.count() == REMINDERS, seconds=600)
            cpu, commits = _cpu(pids), _commits() - commits
            memory = max(_memory(pid) for pid in pids)
        first, last = Delivery.unscoped.all().earliest("planned_at").planned_at, sent.latest("updated_at").updated_at
        seen = ends.end()
    assert seen["deliveries"] == seen["different"] == REMINDERS, seen
    User.objects.all().delete()
    seconds = (last - first).total_seconds()
    thousands = REMINDERS / 1000
    used = ", ".join(f"{name} {(cpu[name] - before[name]) / thousands:.1f} s" for name in cpu)
    note = (
        f"{REMINDERS / seconds:.0f} a second; CPU for 1,000: {used}; {commits / REMINDERS:.1f} transactions each; "
        f"{seen['connections']} connections; {memory:.0f} MB a worker at most; load {load:.1f} before"
    )
    return Figure(f"morning of {REMINDERS:,}, {processes} worker processes", seconds, note=note)


def statements(shared: SharedData) -> list[Figure]:
    """The same work in this one process, by its CPU and its statements: what no other job on the machine changes."""
    if shared.database != "postgresql":
        return []
    with (
        receivers() as ends,
        override_settings(
            EMAIL_BACKEND="django.core.mail.backends.smtp.EmailBackend",
            EMAIL_HOST="127.0.0.1",
            EMAIL_PORT=ends.mail,
            OUTBOUND_ALLOWED_NETWORKS=["127.0.0.0/8"],
            OUTBOUND_ALLOWED_PORTS=["*"],
        ),
    ):
        fill(ends.webhook)
        make_due()
        batches: list[tuple[str, ...]] = []
        return [
            _counted("planned", lambda: dispatch.scan(now=timezone.now())),
            _counted("handed out", lambda: dispatch.enqueue_due(lambda *ids: batches.append(ids))),
            _counted("sent", lambda: [tasks.send(*ids) for ids in batches]),
        ]


def _counted(name: str, work: Callable[[], Any]) -> Figure:
    started, commits = time.process_time(), _commits()
    number = query_count(work)
    seconds = time.process_time() - started
    time.sleep(1.1)  # the server counts transactions a second late
    note = f"{number / REMINDERS:.2f} statements, {(_commits() - commits) / REMINDERS:.2f} transactions each"
    return Figure(f"CPU of {REMINDERS:,} reminders, {name}", seconds, note=note)


def make_due() -> None:
    now = timezone.now()
    due = {"next_due_at": now, "next_occurrence_on": now.date(), "date": now.date()}
    QuerySet[Any, Any](ImportantDate).filter(next_due_at__gt=now).update(**due)


def _wait_until_idle(pids: list[int]) -> None:
    """Until the workers have started: what that takes is no part of the figures."""
    before = [0.0]
    while (now := list(_seconds(pids))) != before or min(now) < 1:
        before = now
        time.sleep(3)


def _postgresql() -> float:
    """Seconds of CPU that the processes of the server have had, those that have ended too."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    parent = _stat(backend)[1]
    ended = sum(map(int, _stat(int(parent))[13:15])) / _TICKS
    return ended + sum(_seconds(int(path.name) for path in Path("/proc").glob("[0-9]*") if _is_child(path, parent)))


def _is_child(path: Path, parent: str) -> bool:
    try:
        return _stat(int(path.name))[1] == parent
    except OSError:
        return False


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _cpu(workers: list[int]) -> dict[str, float]:
    """Seconds of CPU that the processes have had."""
    return {"workers": sum(_seconds(workers)), "postgresql": _postgresql()}


def _seconds(pids: Iterable[int]) -> Iterator[float]:
    for pid in pids:
        fields = _stat(pid)
        yield (int(fields[11]) + int(fields[12])) / _TICKS


def _memory(pid: int) -> float:
    """MB resident."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _commits() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


BENCHES: list[tuple[str, Any]] = [("morning", morning), ("statements of a reminder", statements)]
