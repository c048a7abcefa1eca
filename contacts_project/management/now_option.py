"""The option `--now`: a command runs as if it were another time."""

import datetime as dt

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone


def add_now_option(parser: CommandParser) -> None:
    parser.add_argument("--now", metavar="ISO", help="Run as if it were this moment (UTC unless it has an offset).")


def parse_now(text: str | None) -> dt.datetime:
    """Return the time of the option, else the current time. Raises CommandError."""
    if not text:
        return timezone.now()
    try:
        now = dt.datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--now {text}: not an ISO 8601 moment, such as 2026-05-04T09:00:00Z.") from None
    return now if now.tzinfo else now.replace(tzinfo=dt.UTC)
