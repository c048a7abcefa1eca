"""Many accounts in PostgreSQL: what the hot routes of one read and take, alone in the database and among the others.

`python -m tests.bench --db postgresql load` copies an account of 100 people inside the database until there are
BENCH_ACCOUNTS (2,000; 20,000 are two million people), beside one of BENCH_PEOPLE (1,000). Rows are what PostgreSQL says
that it fetched or returned, and say the same on a machine with other work; times do not. Does nothing on SQLite.
"""

import datetime as dt
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection, models
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.models import OwnedModel
from contacts_project.operation import figures as operation
from notifications.services import planner
from people.models import ImportantDate, Person
from tests.bench.figures import Figure, SharedData, query_count
from tests.bench.people import fill_book
from tests.bench.requests import Caller
from tests.builders import make_user

ACCOUNTS = int(os.environ.get("BENCH_ACCOUNTS", "0"))
LARGE = int(os.environ.get("BENCH_PEOPLE", "1000"))
TIMES = 20
_COPIED = {"people", "relationships"}


def load(shared: SharedData) -> list[Figure]:
    if shared.database != "postgresql" or not ACCOUNTS:
        return []
    small, large = make_user("small@example.org"), make_user("large@example.org")
    fill_book(small, 100)
    fill_book(large, LARGE)
    ImportantDate.unscoped.update(next_due_at=timezone.now() + dt.timedelta(days=30))
    _analyze()
    alone = {(who.email, path): _measured(who, path) for who in (small, large) for path in _paths(who)}
    started = time.perf_counter()
    copy_account(small, ACCOUNTS)
    _analyze()
    found = [Figure(f"load: {ACCOUNTS:,} accounts copied", time.perf_counter() - started, note=_size())]
    for who, people in ((small, 100), (large, LARGE)):
        for path in _paths(who):
            before, now = alone[who.email, path], _measured(who, path)
            note = (
                f"p95 {now[1] * 1000:.0f} ms, alone {before[1] * 1000:.0f}; rows read {now[2]:,}, alone {before[2]:,}; "
                f"blocks {now[3]:,}, alone {before[3]:,}"
            )
            shown = path.replace(str(who.pk), "").split("?")[0]
            found.append(Figure(f"load: {people:,} people, {_named(shown)}", now[0], None, before[0], note))
    return [*found, *_over_all()]


def _paths(who: User) -> list[str]:
    person = Person.objects.owned_by(who).order_by("pk")[3]
    return [
        "/api/people?limit=100",
        f"/api/people/{person.pk}",
        "/api/people/search?q=nowak",
        "/api/upcoming?days=30",
        f"/api/people/{person.pk}/graph",
        "/api/changes?since=0&limit=100",
        "/api/reminders/upcoming?days=30",
        "/api/groups",
    ]


def _named(path: str) -> str:
    return "/".join(part if part.count("-") != 4 else "{id}" for part in path.split("/"))


def _measured(who: User, path: str) -> tuple[float, float, int, int]:
    """Median and 95th percentile in seconds, rows and blocks of one request."""
    caller = Caller(who)
    for _ in range(3):
        status, _, body = caller.ask("GET", path)
        assert status == 200, (path, status, body[:200])
    spans = []
    rows, blocks = _counters()
    for _ in range(TIMES):
        start = time.perf_counter()
        caller.ask("GET", path)
        spans.append(time.perf_counter() - start)
    rows_after, blocks_after = _counters()
    p95 = sorted(spans)[TIMES * 95 // 100 - 1]
    return statistics.median(spans), p95, (rows_after - rows) // TIMES, (blocks_after - blocks) // TIMES


def _counters() -> tuple[int, int]:
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


def _over_all() -> Iterator[Figure]:
    """What looks over all accounts."""
    now = timezone.now()
    dates = f"{ImportantDate.unscoped.count():,} dates"
    for name, work in (
        ("due scan, nothing due", lambda: planner.find_due(now)),
        ("accounts of the page of operation", operation.accounts),
        ("people of the page of operation", operation.people),
    ):
        before, start = _counters(), time.perf_counter()
        queries = query_count(work)
        seconds, after = time.perf_counter() - start, _counters()
        note = f"{dates}; rows read {after[0] - before[0]:,}, blocks {after[1] - before[1]:,}"
        yield Figure(f"load: {name}", seconds, queries, note=note)


def copy_account(user: User, number: int) -> None:
    """Copies of all that the account has, under ids made of the copied ones and a number: inside the database."""
    owned = (model for model in apps.get_models() if issubclass(model, OwnedModel))
    tables: list[type[models.Model]] = [User, *(model for model in owned if model._meta.app_label in _COPIED)]
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # copies of whole rows need no trigger
        for model in tables:
            fields = [field for field in model._meta.concrete_fields if not getattr(field, "generated", False)]
            columns = ", ".join(f'"{field.column}"' for field in fields)
            values = ", ".join(_copied(model, field) for field in fields)
            owner = "id" if model is User else "owner_id"
            cursor.execute(
                f'INSERT INTO "{model._meta.db_table}" ({columns}) SELECT {values} '
                f'FROM "{model._meta.db_table}" r, generate_series(1, %s) n WHERE r."{owner}" = %s',
                [number, user.pk],
            )
        cursor.execute("SET session_replication_role = DEFAULT")


def _copied(model: type[models.Model], field: Any) -> str:
    column = f'r."{field.column}"'
    if field.get_internal_type() == "UUIDField" or (
        field.is_relation and field.target_field.get_internal_type() == "UUIDField"
    ):
        return f"md5({column}::text || n)::uuid"
    if model is User and field.unique:
        return f"{column} || n"
    return column


def _analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _size() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_size_pretty(pg_database_size(current_database()))")
        size = cursor.fetchone()[0]
    return f"{Person.unscoped.count():,} people, {size}; this process {_memory():.0f} MB"


def _memory() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


BENCHES: list[tuple[str, Any]] = [("load", load)]
