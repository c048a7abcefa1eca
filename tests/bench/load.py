"""Rows read and time taken by the hot routes of an account among many others, compared with a database without those.

`python -m tests.bench --db postgresql "many accounts"` copies an account of 100 people inside the database until
there are BENCH_ACCOUNTS (20,000 are two million people with five million dates), and one of BENCH_PEOPLE (1,000) once
for each 2,000 of these. A second database has only these two accounts. Each request goes to the two alternately, so
that other load on the machine affects both equally. Rows are those that PostgreSQL fetched or returned. It does not
run on SQLite.
"""

import datetime as dt
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from django.apps import apps
from django.db import connection, models
from django.db.models import QuerySet
from django.test import Client as Browser
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.models import OwnedModel
from contacts_project.operation import figures as operation
from notifications.services import due_scan
from people.models import ImportantDate, Person
from people.trash import purge_deleted
from tests.bench.figures import Figure, SharedData, query_count
from tests.bench.instance import served
from tests.bench.people import fill_account
from tests.bench.requests import Caller
from tests.builders import make_token, make_user
from tests.workers import database_url

ACCOUNTS = int(os.environ.get("BENCH_ACCOUNTS", "0"))
LARGE = int(os.environ.get("BENCH_PEOPLE", "1000"))
DUE = 10_000  # reminders of a morning
SMALL_PER_LARGE, COPY_BATCH_SIZE, WARM_UP_TIMES, SERVED_TIMES = 2_000, 250, 3, 300
MIN_TIMES, TIMES, MAX_SECONDS = 10, 200, 20.0
COPIED_APPS = {"people", "relationships"}


class TwoDatabases:
    """The database of this run, and one with only the same two accounts; switches Django's connection between them."""

    def __init__(self) -> None:
        self.many = connection.settings_dict["NAME"]
        self.alone = f"{self.many}_alone"
        connection.close()
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE IF EXISTS "{self.alone}"')
            cursor.execute(f'CREATE DATABASE "{self.alone}" TEMPLATE "{self.many}"')
        self._open: dict[str, Any] = {}

    def use(self, name: str) -> None:
        if name != connection.settings_dict["NAME"]:
            self._open[str(connection.settings_dict["NAME"])] = connection.connection
            connection.settings_dict["NAME"] = name
            connection.connection = self._open.get(name)

    def close(self) -> None:
        for name in (self.alone, self.many):
            self.use(name)
            connection.close()
        with connection._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{self.alone}" WITH (FORCE)')


