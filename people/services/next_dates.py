"""Computes the stored next days of people anew (people.dates.next_dates)."""

import datetime as dt
from uuid import UUID

from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from people.dates.next_dates import next_days
from people.dates.schedule import load_calendar
from people.models import Person
from people.models.person import ALWAYS

_BATCH_SIZE = 500
_COLUMNS = ("next_date_on", "next_date_until")


def refresh_next_dates(*, now: dt.datetime) -> int:
    """Compute the next days that are marked or have passed, of all accounts; returns their number.

    Safe to run anywhere, and twice.
    """
    # No zone is more than a day ahead of UTC. Which days have passed is decided by each account's own.
    candidates = Person.unscoped.rows().filter(next_date_until__lt=now.date() + dt.timedelta(1))
    # Not DISTINCT: then the databases read the owners of everybody by another index.
    owners = dict.fromkeys(candidates.order_by("next_date_until").values_list("owner_id", flat=True).iterator())
    number = 0
    for owner_id in owners:
        while found := _refresh_batch(owner_id, now):
            number += found
    return number


def _refresh_batch(owner_id: UUID, now: dt.datetime) -> int:
    """Some of the account's people, with its lock held for a moment; returns their number."""
    today = load_calendar(owner_id).today(now)
    passed = Person.objects.owned_by(owner_id).filter(next_date_until__lt=today).only("pk", "owner_id", *_COLUMNS)
    if not passed.exists():
        return 0
    try:
        with account_lock(owner_id):
            calendar = load_calendar(owner_id)
            today = calendar.today(now)
            people = list(passed.filter(next_date_until__lt=today).order_by("pk")[:_BATCH_SIZE])
            days = next_days(owner_id, [person.pk for person in people], calendar, today)
            for person in people:
                person.next_date_on = days.get(person.pk)
                person.next_date_until = person.next_date_on or ALWAYS
            # Not a change that clients see: revisions stay as they are.
            passed.bulk_update(people, _COLUMNS)
    except AccountGoneError:
        return 0
    return len(people)
