"""The due scan among a million dates."""

import datetime as dt
import statistics
import time
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from notifications.models import Delivery
from notifications.services import due_scan
from people.models import ImportantDate, Person
from tests.bench.figures import Figure, SharedData, query_count, timed
from tests.builders import make_person, make_user

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


BENCHES: list[tuple[str, Any]] = [
    ("due scan", due_scans),
]
