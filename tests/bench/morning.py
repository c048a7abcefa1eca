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
REMINDERS_PER_ACCOUNT, HOST_COUNT = 2, 200
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass
class Receivers:
    """The process of tests.bench.receivers."""

    process: "subprocess.Popen[str]"
    mail: int
    webhook: int

    def end(self) -> dict[str, int]:
        """End the process; returns what it received."""
        result: dict[str, int] = orjson.loads(self.process.communicate("")[0])
        return result


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
    """Create accounts with dates that are due tomorrow, alternately by e-mail and by webhook."""
    tomorrow = timezone.now() + dt.timedelta(days=1)
    users = [
        User(email=f"morning{number}@example.org", name="Ada", email_reminders_enabled=number % 2 == 0)
        for number in range(REMINDERS // REMINDERS_PER_ACCOUNT)
    ]
    User.objects.bulk_create(users, batch_size=1000)
    QuerySet[Any, Any](Person).bulk_create(
        [Person(owner=user, name="Grace", revision=1) for user in users], batch_size=1000
    )
    people = list(Person.unscoped.filter(owner__in=users).only("owner_id"))
    QuerySet[Any, Any](Destination).bulk_create(
        [make_webhook(user, number, port) for number, user in enumerate(users) if number % 2], batch_size=1000
    )
    dates = [make_date(person, tomorrow) for person in people for _ in range(REMINDERS_PER_ACCOUNT)]
    QuerySet[Any, Any](ImportantDate).bulk_create(dates, batch_size=1000)


def make_webhook(user: User, number: int, port: int) -> Destination:
    row = Destination(owner=user, type="WEBHOOK", label="Bench", secret="whsec_" + "A" * 44, revision=1)
    row.set_url(f"http://127.0.1.{number // 2 % HOST_COUNT + 1}:{port}/{number}", "")
    return row


def make_date(person: Person, due: dt.datetime) -> ImportantDate:
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
    """Measure one morning with this number of worker processes."""
    with receivers() as receiver_process, redis_server() as redis, tempfile.TemporaryDirectory() as folder:
        fill(receiver_process.webhook)
        mail = f"smtp://127.0.0.1:{receiver_process.mail}"
        with workers_in(Path(folder), REDIS_URL=redis, EMAIL_URL=mail) as workers:
            for _ in range(processes):
                workers.start()
            pids = [worker.pid for worker in workers.running if worker.pid]
            wait_until_idle(pids)
            make_due()
            before, commits, load = cpu_seconds(pids), count_commits(), os.getloadavg()[0]
            workers.enqueue("notifications.tasks.due_scan")
            sent = Delivery.unscoped.filter(state=DeliveryState.SENT)
            workers.wait_until(lambda: sent.count() == REMINDERS, seconds=600)
            cpu, commits = cpu_seconds(pids), count_commits() - commits
            memory = max(memory_megabytes(pid) for pid in pids)
        first, last = Delivery.unscoped.all().earliest("planned_at").planned_at, sent.latest("updated_at").updated_at
        received = receiver_process.end()
    assert received["deliveries"] == received["different"] == REMINDERS, received
    User.objects.all().delete()
    seconds = (last - first).total_seconds()
    thousands = REMINDERS / 1000
    used = ", ".join(f"{name} {(cpu[name] - before[name]) / thousands:.1f} s" for name in cpu)
    note = (
        f"{REMINDERS / seconds:.0f} a second; CPU for 1,000: {used}; {commits / REMINDERS:.1f} transactions each; "
        f"{received['connections']} connections; {memory:.0f} MB a worker at most; load {load:.1f} before"
    )
    return Figure(f"morning of {REMINDERS:,}, {processes} worker processes", seconds, note=note)


def statements(shared: SharedData) -> list[Figure]:
    """Measure the same work in one process: CPU time and statements, which do not depend on other load."""
    if shared.database != "postgresql":
        return []
    with (
        receivers() as receiver_process,
        override_settings(
            EMAIL_BACKEND="django.core.mail.backends.smtp.EmailBackend",
            EMAIL_HOST="127.0.0.1",
            EMAIL_PORT=receiver_process.mail,
            OUTBOUND_ALLOWED_NETWORKS=["127.0.0.0/8"],
            OUTBOUND_ALLOWED_PORTS=["*"],
        ),
    ):
        fill(receiver_process.webhook)
        make_due()
        batches: list[tuple[str, ...]] = []
        return [
            measure_counted("planned", lambda: dispatch.scan(now=timezone.now())),
            measure_counted("handed out", lambda: dispatch.enqueue_due(lambda *ids: batches.append(ids))),
            measure_counted("sent", lambda: [tasks.send(*ids) for ids in batches]),
        ]


def measure_counted(name: str, work: Callable[[], Any]) -> Figure:
    started, commits = time.process_time(), count_commits()
    number = query_count(work)
    seconds = time.process_time() - started
    time.sleep(1.1)  # the server updates its transaction counters once a second
    note = f"{number / REMINDERS:.2f} statements, {(count_commits() - commits) / REMINDERS:.2f} transactions each"
    return Figure(f"CPU of {REMINDERS:,} reminders, {name}", seconds, note=note)


def make_due() -> None:
    now = timezone.now()
    due = {"next_due_at": now, "next_occurrence_on": now.date(), "date": now.date()}
    QuerySet[Any, Any](ImportantDate).filter(next_due_at__gt=now).update(**due)


def wait_until_idle(pids: list[int]) -> None:
    """Wait until the workers have started, which is not part of the figures."""
    before = [0.0]
    while (now := list(cpu_seconds_of(pids))) != before or not min(now):
        before = now
        time.sleep(3)


def postgresql_cpu_seconds() -> float:
    """CPU seconds of PostgreSQL's processes, including ended ones."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    parent = read_stat(backend)[1]
    ended = sum(map(int, read_stat(int(parent))[13:15])) / TICKS_PER_SECOND
    return ended + sum(
        cpu_seconds_of(int(path.name) for path in Path("/proc").glob("[0-9]*") if is_child(path, parent))
    )


def is_child(path: Path, parent: str) -> bool:
    try:
        return read_stat(int(path.name))[1] == parent
    except OSError:
        return False


def read_stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def cpu_seconds(workers: list[int]) -> dict[str, float]:
    """CPU seconds of the processes."""
    return {"workers": sum(cpu_seconds_of(workers)), "postgresql": postgresql_cpu_seconds()}


def cpu_seconds_of(pids: Iterable[int]) -> Iterator[float]:
    for pid in pids:
        fields = read_stat(pid)
        yield (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def memory_megabytes(pid: int) -> float:
    """Resident memory in MB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def count_commits() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


BENCHES: list[tuple[str, Any]] = [("morning", morning), ("statements of a reminder", statements)]
