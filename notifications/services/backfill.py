"""Runs for another time than the clock's (`--now`), past or to come, in any order.

Rows know only what comes next by the clock. Such a run works out from copies in memory what was, or would be, due at
its time, and leaves the rows to the clock. The ledger keeps what one run made from being made by another.
"""

import datetime as dt
import logging
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from notifications.ledger import AccountPlan, catch_up_window, is_missed
from notifications.models import ReminderAnswer
from notifications.services.digests import digest_at
from notifications.services.planner import (
    UNREAD,
    collect_contacts,
    collect_dates,
    collect_snoozed,
    with_person,
    with_source,
)
from people.dates import schedule
from people.models import ImportantDate, Person
from people.vocabularies import ReminderType

log = logging.getLogger(__name__)

_TOLERANCE = dt.timedelta(minutes=1)
_ROWS = 500


def is_other_time(now: dt.datetime) -> bool:
    """Whether `now` is not the present."""
    return abs(now - timezone.now()) > _TOLERANCE


def plan_reminders_at(now: dt.datetime) -> int:
    """Make the deliveries of all reminders due at `now`; returns how many."""
    return _each_account(now, _plan_account)


def plan_digests_at(now: dt.datetime) -> int:
    """The same for the digests."""
    return _each_account(now, _plan_digest)


def _each_account(now: dt.datetime, plan: Callable[[UUID, dt.datetime], int]) -> int:
    made = 0
    for owner_id in list(User.objects.filter(is_active=True).order_by("pk").values_list("pk", flat=True)):
        try:
            made += plan(owner_id, now)
        except AccountGoneError:
            continue
        except Exception:
            log.exception("an account could not be planned", extra={"owner": str(owner_id)})
    return made


def _under_lock(owner_id: UUID, now: dt.datetime, collect: Callable[[AccountPlan], None]) -> int:
    with account_lock(owner_id):
        plan = AccountPlan(User.objects.get(pk=owner_id), now)
        collect(plan)
        return plan.write()


def _plan_account(owner_id: UUID, now: dt.datetime) -> int:
    """In batches of some hundred rows each: an account that has many does not keep its owner waiting."""
    is_past = now < timezone.now()
    dates = ImportantDate.objects.owned_by(owner_id).active().filter(reminder_enabled=True, person__deleted_at=None)
    people = Person.objects.owned_by(owner_id).active().filter(contact_reminder_enabled=True)
    of_dates = _batches(dates if is_past else dates.filter(next_due_at__lte=now))
    of_people = _batches(people if is_past else people.filter(contact_due_at__lte=now))
    snoozed = _batches(ReminderAnswer.objects.owned_by(owner_id).filter(due_at__lte=now))
    batches = [
        *(partial(_add_dates, ids) for ids in of_dates),
        *(partial(_add_contacts, ids) for ids in of_people),
        *(partial(_add_snoozed, ids) for ids in snoozed),
    ]
    return sum(_under_lock(owner_id, now, batch) for batch in batches)


def _add_dates(ids: list[UUID], plan: AccountPlan) -> None:
    rows = list(with_person(ImportantDate.objects.owned_by(plan.owner).filter(pk__in=ids)))
    _reset_dates(rows, plan)
    collect_dates(plan, rows)


def _add_contacts(ids: list[UUID], plan: AccountPlan) -> None:
    people = list(Person.objects.owned_by(plan.owner).filter(pk__in=ids).defer(*UNREAD))
    _reset_contacts(people, plan)
    collect_contacts(plan, people)


def _add_snoozed(ids: list[UUID], plan: AccountPlan) -> None:
    answers = with_source(ReminderAnswer.objects.owned_by(plan.owner).filter(pk__in=ids))
    collect_snoozed(plan, [answer for answer in answers if not is_missed(answer.due_at, plan.now)])


def _batches(rows: Any) -> list[list[UUID]]:
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    return [ids[start : start + _ROWS] for start in range(0, len(ids), _ROWS)]


def _reset_dates(rows: list[ImportantDate], plan: AccountPlan) -> None:
    """Set those whose next reminder lies after a past time to what there was to make up for at that moment."""
    since = plan.calendar.today(plan.now - catch_up_window())
    for row in rows:
        is_spent = row.next_due_at is None and row.year_unknown and row.reminder_type == ReminderType.ONCE
        if not is_spent and (row.next_due_at is None or row.next_due_at > plan.now):
            schedule.reset_date(row, plan.calendar, since)


def _reset_contacts(people: list[Person], plan: AccountPlan) -> None:
    since = plan.calendar.today(plan.now - catch_up_window())
    for person in people:
        if person.contact_due_at is None or person.contact_due_at > plan.now:
            schedule.reset_contact(person, plan.calendar, since)


def _plan_digest(owner_id: UUID, now: dt.datetime) -> int:
    return _under_lock(owner_id, now, _add_digest)


def _add_digest(plan: AccountPlan) -> None:
    if planned := digest_at(plan):
        plan.add(planned)
