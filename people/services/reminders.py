"""Reschedules the reminders of an account after its time zone or reminder hour has changed."""

import datetime as dt
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_lock
from people.dates import schedule
from people.models import ImportantDate, Person
from people.models.person import ALWAYS, NOT_KNOWN
from people.services.last_contact import recompute_last_contacts


def reschedule_account(*, owner_id: UUID, now: dt.datetime) -> int:
    """Recompute the next reminder of every row of the account; returns the number of rows.

    Skips rows without a next reminder, which have none in any time zone, and rows that are due: those are sent first.
    """
    with account_lock(owner_id):
        recompute_last_contacts(owner_id=owner_id, now=now)
        calendar = schedule.load_calendar(owner_id)
        dates = list(ImportantDate.objects.owned_by(owner_id).filter(next_due_at__gt=now))
        for date in dates:
            schedule.reschedule_date(date, calendar, now)
        ImportantDate.objects.owned_by(owner_id).bulk_update(dates, schedule.DATE_COLUMNS)
        people = list(Person.objects.owned_by(owner_id).filter(contact_due_at__gt=now).only(*schedule.CONTACT_FIELDS))
        for person in people:
            schedule.reschedule_contact(person, calendar, now)
        Person.objects.owned_by(owner_id).bulk_update(people, schedule.CONTACT_COLUMNS)
        # In another zone today may be another day, whose dates were passed over.
        with_dates = Person.objects.owned_by(owner_id).filter(next_date_until__lt=ALWAYS)
        with_dates.update(next_date_until=NOT_KNOWN)
        User.objects.filter(pk=owner_id).update(reminders_stale=False)
    return len(dates) + len(people)
