"""The operators' pages: charts of the instance, and the trash. They show numbers only, no data of accounts."""

import datetime as dt
import statistics
from collections import Counter
from collections.abc import Iterable

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_celery_beat.models import PeriodicTask
from kombu.exceptions import KombuError

from accounts.models import PendingFileDeletion
from contacts_project.admin.charts import DayChart, Line, Share, build_day_chart, build_line, build_shares
from contacts_project.admin.health_words import describe_health
from contacts_project.kernel.admin import MAX_COUNTED_ROWS
from contacts_project.kernel.metrics import read_all
from contacts_project.kernel.ownership.models import Tombstone, retention_cutoff
from contacts_project.operation import figures
from contacts_project.operation.health import check_health, free_bytes
from notifications.admin import describe_code
from people.trash import trash_kinds

DAYS = 30
_FAILURE_DAYS = 7
_MAX_TASKS = 10
_PURGE_TASKS = ("people.tasks.purge_deleted", "notifications.tasks.purge_deliveries", "carddav.tasks.purge_history")
_KIND_LABELS = {
    "people": "People",
    "importantDates": "Important dates",
    "groups": "Groups",
    "customFieldTemplates": "Custom fields",
    "relationships": "Relationships",
    "relationshipTypes": "Relationship types",
}


@require_safe
def operation_page(request: HttpRequest) -> HttpResponse:
    """Deliveries, address books, queues, sign-ins, growth and storage of the whole instance."""
    now = timezone.now()
    deliveries = figures.deliveries_by_day(days=DAYS, now=now)
    context = {
        **admin.site.each_context(request),
        "title": "Status",
        "at": now,
        "health": describe_health(check_health(now)[1]),
        "tiles": _tiles(now),
        "deliveries": _deliveries_by_state(deliveries),
        "channels": _deliveries_by_channel(deliveries),
        "failures": _failures_by_code(deliveries),
        "runs": _runs(now),
        "durations": _run_durations(),
        "queues": _queues(),
        "tasks": _tasks(),
        "sign_ins": _sign_ins(),
        "sign_ups": _sign_ups(now),
        "growth": _growth(now),
        "versions": figures.versions(),
    }
    return render(request, "operators/operation.html", context)


def _tiles(now: dt.datetime) -> list[tuple[str, str, bool]]:
    """What is waiting: name, number as text, and whether it needs attention."""
    waiting, oldest = figures.waiting_counts(now), figures.oldest_due_seconds(now)
    return [
        ("Oldest that is due", _format_duration(oldest), oldest > 300),
        ("Due now", f"{waiting['deliveries_due']:,}", False),
        ("To be tried again", f"{waiting['deliveries_to_retry']:,}", False),
        ("Account mails waiting", f"{waiting['account_mails']:,}", False),
        ("Addresses to look up", f"{waiting['addresses']:,}", False),
        ("Runs under way", f"{waiting['runs']:,}", False),
        ("Open conflicts", f"{waiting['conflicts']:,}", False),
        ("Held deletions", f"{waiting['held_deletions']:,}", bool(waiting["held_deletions"])),
        ("Books with a refused password", f"{waiting['connections_refused']:,}", bool(waiting["connections_refused"])),
    ]


