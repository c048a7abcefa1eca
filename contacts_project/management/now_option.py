"""`--now`: the time for which a command runs."""

import datetime as dt
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone


def add_now(parser: Any) -> None:
    """Give a command the option."""
    parser.add_argument("--now", metavar="ISO", help="Run as if it were this moment (UTC unless it has an offset).")


def time_of(options: dict[str, Any]) -> dt.datetime:
    """The time that the caller named, else the present. Raises CommandError."""
    text = options.get("now")
    if not text:
        return timezone.now()
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--now {text}: not an ISO 8601 moment, such as 2026-05-04T09:00:00Z.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
