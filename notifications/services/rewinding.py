"""Runs for a moment in the past (`--now`): an account's next instants are set back to it, and forward again afterwards.

Rows know only what comes next, so a run for a past moment finds nothing by itself. All of it happens in one
transaction an account: no other run sees the rows set back. The ledger keeps what was sent then from being sent again.
"""

import datetime as dt
from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from contacts_project.ownership.columns import update_columns
from contacts_project.ownership.models import TrashQuerySet
from contacts_project.ownership.writing import AccountGoneError, account_pause
from notifications.ledger import catch_up_window
from notifications.models import Delivery, DigestSchedule
from notifications.services.digests import aim_digest, schedule_digest
from people import schedule
from people.models import ImportantDate, Person

_TOLERANCE = dt.timedelta(minutes=1)


def is_past(now: dt.datetime) -> bool:
    """Whether `now` is so far behind the clock that rows must be set back for it."""
    return now < timezone.now() - _TOLERANCE


def plan_past(*, now: dt.datetime, plan: Callable[[UUID, dt.datetime], int]) -> int:
    """Run `plan(owner_id, now)` for every account as if it were `now`; returns how many deliveries were made."""
    owners = User.objects.filter(is_active=True).order_by("pk").values_list("pk", flat=True)
    return sum(_plan_account(owner_id, now, plan) for owner_id in list(owners))


def _plan_account(owner_id: UUID, now: dt.datetime, plan: Callable[[UUID, dt.datetime], int]) -> int:
    real = timezone.now()
    try:
        with account_pause(owner_id):
            dates, people = _set_back(owner_id, now, real)
            made = plan(owner_id, now)
            _set_forward(owner_id, dates, people, real)
            # The workers' clock would call these missed: they are for the one who planned them.
            hold = real + dt.timedelta(seconds=2 * settings.DELIVERY_LEASE_SECONDS)
            Delivery.objects.owned_by(owner_id).filter(next_try_at=now, attempts=0).update(held_until=hold)
            return made
    except AccountGoneError:
        return 0


def _set_back(owner_id: UUID, now: dt.datetime, real: dt.datetime) -> tuple[list[UUID], list[UUID]]:
    """Aim the account's rows at the catch-up window before `now`; returns which. What waits to be planned stays."""
    clock = schedule.calendar_of(owner_id)
    since = clock.today(now - catch_up_window())
    dates = list(_dates(owner_id).filter(Q(next_due_at__gt=real) | Q(next_due_at=None)))
    dates = [row for row in dates if row.next_due_at or not (row.year_unknown and row.reminder_type == "ONCE")]
    for row in dates:
        schedule.aim_date(row, clock, since)
    update_columns(ImportantDate, dates, schedule.DATE_COLUMNS)
    people = list(_people(owner_id).filter(Q(contact_due_at__gt=real) | Q(contact_due_at=None)))
    for person in people:
        schedule.aim_contact(person, clock, since)
    update_columns(Person, people, schedule.CONTACT_COLUMNS)
    aim_digest(User.objects.get(pk=owner_id), since=since)
    return [row.pk for row in dates], [person.pk for person in people]


def _set_forward(owner_id: UUID, date_ids: list[UUID], person_ids: list[UUID], real: dt.datetime) -> None:
    clock = schedule.calendar_of(owner_id)
    was_set_back = {*date_ids, *person_ids}
    dates = [row for row in _dates(owner_id) if row.pk in was_set_back]
    for row in dates:
        schedule.plan_date(row, clock, real)
    update_columns(ImportantDate, dates, schedule.DATE_COLUMNS)
    people = [person for person in _people(owner_id) if person.pk in was_set_back]
    for person in people:
        schedule.plan_contact(person, clock, real)
    update_columns(Person, people, schedule.CONTACT_COLUMNS)
    DigestSchedule.objects.filter(owner_id=owner_id).delete()
    schedule_digest(User.objects.get(pk=owner_id), now=real)


def _dates(owner_id: UUID) -> TrashQuerySet[ImportantDate]:
    return ImportantDate.objects.owned_by(owner_id).active().filter(reminder_enabled=True, person__deleted_at=None)


def _people(owner_id: UUID) -> TrashQuerySet[Person]:
    return Person.objects.owned_by(owner_id).active().filter(contact_reminder_enabled=True)