def _format_duration(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds else "none"


def _deliveries_by_state(days: figures.ByDay) -> DayChart:
    """`days` has the keys `channel/state/code`."""
    states = {
        day: _sum_by_key((key.split("/")[1], number) for key, number in keys.items()) for day, keys in days.items()
    }
    return build_day_chart(states, ["sent", "failed", "skipped"])


def _sum_by_key(pairs: Iterable[tuple[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for key, number in pairs:
        total[key] += number
    return total


def _deliveries_by_channel(days: figures.ByDay) -> list[tuple[str, DayChart]]:
    names = sorted({key.split("/")[0] for keys in days.values() for key in keys} - {"none"})
    charts = []
    for name in names:
        of_channel = {
            day: Counter({key: number for key, number in keys.items() if key.startswith(f"{name}/")})
            for day, keys in days.items()
        }
        charts.append((name, _deliveries_by_state(of_channel)))
    return charts


def _failures_by_code(days: figures.ByDay) -> list[Share]:
    codes = _sum_by_key(
        (code, number)
        for keys in list(days.values())[-_FAILURE_DAYS:]
        for key, number in keys.items()
        for channel, state, code in [key.split("/")]
        if state == "failed"
    )
    return build_shares((describe_code(code), number, f"{number:,}") for code, number in codes.items())


def _runs(now: dt.datetime) -> DayChart:
    days = figures.runs_by_day(days=DAYS, now=now)
    kinds = {
        day: _sum_by_key(("ok" if key == "ok" else "failed", number) for key, number in keys.items())
        for day, keys in days.items()
    }
    return build_day_chart(kinds, ["ok", "failed"])


def _run_durations() -> dict[str, str]:
    seconds = sorted(figures.recent_run_seconds())
    if not seconds:
        return {}
    return {
        "half within": _format_seconds(statistics.median(seconds)),
        "95 of 100 within": _format_seconds(seconds[int(len(seconds) * 0.95) - 1 if len(seconds) > 1 else 0]),
    }


def _format_seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _queues() -> dict[str, int] | None:
    """The number of messages by queue; None if the broker cannot be reached."""
    try:
        return figures.queue_messages()
    except (KombuError, OSError):
        return None


def _tasks() -> list[Share]:
    """The tasks in which the workers of this machine spent most time since its counters were reset."""
    taken = [
        (sample.labels[0].rpartition(".")[2], sample.values[-1], sum(sample.values[:-1]))
        for sample in read_all().get("contacts_task_seconds", [])
    ]
    shown = build_shares(
        (name, seconds, f"{_format_seconds(seconds / number)} each, {number:,.0f} times")
        for name, seconds, number in taken
        if number
    )
    return shown[:_MAX_TASKS]


def _sign_ins() -> list[Share]:
    samples = read_all().get("contacts_sign_ins_total", [])
    return build_shares(
        (sample.labels[0].replace("_", " "), sample.values[0], f"{sample.values[0]:,.0f}") for sample in samples
    )


def _sign_ups(now: dt.datetime) -> DayChart:
    name = "new accounts"
    days = figures.sign_ups_by_day(days=DAYS, now=now)
    return build_day_chart({day: Counter({name: numbers.get("", 0)}) for day, numbers in days.items()}, [name])


def _growth(now: dt.datetime) -> list[tuple[str, Line]]:
    """Accounts, people and bytes by day. The last point is the present."""
    today, sizes = now.astimezone(dt.UTC).date(), figures.sizes()
    days = {**figures.sizes_by_day(days=DAYS, now=now), today: Counter(sizes)}
    names = {"accounts": "Accounts", "people": "People", "database_bytes": "Database", "photo_bytes": "Photos"}
    lines = []
    for key, name in names.items():
        latest = filesizeformat(sizes[key]) if key.endswith("_bytes") else f"{sizes[key]:,}"
        if key == "database_bytes":
            latest = f"{latest}, {filesizeformat(free_bytes())} free beside it"
        lines.append((name, build_line({day: numbers[key] for day, numbers in days.items()}, latest)))
    return lines


@require_safe
def trash_page(request: HttpRequest) -> HttpResponse:
    """How many records are in the trash of all accounts, by kind, and the periodic tasks that empty it."""
    cutoff = retention_cutoff(timezone.now())
    kinds = []
    for kind in trash_kinds().values():
        rows = kind.model._default_manager.filter(deleted_at__isnull=False)
        overdue = rows.filter(deleted_at__lt=cutoff)
        # Counted up to a limit: the trash of all accounts may be large.
        numbers = [found.order_by()[:MAX_COUNTED_ROWS].count() for found in (rows, overdue)]
        kinds.append((_KIND_LABELS.get(kind.name, kind.name), *numbers))
    context = {
        **admin.site.each_context(request),
        "title": "Trash and purge",
        "kinds": kinds,
        "files": PendingFileDeletion.objects.count(),
        "tombstones": Tombstone.unscoped.rows()[:MAX_COUNTED_ROWS].count(),
        "purges": PeriodicTask.objects.filter(task__in=_PURGE_TASKS).select_related("crontab").order_by("name"),
        "retention_days": (timezone.now() - cutoff).days,
    }
    return render(request, "operators/trash.html", context)
