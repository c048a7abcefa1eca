"""Runs for another time than the clock's (`--now`), past or future, in any order.

The rows' due times know only what comes next by the clock. A backfill works out on copies in memory what was, or would
be, due at its time, and saves none of them. The ledger prevents two runs from writing the same notice twice.
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
from notifications.ledger import DueNotices, StateCounts, catch_up_window, is_missed
from notifications.models import ReminderAnswer
from notifications.services.digests import digest_at
from notifications.services.due_scan import collect_contacts, collect_dates, collect_snoozed, with_person, with_source
from people.dates import schedule
from people.models import ImportantDate, Person

log = logging.getLogger(__name__)

_TOLERANCE = dt.timedelta(minutes=1)
_BATCH_SIZE = 500


def is_backfill(now: dt.datetime) -> bool:
    """Whether `now` is not the present, by more than a minute."""
    return abs(now - timezone.now()) > _TOLERANCE


def backfill_reminders(now: dt.datetime) -> StateCounts:
    """Write the deliveries of all reminders due at `now`."""
    return _backfill_each_account(now, _backfill_account)


def backfill_digests(now: dt.datetime) -> StateCounts:
    """Write the deliveries of all digests due at `now`."""
    return _backfill_each_account(now, lambda owner_id, now: _write_under_lock(owner_id, now, _add_digest))


def _backfill_each_account(now: dt.datetime, write: Callable[[UUID, dt.datetime], StateCounts]) -> StateCounts:
    written = StateCounts()
    for owner_id in list(User.objects.filter(is_active=True).order_by("pk").values_list("pk", flat=True)):
        try:
            written += write(owner_id, now)
        except AccountGoneError:
            continue
        except Exception:
            log.exception("an account could not be planned", extra={"owner": str(owner_id)})
    return written


def _write_under_lock(owner_id: UUID, now: dt.datetime, collect: Callable[[DueNotices], None]) -> StateCounts:
    with account_lock(owner_id):
        notices = DueNotices(User.objects.get(pk=owner_id), now)
        collect(notices)
        return notices.write()


def _backfill_account(owner_id: UUID, now: dt.datetime) -> StateCounts:
    """Write an account's reminders in batches, each with a lock, so that its owner does not wait for all of them."""
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
    return sum((_write_under_lock(owner_id, now, batch) for batch in batches), StateCounts())


def _id_batches(rows: QuerySet[Model]) -> list[list[UUID]]:
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    return [ids[start : start + _BATCH_SIZE] for start in range(0, len(ids), _BATCH_SIZE)]


def _add_dates(ids: list[UUID], notices: DueNotices) -> None:
    rows = list(with_person(ImportantDate.objects.owned_by(notices.owner).filter(pk__in=ids)))
    since = notices.calendar.today(notices.now - catch_up_window())
    for row in rows:
        # After its one reminder, a one-time date without a year would get a second occurrence from a reset.
        is_spent = row.next_due_at is None and row.is_once_without_year
        if not is_spent and (row.next_due_at is None or row.next_due_at > notices.now):
            schedule.reset_date(row, notices.calendar, since)
    collect_dates(notices, rows)


def _add_contacts(ids: list[UUID], notices: DueNotices) -> None:
    people = list(Person.objects.owned_by(notices.owner).filter(pk__in=ids).defer(*Person.HEAVY_COLUMNS))
    since = notices.calendar.today(notices.now - catch_up_window())
    for person in people:
        if person.contact_due_at is None or person.contact_due_at > notices.now:
            schedule.reset_contact(person, notices.calendar, since)
    collect_contacts(notices, people)


def _add_snoozed(ids: list[UUID], notices: DueNotices) -> None:
    answers = with_source(ReminderAnswer.objects.owned_by(notices.owner).filter(pk__in=ids))
    collect_snoozed(
        notices, [answer for answer in answers if answer.due_at and not is_missed(answer.due_at, notices.now)]
    )


def _add_digest(notices: DueNotices) -> None:
    if notice := digest_at(notices):
        notices.add(notice)
