"""Runs for another moment than the clock's (`--now`), past or to come, in any order.

Rows know only what comes next by the clock. Such a run works out from copies in memory what was, or would be, due at
its moment, and leaves the rows to the clock. The ledger keeps what one run made from being made by another.
"""

import datetime as dt
import logging
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from contacts_project.ownership.writing import AccountGoneError, account_pause
from notifications.ledger import AccountPlan, catch_up_window
from notifications.services.digests import digest_at
from notifications.services.planning import collect_contacts, collect_dates, with_person
from people import schedule
from people.models import ImportantDate, Person

log = logging.getLogger(__name__)

_TOLERANCE = dt.timedelta(minutes=1)
_ROWS = 1000


def is_other_moment(now: dt.datetime) -> bool:
    """Whether `now` is not the present."""
    return abs(now - timezone.now()) > _TOLERANCE


def plan_reminders_at(now: dt.datetime) -> int:
    """Make the deliveries of all reminders due at `now`; returns how many."""
    return _each_account(now, _plan_account)


def plan_digests_at(now: dt.datetime) -> int:
    """The same for the digests."""
    return _each_account(now, _plan_digest)


def _each_account(now: dt.datetime, plan: Callable[[User, dt.datetime], int]) -> int:
    made = 0
    for owner_id in list(User.objects.filter(is_active=True).order_by("pk").values_list("pk", flat=True)):
        try:
            with account_pause(owner_id):
                made += plan(User.objects.get(pk=owner_id), now)
        except AccountGoneError:
            continue
        except Exception:
            log.exception("an account could not be planned", extra={"owner": str(owner_id)})
    return made


def _plan_account(owner: User, now: dt.datetime) -> int:
    made = 0
    is_past = now < timezone.now()
    dates = ImportantDate.objects.owned_by(owner).active().filter(reminder_enabled=True, person__deleted_at=None)
    for ids in _batches(dates if is_past else dates.filter(next_due_at__lte=now)):
        plan = AccountPlan(owner, now)
        rows = list(with_person(ImportantDate.objects.owned_by(owner).filter(pk__in=ids)))
        _aim_dates(rows, plan)
        collect_dates(plan, rows)
        made += plan.write()
    people = Person.objects.owned_by(owner).active().filter(contact_reminder_enabled=True)
    for ids in _batches(people if is_past else people.filter(contact_due_at__lte=now)):
        plan = AccountPlan(owner, now)
        found = list(Person.objects.owned_by(owner).filter(pk__in=ids).defer("notes", *Person.DOCUMENTS))
        _aim_contacts(found, plan)
        collect_contacts(plan, found)
        made += plan.write()
    return made


def _batches(rows: Any) -> list[list[UUID]]:
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    return [ids[start : start + _ROWS] for start in range(0, len(ids), _ROWS)]


def _aim_dates(rows: list[ImportantDate], plan: AccountPlan) -> None:
    """Set those whose next reminder lies after a past moment to what there was to make up for at that moment."""
    since = plan.calendar.today(plan.now - catch_up_window())
    for row in rows:
        is_spent = row.next_due_at is None and row.year_unknown and row.reminder_type == "ONCE"
        if not is_spent and (row.next_due_at is None or row.next_due_at > plan.now):
            schedule.aim_date(row, plan.calendar, since)


def _aim_contacts(people: list[Person], plan: AccountPlan) -> None:
    since = plan.calendar.today(plan.now - catch_up_window())
    for person in people:
        if person.contact_due_at is None or person.contact_due_at > plan.now:
            schedule.aim_contact(person, plan.calendar, since)


def _plan_digest(owner: User, now: dt.datetime) -> int:
    plan = AccountPlan(owner, now)
    if planned := digest_at(plan):
        plan.add(planned)
    return plan.write()
