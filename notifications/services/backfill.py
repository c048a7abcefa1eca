"""Runs for another time than the clock's (`--now`), past or future, in any order.

The rows' due times know only what comes next by the clock. A backfill works out on copies in memory what was, or would
be, due at its time, and saves none of them. The ledger prevents two runs from planning the same notice twice.
"""

import datetime as dt
import logging
from collections.abc import Callable
from functools import partial
from uuid import UUID

from django.db.models import Model, QuerySet
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from notifications.ledger import AccountPlan, PlannedStates, catch_up_window, is_missed
from notifications.models import ReminderAnswer
from notifications.services.digests import digest_at
from notifications.services.planner import (
    collect_contacts,
    collect_dates,
    collect_snoozed,
    with_person,
    with_source,
)
from people.dates import schedule
from people.models import ImportantDate, Person

log = logging.getLogger(__name__)

_TOLERANCE = dt.timedelta(minutes=1)
_BATCH_SIZE = 500


def is_backfill(now: dt.datetime) -> bool:
    """Whether `now` is not the present, by more than a minute."""
    return abs(now - timezone.now()) > _TOLERANCE


def plan_reminders_at(now: dt.datetime) -> PlannedStates:
    """Plan all reminders due at `now`."""
    return _plan_each_account(now, _plan_account)


def plan_digests_at(now: dt.datetime) -> PlannedStates:
    """Plan all digests due at `now`."""
    return _plan_each_account(now, lambda owner_id, now: _plan_under_lock(owner_id, now, _add_digest))


def _plan_each_account(now: dt.datetime, plan: Callable[[UUID, dt.datetime], PlannedStates]) -> PlannedStates:
    planned = PlannedStates()
    for owner_id in list(User.objects.filter(is_active=True).order_by("pk").values_list("pk", flat=True)):
        try:
            planned += plan(owner_id, now)
        except AccountGoneError:
            continue
        except Exception:
            log.exception("an account could not be planned", extra={"owner": str(owner_id)})
    return planned


def _plan_under_lock(owner_id: UUID, now: dt.datetime, collect: Callable[[AccountPlan], None]) -> PlannedStates:
    with account_lock(owner_id):
        plan = AccountPlan(User.objects.get(pk=owner_id), now)
        collect(plan)
        return plan.write()


def _plan_account(owner_id: UUID, now: dt.datetime) -> PlannedStates:
    """Plan an account's reminders in batches, with a lock for each, so that its owner does not wait for all of them."""
    is_past = now < timezone.now()
    dates = ImportantDate.objects.owned_by(owner_id).active().filter(reminder_enabled=True, person__deleted_at=None)
    people = Person.objects.owned_by(owner_id).active().filter(contact_reminder_enabled=True)
    # For a past time all rows count: those due then have since moved on to a later reminder.
    date_ids = _id_batches(dates if is_past else dates.filter(next_due_at__lte=now))
    people_ids = _id_batches(people if is_past else people.filter(contact_due_at__lte=now))
    snoozed_ids = _id_batches(ReminderAnswer.objects.owned_by(owner_id).filter(due_at__lte=now))
    batches = [
        *(partial(_add_dates, ids) for ids in date_ids),
        *(partial(_add_contacts, ids) for ids in people_ids),
        *(partial(_add_snoozed, ids) for ids in snoozed_ids),
    ]
    return sum((_plan_under_lock(owner_id, now, batch) for batch in batches), PlannedStates())


def _id_batches(rows: QuerySet[Model]) -> list[list[UUID]]:
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    return [ids[start : start + _BATCH_SIZE] for start in range(0, len(ids), _BATCH_SIZE)]


def _add_dates(ids: list[UUID], plan: AccountPlan) -> None:
    rows = list(with_person(ImportantDate.objects.owned_by(plan.owner).filter(pk__in=ids)))
    since = plan.calendar.today(plan.now - catch_up_window())
    for row in rows:
        # After its one reminder, a one-time date without a year would get a second occurrence from a reset.
        is_spent = row.next_due_at is None and row.is_once_without_year
        if not is_spent and (row.next_due_at is None or row.next_due_at > plan.now):
            schedule.reset_date(row, plan.calendar, since)
    collect_dates(plan, rows)


def _add_contacts(ids: list[UUID], plan: AccountPlan) -> None:
    people = list(Person.objects.owned_by(plan.owner).filter(pk__in=ids).defer(*Person.HEAVY_COLUMNS))
    since = plan.calendar.today(plan.now - catch_up_window())
    for person in people:
        if person.contact_due_at is None or person.contact_due_at > plan.now:
            schedule.reset_contact(person, plan.calendar, since)
    collect_contacts(plan, people)


def _add_snoozed(ids: list[UUID], plan: AccountPlan) -> None:
    answers = with_source(ReminderAnswer.objects.owned_by(plan.owner).filter(pk__in=ids))
    collect_snoozed(plan, [answer for answer in answers if answer.due_at and not is_missed(answer.due_at, plan.now)])


def _add_digest(plan: AccountPlan) -> None:
    if planned := digest_at(plan):
        plan.add(planned)
