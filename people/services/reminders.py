"""Reminders that no request sets: of dates that arrive, and of a whole account after its clock has changed."""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.functional import cached_property

from accounts.models import User
from accounts.vocabularies import DateReminders
from contacts_project.kernel.ownership.account_lock import account_lock
from people.dates import schedule
from people.field_table import DATE_REMINDER_DEFAULTS
from people.models import ImportantDate, Person
from people.models.person import ALWAYS, NOT_KNOWN
from people.services.last_contact import recompute_last_contacts
from people.services.plan_limits import remaining_in_plan
from people.vocabularies import DateType

_OFF: Mapping[str, Any] = {"reminder_enabled": False}


class ArrivingReminders:
    """The reminders of the important dates that one write brings: of an import, a card, a device or the sync.

    A date of which the file says something itself has that reminder. For others `choice` (DateReminders) decides, by
    default the account's `dateReminderDefault`. Beyond the plan's limit dates have none, in the order of the calls.

    `taken` is how many reminders were set; that of a dry run begins with those of its earlier batches. Must be used
    under the account lock, before the write.
    """

    def __init__(self, owner: User, choice: str | None = None, *, taken: int = 0) -> None:
        self.owner, self.choice, self.taken = owner, choice or owner.date_reminder_default, taken

    @cached_property
    def _allowed(self) -> int | None:
        return remaining_in_plan(self.owner, "reminders")

    def take(self) -> bool:
        """Use one reminder of the plan; returns False if it allows no more."""
        if self._allowed is not None and self.taken >= self._allowed:
            return False
        self.taken += 1
        return True

    def wanted(self, kind: str | None, in_file: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """The columns of the reminder that a date of this type should have. `in_file` are those that its file names."""
        if in_file is not None:
            return in_file
        is_chosen = self.choice == DateReminders.ALL or (
            self.choice == DateReminders.BIRTHDAYS and kind == DateType.BIRTHDAY
        )
        return DATE_REMINDER_DEFAULTS if is_chosen else _OFF

    def columns_of(self, kind: str | None) -> Mapping[str, Any]:
        """The columns of the reminder of a date of this type, as far as the plan allows."""
        columns = self.wanted(kind)
        return columns if not columns["reminder_enabled"] or self.take() else _OFF


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
