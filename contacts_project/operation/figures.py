"""Figures of the instance from its database and queues, for the page of operation and for /metrics.

Their cost is bounded: each reads an index of waiting rows, one row per account, or the days since `count_days` ran.
Days are UTC, by the machine's clock and not by a command's `--now`. Figures contain no data of accounts, only channels,
states, codes and numbers.
"""

import datetime as dt
import platform
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import celery
import django
from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import Count, Min
from kombu.exceptions import ChannelError

from accounts.models import AccountMail, User
from carddav.models import Conflict, Connection, Mapping, Pause, Run, RunState
from contacts_project.celery import app
from contacts_project.models import DailyCount
from notifications.models import Delivery, DigestSchedule, ReminderAnswer
from notifications.models.deliveries import last_heartbeat
from people.counts import PEOPLE, PHOTO_BYTES, total_of_all
from people.models import GeocodedAddress, ImportantDate, Person
from people.vocabularies import GeocodeState

# Values of DailyCount.name. They are stored, so they must not change.
DELIVERIES, RUNS, SIGN_UPS = "deliveries", "runs", "sign_ups"
INSTANCE_SIZES = "sizes"
# The name of the row that marks a day as counted, even if nothing happened on it.
_COUNTED_DAY_MARKER = "counted"
# A day is counted this long after it has ended: a transaction begun before midnight may be committed after it.
_GRACE_PERIOD = dt.timedelta(hours=1)
# Lookups of a column of times, such as {"gte": start, "lt": end}.
TimeRange = dict[str, dt.datetime]
ByDay = dict[dt.date, Counter[str]]
# Waiting rows are counted up to this number, beyond which the exact one would not matter.
MAX_COUNTED = 100_000
_MAX_RECENT_RUNS = 500


def deliveries_by_day(*, days: int, now: dt.datetime) -> ByDay:
    """Deliveries that ended, by day and then by `channel/state/code`; today is the last of the days."""
    return _by_day(DELIVERIES, days, now)


def runs_by_day(*, days: int, now: dt.datetime) -> ByDay:
    """CardDAV runs that ended, by day and then by outcome: `ok`, or the code of the failure."""
    return _by_day(RUNS, days, now)


def sign_ups_by_day(*, days: int, now: dt.datetime) -> ByDay:
    """New accounts, under the empty key. Those of past days include accounts that were deleted since."""
    return _by_day(SIGN_UPS, days, now)


def sizes_by_day(*, days: int, now: dt.datetime) -> ByDay:
    """The last `sizes` of each day. Days on which no scheduler ran are missing."""
    since = _today(now) - dt.timedelta(days=days - 1)
    return _group_by_day(DailyCount.objects.filter(name=INSTANCE_SIZES, day__gte=since))


def oldest_due_seconds(now: dt.datetime) -> float:
    """The delay of what has been due longest, whether it is planned already or not, in seconds; 0 if nothing is due."""
    columns: tuple[tuple[models.QuerySet[Any], str], ...] = (
        (Delivery.unscoped.rows().not_backfilled(), "next_try_at"),
        (ImportantDate.unscoped.rows(), "next_due_at"),
        (Person.unscoped.rows(), "contact_due_at"),
        (DigestSchedule.objects.all(), "next_due_at"),
        (ReminderAnswer.unscoped.rows(), "due_at"),
    )
    oldest: list[dt.datetime | None] = [
        rows.filter(**{f"{column}__lte": now}).order_by(column).values_list(column, flat=True).first()
        for rows, column in columns
    ]
    return max([0.0, *((now - due).total_seconds() for due in oldest if due is not None)])


def due_scan_lag_seconds(now: dt.datetime) -> float | None:
    """The time since the due scan last completed, in seconds; None before its first."""
    last = last_heartbeat("due_scan")
    return None if last is None else max(0.0, (now - last).total_seconds())


