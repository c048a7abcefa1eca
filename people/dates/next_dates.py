"""The next day of a person's important dates, by which GET /api/people sorts: of any type, with or without reminder.

It is stored with the person (`next_date_on`), so that sorting reads no dates. What is stored is right up to the
day `next_date_until`, which is the next day itself: then the account's day has passed it. A trigger marks the person of
each date that changes, whoever writes it. `people.services.next_dates` computes anew what is marked or has passed,
every minute; until then, the list does so for itself.
"""

import datetime as dt
from collections.abc import Collection, Iterable
from itertools import islice
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.database.triggers import Trigger, register_triggers
from people.dates.schedule import Calendar
from people.dates.upcoming import event_rule
from people.field_table import DATE_KEYS
from people.models import ImportantDate
from people.models.person import NOT_KNOWN

_BATCH_SIZE = 500
# The columns of a date that decide on which days it is.
_COLUMNS = ("deleted_at", "person_id", *(key.column for key in DATE_KEYS if key.moves))
_PEOPLE = "people_person"


def next_days(
    owner: User | UUID, person_ids: Collection[UUID], calendar: Calendar, today: dt.date
) -> dict[UUID, dt.date]:
    """The next day, today included, of each of these people that has one. One statement for each 500 people."""
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
        f"UPDATE OF {', '.join(_COLUMNS)}",
        _mark("IN (OLD.person_id, NEW.person_id)"),
        changed=_COLUMNS,
        writes=_PEOPLE,
    )


def register_next_dates() -> None:
    """Register the triggers; called in AppConfig.ready()."""
    register_triggers(*_triggers())
