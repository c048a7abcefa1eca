"""Reminders: the due scan among a million dates, replanning an account, deliveries a second, from due to sent."""

import datetime as dt
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.models import User
from contacts_project.beat import seed_schedule
from contacts_project.kernel.ownership.account_lock import account_write
from notifications.models import Delivery, DeliveryState, Destination
from notifications.services import dispatch, due_scan
from people.models import ImportantDate, Person
from tests.bench.figures import Figure, SharedData, query_count, timed
from tests.builders import make_person, make_user
from tests.loopback import recording_server
from tests.workers import workers_in

ACCOUNTS, DATES, DUE = 100, 1_000_000, 500


def create_million_dates(shared: SharedData) -> list[Person]:
    """Create a hundred accounts with ten thousand dates each, none due; returns one person of each."""

    def make() -> list[Person]:
        users = [make_user(f"due{n}@example.org", email_reminders_enabled=False) for n in range(ACCOUNTS)]
        people = [create_person(user) for user in users]
        far = timezone.now() + dt.timedelta(days=200)
        for person in people:
            insert_dates(person, DATES // ACCOUNTS, far)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        return people

    made: list[Person] = shared.once("million-dates", make)
    return made


def create_person(owner: User) -> Person:
    with account_write(owner):
        return make_person(owner)


def insert_dates(person: Person, count: int, due: dt.datetime) -> None:
    with account_write(person.owner_id):
        ImportantDate.objects.bulk_create(
            (
                ImportantDate(
                    owner_id=person.owner_id,
                    person=person,
                    title="Met",
                    date=dt.date(1990, 1, 1) + dt.timedelta(n % 365),
                    reminder_enabled=True,
                    reminder_type="RECURRING",
                    reminder_interval=1,
                    reminder_interval_unit="YEARS",
                    next_due_at=due + dt.timedelta(minutes=n),
                    next_occurrence_on=due.date(),
                    next_kind="day",
                )
                for n in range(count)
            ),
            batch_size=2000,
        )


def make_due(people: list[Person]) -> None:
    """Move some dates of every account to now."""
    now, each = timezone.now(), DUE // len(people)
    for person in people:
        rows = ImportantDate.objects.owned_by(person.owner_id).filter(next_due_at__gt=now).order_by("-next_due_at")
        ids = list(rows.values_list("pk", flat=True)[:each])
        set_due(person.owner_id, ids, now)


def set_due(owner_id: UUID, date_ids: list[UUID], due: dt.datetime) -> None:
    with account_write(owner_id):
        rows = ImportantDate.objects.owned_by(owner_id).filter(pk__in=date_ids)
        rows.update(next_due_at=due, next_occurrence_on=due.date(), next_kind="day", date=due.date())


def due_scans(shared: SharedData) -> list[Figure]:
    people = create_million_dates(shared)
    now = timezone.now()
    idle = timed(lambda: due_scan.scan_due(now=now), times=20)
    queries = query_count(lambda: due_scan.scan_due(now=now))
    durations = []
    for _ in range(3):
        make_due(people)
        start = time.perf_counter()
        made = due_scan.scan_due(now=timezone.now()).total()
        durations.append(time.perf_counter() - start)
        assert made == DUE, made
        Delivery.unscoped.all().delete()
    note = f"of {DATES:,} dates, {ACCOUNTS} accounts"
    return [
        Figure("due scan, nothing due", idle, queries, note=note),
        Figure(f"due scan, {DUE} due, planned", statistics.median(durations), note=note),
    ]


def replanning(shared: SharedData) -> Figure:
    person = create_million_dates(shared)[0]
    zones = iter(["Asia/Tokyo", "Europe/Berlin", "America/New_York", "UTC", "Asia/Kolkata", "Australia/Sydney", "UTC"])

    def work() -> None:
        User.objects.filter(pk=person.owner_id).update(time_zone=next(zones), reminders_stale=True)
        dispatch.reschedule(owner_id=person.owner_id, now=timezone.now())

    return Figure("replan an account's dates", timed(work, times=3), note=f"{DATES // ACCOUNTS:,} dates, a new zone")


def throughput(shared: SharedData) -> list[Figure]:
    return [measure_deliveries(shared, workers) for workers in (1, 2)]


def measure_deliveries(shared: SharedData, processes: int) -> Figure:
    """Measure from the first confirmation to the last, so that starting Python does not count."""
    owner = make_user(f"webhook{processes}@example.org", email_reminders_enabled=False)
    with recording_server() as receiver, tempfile.TemporaryDirectory() as folder:
        create_webhook(owner, f"{receiver.url}/hook")
        with workers_in(Path(folder)) as workers:
            for _ in range(processes):
                workers.start()
            time.sleep(8)
            insert_due_dates(create_person(owner), DUE)
            workers.enqueue("notifications.tasks.due_scan")
            sent = Delivery.objects.owned_by(owner).filter(state=DeliveryState.SENT)
            workers.wait_until(lambda: sent.count() == DUE, seconds=300)
        ends = end_times(sent)
    seconds: float = (ends[-1] - ends[0]).total_seconds()
    return Figure(
        f"{DUE} webhooks, {processes} worker process{'es' * (processes > 1)} of 4 threads",
        seconds,
        note=f"{DUE / seconds:.0f} deliveries a second",
    )


def create_webhook(owner: User, url: str) -> None:
    destination = Destination(owner=owner, type="WEBHOOK", label="Bench", secret="whsec_" + "A" * 44)
    destination.set_url(url, "")
    with account_write(owner):
        destination.save()


def insert_due_dates(person: Person, count: int, due: dt.datetime | None = None) -> None:
    due = due or timezone.now()
    insert_dates(person, count, due)
    set_due(person.owner_id, list(ImportantDate.objects.owned_by(person.owner_id).values_list("pk", flat=True)), due)


def delay(shared: SharedData) -> Figure:
    """Measure the delay of reminders that are due at a full minute, with the scheduler as `make run` starts it."""
    owner = make_user("latency@example.org", email_reminders_enabled=False)
    seed_schedule(plan=[])
    with recording_server() as receiver, tempfile.TemporaryDirectory() as folder:
        create_webhook(owner, f"{receiver.url}/hook")
        due = timezone.now().replace(second=0, microsecond=0) + dt.timedelta(minutes=2)
        insert_due_dates(create_person(owner), 20, due)
        with workers_in(Path(folder)) as workers:
            workers.start("--beat")
            sent = Delivery.objects.owned_by(owner).filter(state=DeliveryState.SENT)
            workers.wait_until(lambda: sent.count() == 20, seconds=200)
        durations = [(end - due).total_seconds() for end in end_times(sent)]
    return Figure("from due to sent, median of 20", durations[10], note=f"the last after {durations[-1]:.2f} s")


def end_times(deliveries: Any) -> list[dt.datetime]:
    return sorted(deliveries.values_list("ended_at", flat=True))


BENCHES: list[tuple[str, Any]] = [
    ("reminders due scan", due_scans),
    ("reminders replan", replanning),
    ("reminders throughput", throughput),
    ("reminders latency", delay),
]