def waiting_counts(now: dt.datetime) -> dict[str, int]:
    """The number of waiting rows by kind, each counted up to MAX_COUNTED."""
    deliveries = Delivery.unscoped.rows()
    runs = Run.unscoped.rows().exclude(state=RunState.ENDED)
    kinds: dict[str, Any] = {
        "deliveries_due": deliveries.filter(next_try_at__lte=now),
        "deliveries_to_retry": deliveries.filter(next_try_at__gt=now),
        "account_mails": AccountMail.objects.all(),
        "addresses": GeocodedAddress.unscoped.rows().filter(state=GeocodeState.PENDING),
        "runs": runs,
        "conflicts": Conflict.unscoped.rows().unresolved(),
        "held_deletions": Mapping.unscoped.rows().filter(status="held"),
        "connections_held": Connection.unscoped.rows().filter(pause=Pause.DELETIONS_HELD),
        "connections_refused": Connection.unscoped.rows().filter(pause=Pause.AUTH),
    }
    return {kind: rows.order_by()[:MAX_COUNTED].count() for kind, rows in kinds.items()}


def recent_run_seconds() -> list[float]:
    """The durations of the last 500 CardDAV runs, the newest first."""
    ended = Run.unscoped.rows().filter(ended_at__isnull=False).order_by("-ended_at")
    times = ended.values_list("started_at", "ended_at")[:_MAX_RECENT_RUNS]
    return [max(0.0, (end - start).total_seconds()) for start, end in times]


def queue_messages() -> dict[str, int]:
    """The number of messages in each queue of Celery. Raises the errors of kombu if the broker cannot be reached."""
    with app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=0, timeout=2)
        channel = broker.default_channel
        return {name: _queue_length(channel, name) for name in app.amqp.queues}


def _queue_length(channel: Any, queue: str) -> int:
    try:
        return int(channel.queue_declare(queue, passive=True).message_count)
    except ChannelError:  # the queue is created with its first message
        return 0


def accounts() -> int:
    return User.objects.count()


def people() -> int:
    """People of all accounts, without those in the trash."""
    return total_of_all(PEOPLE)


def photo_bytes() -> int:
    return total_of_all(PHOTO_BYTES)


