"""Registry for putting off the contact reminder of a person: an app that sends reminders registers how that is done.

So that whatever lets people say "not before that day", such as the task lists of their devices, need not know the app.
"""

import datetime as dt
from collections.abc import Callable

from accounts.models import User
from people.models import Person

Snoozer = Callable[[User, Person, "dt.date | None", dt.datetime], None]
"""Of an account, one of its people, the day and now: inside the write of the caller, send nothing before that day, and
then once. Without a day: as if it had never been put off."""

_snoozers: list[Snoozer] = []


def register_snoozer(snooze: Snoozer) -> None:
    """Called once per app, from AppConfig.ready()."""
    _snoozers.append(snooze)


def snooze_contact(*, owner: User, person: Person, day: dt.date | None, now: dt.datetime) -> None:
    """Put the contact reminder off to a day, or no longer. Must be called inside `account_write`."""
    for snooze in _snoozers:
        snooze(owner, person, day, now)
