"""The next day of a person's important dates, by which GET /api/people sorts: of any type, with or without reminder.

It is stored with the person (`next_date_on`), so that sorting reads no dates. What is stored is right up to the
day `next_date_until`, which is the next day itself: then the account's day has passed it. A trigger marks the person of
each date that changes, whoever writes it. A task computes anew what is marked or has passed, every minute; until then,
the list does so for itself.
"""

import datetime as dt
from collections.abc import Collection, Iterable
from itertools import islice
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.database.triggers import Trigger, register_triggers
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from people.dates.schedule import Calendar, load_calendar
from people.dates.upcoming import event_rule
from people.field_table import DATE_KEYS
from people.models import ImportantDate, Person
from people.models.person import ALWAYS, NOT_KNOWN

_BATCH_SIZE = 500
# The columns of a date that decide on which days it is.
_DECIDING_COLUMNS = ("deleted_at", "person_id", *(key.column for key in DATE_KEYS if key.moves))
_PEOPLE = "people_person"


def next_days(
    owner: User | UUID, person_ids: Collection[UUID], calendar: Calendar, today: dt.date
) -> dict[UUID, dt.date]:
    """The next day, today included, of each of these people that has one."""
    found: dict[UUID, dt.date] = {}
    keys = iter(person_ids)
    while batch := list(islice(keys, _BATCH_SIZE)):
        dates = ImportantDate.objects.owned_by(owner).active().filter(person__in=batch)
        for row in dates.iterator(_BATCH_SIZE):
            day = event_rule(row, calendar).on_or_after(today)
            if day is not None and day <= found.get(row.person_id, day):
                found[row.person_id] = day
    return found


def _mark(condition: str) -> str:
    # Who is marked already is not written again, which would cost an entry in each index of people.
    return (
        f"UPDATE {_PEOPLE} SET next_date_until = '{NOT_KNOWN}' "  # noqa: S608 - names of our own
        f"WHERE id {condition} AND next_date_until <> '{NOT_KNOWN}'"
    )


def _triggers() -> Iterable[Trigger]:
    table = ImportantDate._meta.db_table
    # An array, not a subquery: without statistics PostgreSQL would read all people to join them with these rows.
    rows = "= ANY (ARRAY(SELECT person_id FROM {}))"
    added, removed = (_mark(rows.format(name)) for name in ("added", "removed"))
    yield Trigger("next_date_insert", table, "INSERT", _mark("= NEW.person_id"), writes=_PEOPLE, statement_body=added)
    yield Trigger("next_date_delete", table, "DELETE", _mark("= OLD.person_id"), writes=_PEOPLE, statement_body=removed)
    yield Trigger(
        "next_date_update",
        table,
        f"UPDATE OF {', '.join(_DECIDING_COLUMNS)}",
        _mark("IN (OLD.person_id, NEW.person_id)"),
        changed=_DECIDING_COLUMNS,
        writes=_PEOPLE,
    )


def register_next_dates() -> None:
    """Register the triggers; called in AppConfig.ready()."""
    register_triggers(*_triggers())


_STORED_COLUMNS = ("next_date_on", "next_date_until")


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
    passed = (
        Person.objects.owned_by(owner_id).filter(next_date_until__lt=today).only("pk", "owner_id", *_STORED_COLUMNS)
    )
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
            passed.bulk_update(people, _STORED_COLUMNS)
    except AccountGoneError:
        return 0
    return len(people)
