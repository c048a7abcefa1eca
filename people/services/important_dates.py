"""Creates, updates, deletes and restores important dates, and schedules their next reminder."""

import datetime as dt
from collections.abc import Collection
from functools import partial
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import FieldError, MissingError, NotDeletedError
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from contacts_project.kernel.ownership.client_ids import claimed_id
from contacts_project.kernel.texts import define_text
from people.dates import schedule
from people.field_table import DATE_COLUMNS
from people.models import ImportantDate, Person
from people.services.group_rules import longest_lead_days, takes_lead_days
from people.services.people import touch_people
from people.services.person_rows import set_date_fields
from people.services.plan_limits import check_plan

_TYPE_TAKEN = define_text("date_type_taken", "This person already has a date of type %(type)s.")


def create_date(*, owner: User, person: Person, data: JsonObject, now: dt.datetime) -> ImportantDate:
    """Add a date to an active person, read after `owner`.

    Raises FieldError (a second one of its type), PlanLimitError, IdTakenError, MissingError.
    """
    with account_write(owner) as write:
        if not write.is_fresh:
            Person.objects.find_active(owner, person.pk)
        row = ImportantDate(id=claimed_id(data), owner=owner, person=person)
        _check_type_once(row, data.get("type"))
        if takes_lead_days(data):
            data = {**data, "reminder_lead_days": longest_lead_days(owner.pk, [person.pk]).get(person.pk)}
        _save_date(write, row, data, now)
        touch_people(owner.pk, [person.pk], now)
    return row


def find_date(owner: User, person_id: UUID, date_id: UUID) -> ImportantDate:
    """The active date of an active person. Raises MissingError."""
    row = ImportantDate.objects.owned_by(owner).active().filter(person=person_id, person__deleted_at=None).find(date_id)
    row.owner = owner
    return row


def update_date(*, owner: User, row: ImportantDate, data: JsonObject, now: dt.datetime) -> ImportantDate:
    """Replace all fields of a date that was read after `owner`.

    Raises FieldError (a second one of its type), PlanLimitError, MissingError.
    """
    with account_write(owner) as write:
        if not write.is_fresh:
            row = find_date(owner, row.person_id, row.pk)
        _check_type_once(row, data.get("type"))
        _save_date(write, row, data, now)
        touch_people(owner.pk, [row.person_id], now)
    return row


def delete_date(*, owner: User, row: ImportantDate, now: dt.datetime) -> None:
    """Move a date that was read after `owner` to the trash, and cancel its reminder. Raises MissingError."""
    with account_write(owner) as write:
        # save() writes all columns, so the row must be as it is stored now. The reminder need not be, it is cancelled.
        if not write.is_fresh:
            row = find_date(owner, row.person_id, row.pk)
        row.deleted_at = now
        for column, value in schedule.NO_REMINDER.items():
            setattr(row, column, value)
        row.save()
        touch_people(owner.pk, [row.person_id], now)


def restore_date(*, row: ImportantDate, now: dt.datetime) -> ImportantDate:
    """Take a date out of the trash. Raises NotDeletedError, FieldError, PlanLimitError, MissingError."""
    with account_write(row.owner_id):
        _refresh(row)
        if row.deleted_at is None:
            raise NotDeletedError
        _check_type_once(row, row.type)
        if row.reminder_enabled:
            check_plan(row.owner, "reminders")
        row.deleted_at = None
        schedule.schedule_date(row, schedule.load_calendar(row.owner_id), now)
        row.save()
        touch_people(row.owner_id, [row.person_id], now)
    return row


def remove_dates(owner_id: UUID, ids: Collection[UUID]) -> list[str]:
    """Permanently remove dates, for the purge. Returns no files, because dates have none."""
    _remove_lines(owner_id, ids)
    ImportantDate.objects.owned_by(owner_id).filter(pk__in=ids).delete()
    return []


def remove_date(*, row: ImportantDate) -> None:
    """Permanently remove a deleted date. Raises NotDeletedError, MissingError."""
    with account_write(row.owner_id):
        _refresh(row)
        if row.deleted_at is None:
            raise NotDeletedError
        _remove_lines(row.owner_id, [row.pk])
        row.delete()


def _remove_lines(owner_id: UUID, ids: Collection[UUID]) -> None:
    """Remove the lines of these dates from the stored cards of their people."""
    removed = {str(key) for key in ids}
    rows = Person.objects.owned_by(owner_id).filter(important_dates__in=ids).exclude(card_lines=[]).distinct()
    people = list(rows.only("card_lines"))
    for person in people:
        person.card_lines = [line for line in person.card_lines if line.get("id") not in removed]
    Person.objects.owned_by(owner_id).bulk_update(people, ["card_lines"])


def _save_date(write: AccountWrite, row: ImportantDate, data: JsonObject, now: dt.datetime) -> None:
    calendar = partial(schedule.calendar_under_lock, row.owner, is_fresh=write.is_fresh)
    change = set_date_fields(row, data, calendar, now)
    if change.starts_reminding:
        check_plan(row.owner, "reminders")
    if row._state.adding:
        row.save()
        return
    # A job may have moved the stored reminder on since the row was read: jobs take the lock, but no revision.
    reminder = schedule.DATE_COLUMNS if change.is_rescheduled else ()
    row.save(update_fields=[*DATE_COLUMNS, *reminder, "updated_at"])


def _refresh(row: ImportantDate) -> None:
    """Read the row again. Raises MissingError if it is gone, or if its person lost it to a merge or is in the trash."""
    rows = ImportantDate.objects.owned_by(row.owner_id).filter(person=row.person_id, person__deleted_at=None)
    try:
        row.refresh_from_db(from_queryset=rows)
    except ImportantDate.DoesNotExist:
        raise MissingError from None


def _check_type_once(row: ImportantDate, kind: str | None) -> None:
    if not kind:
        return
    same = ImportantDate.objects.owned_by(row.owner_id).active().filter(person=row.person_id, type=kind)
    if same.exclude(pk=row.pk).exists():
        raise FieldError("type", _TYPE_TAKEN.format(type=kind))