def load(shared: SharedData) -> list[Figure]:
    if shared.database != "postgresql" or not ACCOUNTS:
        return []
    small, large = make_user("small@example.org"), make_user("large@example.org")
    for owner, people in ((small, 100), (large, LARGE)):
        fill_account(owner, people)
        _add_dates(owner)
    callers = {small: Caller(small), large: Caller(large)}  # with tokens that both databases know
    disable_autovacuum()
    databases = TwoDatabases()
    try:
        started = time.perf_counter()
        copy_account(small, ACCOUNTS)
        copy_account(large, ACCOUNTS // SMALL_PER_LARGE)
        databases.use(databases.alone)
        analyze_database()
        databases.use(databases.many)
        analyze_database()
        figures = [
            Figure(f"load: {ACCOUNTS:,} accounts copied", time.perf_counter() - started, note=format_database_size())
        ]
        for owner, people in ((small, 100), (large, LARGE)):
            for path in measured_paths(owner):
                shown = figure_name(path.replace(str(owner.pk), "").split("?")[0])
                figures.append(measure_in_both(databases, f"load: {people:,} people, {shown}", callers[owner], path))
        databases.use(databases.many)
        figures += [*measure_jobs_over_all(), *measure_admin(), measure_processes(small), *measure_due_scan()]
    finally:
        databases.close()
    return figures


def _add_dates(owner: User) -> None:
    """Add 1.5 dates per person besides the birthday, each with a reminder in the coming year."""
    soon = timezone.now() + dt.timedelta(days=2)
    with account_write(owner):
        people = list(Person.objects.owned_by(owner))
        dates = [
            make_date(person, n, soon + dt.timedelta(days=n % 360)) for n, person in enumerate([*people, *people[::2]])
        ]
        ImportantDate.objects.bulk_create(dates, batch_size=2000)


def make_date(person: Person, number: int, due_at: dt.datetime) -> ImportantDate:
    return ImportantDate(
        owner_id=person.owner_id,
        person=person,
        title=f"Met {number}",
        date=due_at.date(),
        reminder_enabled=True,
        reminder_type="RECURRING",
        reminder_interval=1,
        reminder_interval_unit="YEARS",
        next_due_at=due_at + dt.timedelta(minutes=number),
        next_occurrence_on=due_at.date(),
        next_kind="day",
    )


def measured_paths(who: User) -> list[str]:
    person = Person.objects.owned_by(who).order_by("pk")[3]
    return [
        "/api/people?limit=100",
        f"/api/people/{person.pk}",
        "/api/people/search?q=nowak",
        "/api/upcoming?days=30",
        f"/api/people/{person.pk}/graph",
        f"/api/people/{person.pk}/duplicates",
        "/api/changes?limit=100",
        "/api/reminders/upcoming?days=30",
        "/api/groups",
        "/api/relationships?limit=100",
        "/api/deleted?type=people",
    ]


def figure_name(path: str) -> str:
    return "/".join(part if part.count("-") != 4 else "{id}" for part in path.split("/"))


def measure_in_both(databases: TwoDatabases, name: str, caller: Caller, path: str) -> Figure:
    """Measure one route in both databases alternately."""
    spans: dict[str, list[float]] = {databases.alone: [], databases.many: []}
    cost: dict[str, tuple[int, int]] = {}
    for database in spans:
        databases.use(database)
        for _ in range(WARM_UP_TIMES):
            status, _, body = caller.ask("GET", path)
            assert status == 200, (path, status, body[:200])
        before = read_counters()
        caller.ask("GET", path)
        cost[database] = _counters_since(before)
    ends_at = time.monotonic() + MAX_SECONDS
    for number in range(TIMES):
        for database, times in spans.items():
            databases.use(database)
            start = time.perf_counter()
            caller.ask("GET", path)
            times.append(time.perf_counter() - start)
        if number >= MIN_TIMES and time.monotonic() > ends_at:
            break
    (p50, p95), (p50_alone, p95_alone) = median_and_95th(spans[databases.many]), median_and_95th(spans[databases.alone])
    (rows, blocks), (rows_alone, blocks_alone) = cost[databases.many], cost[databases.alone]
    note = (
        f"{number + 1} times; p95 {p95 * 1000:.0f} ms, alone {p95_alone * 1000:.0f} (x{p95 / p95_alone:.2f}); "
        f"rows {rows:,}, alone {rows_alone:,}; blocks {blocks:,}, alone {blocks_alone:,}"
    )
    return Figure(name, p50, None, p50_alone, note)


def median_and_95th(spans: list[float]) -> tuple[float, float]:
    """The median and the 95th percentile."""
    return statistics.median(spans), sorted(spans)[len(spans) * 95 // 100 - 1]


def read_counters() -> tuple[int, int]:
    """The rows and blocks read in this database so far. Nothing else uses it, and autovacuum is off."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT 1")
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT sum(coalesce(idx_tup_fetch, 0) + seq_tup_read), "
            "(SELECT sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0)) "
            "FROM pg_statio_user_tables) FROM pg_stat_user_tables"
        )
        rows, blocks = cursor.fetchone()
        return int(rows), int(blocks)


def _counters_since(before: tuple[int, int]) -> tuple[int, int]:
    """The rows and blocks read since `before`."""
    rows, blocks = read_counters()
    return rows - before[0], blocks - before[1]


def measure_jobs_over_all() -> Iterator[Figure]:
    """Measure jobs over all accounts."""
    now = timezone.now()
    for name, work in (
        ("due scan, nothing due", lambda: due_scan.find_due(now)),
        ("oldest that is due, for /metrics", lambda: operation.oldest_due_seconds(now)),
        ("accounts of the page of operation", operation.accounts),
        ("people of the page of operation", operation.people),
        ("the purge, nothing in the trash", lambda: purge_deleted(now=now)),
    ):
        yield measure_cost(f"load: {name}", work)


def measure_cost(name: str, work: Callable[[], Any]) -> Figure:
    before, start = read_counters(), time.perf_counter()
    queries = query_count(work)
    seconds, (rows, blocks) = time.perf_counter() - start, _counters_since(before)
    return Figure(name, seconds, queries, note=f"rows {rows:,}, blocks {blocks:,}")


def measure_admin() -> Iterator[Figure]:
    """Measure pages of the admin at their second request."""
    browser = Browser()
    browser.force_login(make_user("operator@example.org", is_staff=True, is_superuser=True))
    lists = ("accounts/user/", "notifications/delivery/", "notifications/destination/", "carddav/connection/")
    for path in ("", *lists, "accounts/user/?q=small@example.org", "trash/", "operation/"):
        address = f"/admin/{path}"
        assert browser.get(address).status_code == 200, address
        yield measure_cost(f"load: {address.partition('=')[0]}", lambda address=address: browser.get(address))  # type: ignore[misc]


def measure_processes(owner: User) -> Figure:
    """The memory of each process of an instance with these accounts after some requests of one of them."""
    with served("postgresql", DATABASE_URL=database_url()) as instance:
        instance.bearer = make_token(owner)
        client, paths, start = instance.client(), measured_paths(owner), time.perf_counter()
        for n in range(SERVED_TIMES):
            client.ask("GET", paths[n % len(paths)])
        seconds, held = time.perf_counter() - start, instance.memory()
    note = ", ".join(f"{name} {megabytes:.0f} MB" for name, megabytes in held)
    return Figure(f"load: {SERVED_TIMES} requests over HTTP; memory of each process", seconds, note=note)


def measure_due_scan() -> Iterator[Figure]:
    """Measure the due scan of a morning, which must read only what is due."""
    now = timezone.now()
    dates = ImportantDate.unscoped.filter(next_due_at__isnull=False)
    step = max(1, dates.count() // DUE)
    due = list(dates.order_by("pk").values_list("pk", flat=True)[::step])
    QuerySet[Any, Any](ImportantDate).filter(pk__in=due).update(next_due_at=now)
    analyze_database()
    batches: list[tuple[str, ...]] = []
    name = f"{len(due):,} of {ImportantDate.unscoped.count():,} dates due"
    yield measure_cost(
        f"load: {name}, handed out",
        lambda: due_scan.enqueue_due_accounts(now=now, enqueue=lambda *ids: batches.append(ids)),
    )
    yield measure_cost("load: the first thousand of these found", lambda: due_scan.find_due(now))
    owners = list(due_scan.find_due(now))[: due_scan.ACCOUNTS_PER_BATCH]
    yield measure_cost(
        f"load: those of {len(owners)} accounts planned", lambda: due_scan.scan_due(now=now, owner_ids=owners)
    )


def copy_account(user: User, number: int) -> None:
    """Copy all data of the account `number` times inside the database; the ids of a copy begin with its number.

    Several accounts are copied at a time, so that the rows of one are stored among those of others.
    """
    owned = (model for model in apps.get_models() if issubclass(model, OwnedModel))
    tables: list[type[models.Model]] = [User, *(model for model in owned if model._meta.app_label in COPIED_APPS)]
    with connection.cursor() as cursor:
        # Disables triggers: copies of consistent rows are consistent.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SET synchronous_commit = off")
        for first in range(1, number + 1, COPY_BATCH_SIZE):
            for model in tables:
                cursor.execute(copy_statement(model), [first, min(first + COPY_BATCH_SIZE - 1, number), user.pk])
        cursor.execute("SET session_replication_role = DEFAULT")


def copy_statement(model: type[models.Model]) -> str:
    fields = [field for field in model._meta.concrete_fields if not getattr(field, "generated", False)]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    values = ", ".join(copied_column(model, field) for field in fields)
    owner = "id" if model is User else "owner_id"
    table = model._meta.db_table
    return (
        f'INSERT INTO "{table}" ({columns}) SELECT {values} '
        f'FROM "{table}" r, generate_series(%s::integer, %s::integer) n WHERE r."{owner}" = %s'
    )


def copied_column(model: type[models.Model], field: Any) -> str:
    column = f'r."{field.column}"'
    if field.get_internal_type() == "UUIDField" or (
        field.is_relation and field.target_field.get_internal_type() == "UUIDField"
    ):
        return f"(lpad(to_hex(n), 8, '0') || substr({column}::text, 9))::uuid"
    if model is User and field.unique:
        return f"{column} || n"
    return column


def disable_autovacuum() -> None:
    """Disable autovacuum, because it reads tables, too, at unpredictable times."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(f'ALTER TABLE "{table}" SET (autovacuum_enabled = false)')


def analyze_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def format_database_size() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_size_pretty(pg_database_size(current_database()))")
        size = cursor.fetchone()[0]
    return f"{Person.unscoped.count():,} people, {ImportantDate.unscoped.count():,} dates, {size}"


BENCHES: list[tuple[str, Any]] = [("many accounts", load)]