def database_bytes() -> int:
    """The size of the database on disk, with the WAL of SQLite."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
    name = str(connection.settings_dict["NAME"])
    return sum(path.stat().st_size for path in (Path(name), Path(f"{name}-wal")) if path.is_file())


def database_connections() -> dict[str, int]:
    """Connections to PostgreSQL by state, of all processes on all machines. Empty on SQLite."""
    if connection.vendor != "postgresql":
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND backend_type = 'client backend' GROUP BY 1"
        )
        found = dict(cursor.fetchall())
    busy, idle = found.pop("active", 0), found.pop("idle", 0)
    in_transaction = sum(found.pop(name, 0) for name in ("idle in transaction", "idle in transaction (aborted)"))
    return {"active": busy, "idle": idle, "in_transaction": in_transaction, "other": sum(found.values())}


def sizes() -> dict[str, int]:
    """The present size of the instance."""
    return {
        "accounts": accounts(),
        "people": people(),
        "photo_bytes": photo_bytes(),
        "database_bytes": database_bytes(),
    }


def versions() -> dict[str, str]:
    """The versions of the service and of what it runs on."""
    broker = "Redis" if settings.REDIS_URL else "embedded"
    vendor = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}[connection.vendor]
    number = ".".join(map(str, connection.get_database_version()))
    return {
        "Service": settings.VERSION,
        "Database": f"{vendor} {number}",
        "Broker": broker,
        "Python": platform.python_version(),
        "Django": django.get_version(),
        "Celery": celery.__version__,
    }


def _today(now: dt.datetime) -> dt.date:
    return now.astimezone(dt.UTC).date()


def _by_day(name: str, days: int, now: dt.datetime) -> ByDay:
    today = _today(now)
    period = [today - dt.timedelta(days=back) for back in range(days - 1, -1, -1)]
    # From here on days are counted live. Earlier ones are stored, or lie before the first row.
    live_from = first_uncounted_day() or first_day_with_events()
    counted = _group_by_day(DailyCount.objects.filter(name=name, day__gte=period[0]))
    return {
        day: count_events(name, day) if live_from and day >= live_from else counted.get(day, Counter())
        for day in period
    }


def _group_by_day(rows: models.QuerySet[DailyCount]) -> ByDay:
    found: ByDay = {}
    for day, key, number in rows.order_by("day", "key").values_list("day", "key", "number"):
        found.setdefault(day, Counter())[key] = number
    return found


# Counts of what happened on a day: computed live until the day is over, and then stored in DailyCount.


def count_days(*, sizes: dict[str, int], now: dt.datetime) -> int:
    """Store the counts of all days that are over and not counted yet, and today's `sizes`; returns the number of days.

    Safe to be killed and to run twice at once: each day is stored in one transaction, and existing rows are kept.
    """
    day, counted = first_uncounted_day() or first_day_with_events(), 0
    last = (now - _GRACE_PERIOD).astimezone(dt.UTC).date()
    while day is not None and day < last:
        _store_day(day)
        day, counted = day + dt.timedelta(days=1), counted + 1
    today = now.astimezone(dt.UTC).date()
    for key, number in sizes.items():
        # Replaced by each run: the last one of a day is kept.
        values = {"number": number}
        DailyCount.objects.update_or_create(day=today, name=INSTANCE_SIZES, key=key, defaults=values)
    return counted


def first_uncounted_day() -> dt.date | None:
    """The day after the last counted one; None if no day was counted yet."""
    days = DailyCount.objects.filter(name=_COUNTED_DAY_MARKER).order_by("-day").values_list("day", flat=True)
    last = days.first()
    return None if last is None else last + dt.timedelta(days=1)


def count_events(name: str, day: dt.date) -> Counter[str]:
    """What happened on the day, by key."""
    start = dt.datetime.combine(day, dt.time.min, tzinfo=dt.UTC)
    return _EVENT_COUNTERS[name]({"gte": start, "lt": start + dt.timedelta(days=1)})


def _time_lookups(column: str, period: TimeRange) -> dict[str, dt.datetime]:
    return {f"{column}__{lookup}": time for lookup, time in period.items()}


def _count_deliveries(period: TimeRange) -> Counter[str]:
    # A final delivery's `updated_at` is when it ended, by the machine's clock (`ended_at` follows `--now`). A delivery
    # that an operator retries later counts on both days.
    rows = Delivery.unscoped.rows().filter(ended_at__isnull=False, **_time_lookups("updated_at", period))
    groups = rows.order_by().values_list("channel", "state", "code").annotate(number=Count("*"))
    return Counter({f"{channel or 'none'}/{state}/{code}": number for channel, state, code, number in groups})


def _count_runs(period: TimeRange) -> Counter[str]:
    rows = Run.unscoped.rows().filter(ended_at__isnull=False, **_time_lookups("ended_at", period))
    groups = rows.order_by().values_list("code").annotate(number=Count("*"))
    return Counter({code or "ok": number for code, number in groups})


def _count_sign_ups(period: TimeRange) -> Counter[str]:
    return Counter({"": User.objects.filter(**_time_lookups("created_at", period)).count()})


_EVENT_COUNTERS: dict[str, Callable[[TimeRange], Counter[str]]] = {
    DELIVERIES: _count_deliveries,
    RUNS: _count_runs,
    SIGN_UPS: _count_sign_ups,
}


def first_day_with_events() -> dt.date | None:
    """The day of the oldest row to count; None if there is none."""
    oldest = (
        Delivery.unscoped.rows().filter(ended_at__isnull=False).aggregate(first=Min("updated_at"))["first"],
        Run.unscoped.rows().filter(ended_at__isnull=False).aggregate(first=Min("ended_at"))["first"],
        User.objects.aggregate(first=Min("created_at"))["first"],
    )
    found = [time for time in oldest if time is not None]
    return min(found).astimezone(dt.UTC).date() if found else None


def _store_day(day: dt.date) -> None:
    rows = [DailyCount(day=day, name=_COUNTED_DAY_MARKER, key="", number=1)]
    for name in _EVENT_COUNTERS:
        counts = count_events(name, day)
        rows += [DailyCount(day=day, name=name, key=key, number=number) for key, number in counts.items()]
    with transaction.atomic():
        DailyCount.objects.bulk_create(rows, ignore_conflicts=True)
