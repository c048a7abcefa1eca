"""The page of operation: whether the instance does its job, in pictures. All on it are figures, none is a row."""

import datetime as dt
import statistics
from collections import Counter
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.views.decorators.http import require_safe
from kombu.exceptions import KombuError

from contacts_project.admin.charts import DayChart, Line, Share, day_chart, line, shares
from contacts_project.kernel.metrics import read_all
from contacts_project.operation import figures
from contacts_project.operation.health import free_bytes
from notifications.admin import why

DAYS = 30
_WEEK = 7
_TASKS_SHOWN = 10


@require_safe
def operation_page(request: HttpRequest) -> HttpResponse:
    """Deliveries, address books, queues, sign-ins, growth and storage of the whole instance."""
    now = timezone.now()
    deliveries = figures.deliveries_by_day(days=DAYS, now=now)
    context = {
        **admin.site.each_context(request),
        "title": "How it goes",
        "at": now,
        "tiles": _tiles(now),
        "deliveries": _by_state(deliveries),
        "channels": _by_channel(deliveries),
        "failures": _by_code(deliveries),
        "runs": _runs(now),
        "durations": _durations(),
        "queues": _queues(),
        "tasks": _tasks(),
        "sign_ins": _sign_ins(),
        "sign_ups": day_chart(_named(figures.sign_ups_by_day(days=DAYS, now=now), "new accounts"), ["new accounts"]),
        "growth": _growth(now),
        "versions": figures.versions(),
    }
    return render(request, "operators/operation.html", context)


def _tiles(now: dt.datetime) -> list[tuple[str, str, bool]]:
    """What waits: name, number in words, and whether somebody should look."""
    waits, oldest = figures.waiting(now), figures.oldest_due_seconds(now)
    return [
        ("Oldest that is due", _span(oldest), oldest > 300),
        ("Due now", f"{waits['deliveries_due']:,}", False),
        ("To be tried again", f"{waits['deliveries_to_retry']:,}", False),
        ("Account mails waiting", f"{waits['account_mails']:,}", False),
        ("Addresses to look up", f"{waits['addresses']:,}", False),
        ("Runs under way", f"{waits['runs']:,}", False),
        ("Open conflicts", f"{waits['conflicts']:,}", False),
        ("Held deletions", f"{waits['held_deletions']:,}", bool(waits["held_deletions"])),
        ("Books with a refused password", f"{waits['connections_refused']:,}", bool(waits["connections_refused"])),
    ]


def _span(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds else "none"


def _by_state(days: figures.ByDay) -> DayChart:
    states = {day: _summed((key.split("/")[1], number) for key, number in keys.items()) for day, keys in days.items()}
    return day_chart(states, ["sent", "failed", "skipped"])


def _summed(pairs: Any) -> Counter[str]:
    total: Counter[str] = Counter()
    for key, number in pairs:
        total[key] += number
    return total


def _by_channel(days: figures.ByDay) -> list[tuple[str, DayChart]]:
    names = sorted({key.split("/")[0] for keys in days.values() for key in keys} - {"none"})
    return [(name, _by_state({day: _of_channel(keys, name) for day, keys in days.items()})) for name in names]


def _of_channel(keys: Counter[str], name: str) -> Counter[str]:
    return Counter({key: number for key, number in keys.items() if key.startswith(f"{name}/")})


def _by_code(days: figures.ByDay) -> list[Share]:
    week = list(days.values())[-_WEEK:]
    codes = _summed(
        (code, number)
        for keys in week
        for key, number in keys.items()
        for channel, state, code in [key.split("/")]
        if state == "failed"
    )
    return shares((why(code), number, f"{number:,}") for code, number in codes.items())


def _runs(now: dt.datetime) -> DayChart:
    days = figures.runs_by_day(days=DAYS, now=now)
    kinds = {
        day: _summed(("ok" if key == "ok" else "failed", number) for key, number in keys.items())
        for day, keys in days.items()
    }
    return day_chart(kinds, ["ok", "failed"])


def _durations() -> dict[str, str]:
    seconds = sorted(figures.recent_run_seconds())
    if not seconds:
        return {}
    return {
        "half within": _seconds(statistics.median(seconds)),
        "95 of 100 within": _seconds(seconds[int(len(seconds) * 0.95) - 1 if len(seconds) > 1 else 0]),
    }


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _queues() -> dict[str, int] | None:
    """None while the broker is away."""
    try:
        return figures.queue_messages()
    except (KombuError, OSError):
        return None


def _tasks() -> list[Share]:
    """Where the workers of this machine spent their time since its counters began."""
    taken = [
        (sample.labels[0].rpartition(".")[2], sample.values[-1], sum(sample.values[:-1]))
        for sample in read_all().get("contacts_task_seconds", [])
    ]
    shown = shares(
        (name, seconds, f"{_seconds(seconds / number)} each, {number:,.0f} times")
        for name, seconds, number in taken
        if number
    )
    return shown[:_TASKS_SHOWN]


def _sign_ins() -> list[Share]:
    samples = read_all().get("contacts_sign_ins_total", [])
    return shares(
        (sample.labels[0].replace("_", " "), sample.values[0], f"{sample.values[0]:,.0f}") for sample in samples
    )


def _named(days: figures.ByDay, name: str) -> figures.ByDay:
    return {day: Counter({name: numbers.get("", 0)}) for day, numbers in days.items()}


def _growth(now: dt.datetime) -> list[tuple[str, Line]]:
    """Accounts, people and bytes over the days; the last point is now."""
    today, sizes = now.astimezone(dt.UTC).date(), figures.sizes()
    days = {**figures.sizes_by_day(days=DAYS, now=now), today: Counter(sizes)}
    names = {"accounts": "Accounts", "people": "People", "database_bytes": "Database", "photo_bytes": "Photos"}
    lines = []
    for key, name in names.items():
        latest = filesizeformat(sizes[key]) if key.endswith("_bytes") else f"{sizes[key]:,}"
        if key == "database_bytes":
            latest = f"{latest}, {filesizeformat(free_bytes())} free beside it"
        lines.append((name, line({day: numbers[key] for day, numbers in days.items()}, latest)))
    return lines
