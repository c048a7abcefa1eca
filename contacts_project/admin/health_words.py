"""The parts of the health check in words, for operators."""

from typing import Any, Final

from contacts_project.kernel.json import JsonObject

_WORDS: Final = {
    "database": ("Database", "answers", "does not answer, or cannot be written to"),
    "migrations": ("Tables", "up to date", "not up to date: run manage.py migrate"),
    "broker": ("Task queue", "takes tasks", "does not answer"),
    "disk": ("Disk", "has room", "is nearly full"),
    "photos": ("Photos", "answers", "does not answer"),
    "proxy": ("Proxy", "none, or counted", "forwards requests, but TRUSTED_PROXY_COUNT is 0"),
}


def describe_health(checks: JsonObject) -> list[tuple[str, str, bool]]:
    """Each part: its name, its state, and whether it needs attention."""
    return [_describe_part(name, shown) for name, shown in checks.items()]


def _describe_part(name: str, shown: Any) -> tuple[str, str, bool]:
    state = shown["status"] if isinstance(shown, dict) else shown
    if name == "scheduler":
        return "Scheduler", _describe_lag(shown["lagSeconds"]), state != "ok"
    label, good, bad = _WORDS[name]
    if state == "newer":
        bad = "of a newer version than this program: run that version"
    return label, good if state == "ok" else bad, state != "ok"


def _describe_lag(seconds: int | None) -> str:
    if seconds is None:
        return "has not run yet"
    return f"ran {seconds} s ago" if seconds < 120 else f"last ran {seconds // 60} min ago"
