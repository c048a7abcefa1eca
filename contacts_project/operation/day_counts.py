"""Counts of what happened on a day: computed live until the day is over, and then stored in DailyCount."""

import datetime as dt
from collections import Counter
from collections.abc import Callable

from django.db import transaction
from django.db.models import Count, Min

from accounts.models import User
from carddav.models import Run
from contacts_project.models import DailyCount
from notifications.models import Delivery

# Values of DailyCount.name. They are stored, so they must not change.
DELIVERIES, RUNS, SIGN_UPS = "deliveries", "runs", "sign_ups"
INSTANCE_SIZES = "sizes"
# The name of the row that marks a day as counted, even if nothing happened on it.
_COUNTED_DAY_MARKER = "counted"
# A day is counted this long after it has ended: a transaction begun before midnight may be committed after it.
_GRACE_PERIOD = dt.timedelta(hours=1)

# Lookups of a column of times, such as {"gte": start, "lt": end}.
TimeRange = dict[str, dt.datetime]


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
