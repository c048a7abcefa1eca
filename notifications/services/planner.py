"""The due scan: rows whose next reminder is due become deliveries, and move on to their next, in one transaction."""

import datetime as dt
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from contacts_project.kernel.ownership.columns import update_columns
from contacts_project.kernel.ownership.models import TrashQuerySet
from notifications.ledger import AccountPlan, Planned, catch_up_window, is_missed
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.dates.recurrence import Reminder, turns
from people.dates.upcoming import name_of
from people.models import ImportantDate, Person
from people.vocabularies import ReminderKind

log = logging.getLogger(__name__)

_ROWS = 1000
_KINDS = {ReminderKind.DAY: NoticeKind.IMPORTANT_DATE, ReminderKind.LEAD: NoticeKind.IMPORTANT_DATE_LEAD}
UNREAD = ("notes", *Person.DOCUMENTS)


@dataclass
class Due:
    """Rows of one account whose instant has come."""

    dates: list[UUID] = field(default_factory=list)
    people: list[UUID] = field(default_factory=list)


def plan_due(*, now: dt.datetime) -> int:
    """Make the deliveries of everything that is due; returns how many. Safe to run anywhere, at any time, twice.

    An account that cannot be planned is logged and left to the next run: it holds up nobody else.
    """
    made, broken = 0, set[UUID]()
    # Each round moves on what it has found or leaves its account out, so the loop ends.
    while due := find_due(now, broken):
        for owner_id, rows in due.items():
            try:
                made += plan_account(owner_id=owner_id, due=rows, now=now)
            except Exception:
                log.exception("the reminders of an account could not be planned", extra={"owner": str(owner_id)})
                broken.add(owner_id)
    return made


def find_due(now: dt.datetime, leaving_out: Collection[UUID] = ()) -> dict[UUID, Due]:
    """What is due, by account, up to some hundred rows: two range scans over the indexes of due instants."""
    found: dict[UUID, Due] = defaultdict(Due)
    dates = ImportantDate.unscoped.filter(next_due_at__lte=now).exclude(owner_id__in=leaving_out)
    for owner_id, pk in dates.order_by("next_due_at").values_list("owner_id", "pk")[:_ROWS]:
        found[owner_id].dates.append(pk)
    people = Person.unscoped.filter(contact_due_at__lte=now).exclude(owner_id__in=leaving_out)
    for owner_id, pk in people.order_by("contact_due_at").values_list("owner_id", "pk")[:_ROWS]:
        found[owner_id].people.append(pk)
    return found


def plan_account(*, owner_id: UUID, due: Due, now: dt.datetime) -> int:
    """Make the deliveries of one account's rows, looking under its lock whether they are still due."""
    try:
        with account_lock(owner_id):
            plan = AccountPlan(User.objects.get(pk=owner_id), now)
            _plan_dates(plan, due.dates)
            _plan_contacts(plan, due.people)
            return plan.write()
    except AccountGoneError:
        return 0


def _plan_dates(plan: AccountPlan, ids: list[UUID]) -> None:
    # Due is asked again under the lock: another scan may have been here since.
    rows = list(with_person(ImportantDate.objects.owned_by(plan.owner).filter(pk__in=ids, next_due_at__lte=plan.now)))
    collect_dates(plan, rows)
    update_columns(ImportantDate, rows, schedule.DATE_COLUMNS)


def _plan_contacts(plan: AccountPlan, ids: list[UUID]) -> None:
    due = Person.objects.owned_by(plan.owner).filter(pk__in=ids, contact_due_at__lte=plan.now)
    people = list(due.defer(*UNREAD))
    collect_contacts(plan, people)
    update_columns(Person, people, schedule.CONTACT_COLUMNS)


def with_person(dates: TrashQuerySet[ImportantDate]) -> TrashQuerySet[ImportantDate]:
    """The dates, with as much of their people as a notice needs."""
    return dates.select_related("person").defer(*(f"person__{column}" for column in UNREAD))


def collect_dates(plan: AccountPlan, rows: Iterable[ImportantDate]) -> None:
    """Plan what is due of the rows and set each to what comes next. Saves nothing."""
    for row in rows:
        # After a long silence several reminders of a row are due: each is planned, as late or as missed.
        while row.next_due_at is not None and row.next_due_at <= plan.now:
            reminder = schedule.reminder_of(row)
            if reminder and row.deleted_at is None and row.person.deleted_at is None and plan.owner.is_active:
                plan.add(_planned_date(row, reminder, row.next_due_at, plan))
            schedule.advance_date(row, plan.calendar, _since(row.next_due_at, plan))


def collect_contacts(plan: AccountPlan, people: Iterable[Person]) -> None:
    """The same for people to get in touch with."""
    for person in people:
        while person.contact_due_at is not None and person.contact_due_at <= plan.now:
            if person.contact_due_on and person.deleted_at is None and plan.owner.is_active:
                plan.add(_planned_contact(person, person.contact_due_on, person.contact_due_at, plan))
            schedule.advance_contact(person, plan.calendar, _since(person.contact_due_at, plan))


def _since(due_at: dt.datetime, plan: AccountPlan) -> dt.date:
    """The day from which to go on: after a long silence what is too late to be made up for is passed over."""
    earliest = plan.now - catch_up_window() if is_missed(due_at, plan.now) else due_at
    return plan.calendar.today(earliest)


def _planned_date(row: ImportantDate, reminder: Reminder, due_at: dt.datetime, plan: AccountPlan) -> Planned:
    day = reminder.occurrence
    content = {
        **_content(row.person, day, plan),
        "importantDateId": str(row.pk),
        "type": row.type,
        "title": row.title,
        "yearUnknown": row.year_unknown,
        "turns": None if row.year_unknown else turns(row.date, day, plan.calendar.leap_day),
    }
    return Planned(_KINDS[reminder.kind], row.pk, day, due_at, content, row.person_id)


def _planned_contact(person: Person, day: dt.date, due_at: dt.datetime, plan: AccountPlan) -> Planned:
    content = {
        **_content(person, day, plan),
        "lastContact": person.last_contact.isoformat() if person.last_contact else None,
        "interval": person.contact_reminder_interval or 1,
        "intervalUnit": person.contact_reminder_interval_unit or "MONTHS",
    }
    return Planned(NoticeKind.CONTACT, person.pk, day, due_at, content, person.pk)


def _content(person: Person, day: dt.date, plan: AccountPlan) -> dict[str, Any]:
    return {"personId": str(person.pk), "personName": name_of(person, plan.owner), "date": day.isoformat()}
