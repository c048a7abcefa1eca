"""The due scan: rows whose next reminder is due become deliveries, and move on to their next, in one transaction."""

import datetime as dt
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import Q

from contacts_project.kernel.ownership.account_lock import account_locks
from contacts_project.kernel.ownership.columns import update_columns
from contacts_project.kernel.ownership.models import TrashQuerySet
from notifications.ledger import AccountPlan, Planned, catch_up_window, is_missed, read_targets, write_plans
from notifications.models import ReminderAnswer
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.dates.recurrence import Reminder, turns
from people.dates.upcoming import name_of
from people.models import ImportantDate, Person
from people.vocabularies import ReminderKind

log = logging.getLogger(__name__)

_ROWS = 1000
# Accounts that one worker plans in a go, and how many of them one scan hands out at most.
PORTION, _OWNERS = 25, 50_000
_KINDS = {ReminderKind.DAY: NoticeKind.IMPORTANT_DATE, ReminderKind.LEAD: NoticeKind.IMPORTANT_DATE_LEAD}
UNREAD = ("notes", *Person.DOCUMENTS)


@dataclass
class Due:
    """Rows of one account whose instant has come."""

    dates: list[UUID] = field(default_factory=list)
    people: list[UUID] = field(default_factory=list)
    snoozed: list[UUID] = field(default_factory=list)


def plan_due(*, now: dt.datetime, owner_ids: Collection[UUID] | None = None) -> int:
    """Make the deliveries of everything that is due (of these accounts); returns how many.

    Safe to run anywhere, at any time, twice. An account that cannot be planned is logged and left to the next run: it
    holds up nobody else.
    """
    made, broken = 0, set[UUID]()
    # Each round moves on what it has found or leaves its account out, so the loop ends.
    while due := find_due(now, broken, owner_ids):
        owners = list(due)
        for at in range(0, len(owners), PORTION):
            made += _plan_portion({owner_id: due[owner_id] for owner_id in owners[at : at + PORTION]}, now, broken)
    return made


def _plan_portion(due: Mapping[UUID, Due], now: dt.datetime, broken: set[UUID]) -> int:
    """Plan some accounts together; where that fails one by one, to find whose fault it is."""
    try:
        return plan_accounts(due=due, now=now)
    except Exception:
        if len(due) > 1:
            return sum(_plan_portion({owner_id: rows}, now, broken) for owner_id, rows in due.items())
        (owner_id,) = due
        log.exception("the reminders of an account could not be planned", extra={"owner": str(owner_id)})
        broken.add(owner_id)
        return 0


def share_due(*, now: dt.datetime, enqueue: Callable[..., object]) -> bool:
    """Where many accounts are due, give `enqueue` their ids in portions, for plan_due to run on; whether it did.

    What a queue loses is due as before, for the next scan.
    """
    columns = ((ImportantDate, "next_due_at"), (Person, "contact_due_at"), (ReminderAnswer, "due_at"))
    owners = {owner_id for model, column in columns for owner_id in _owners_due(model, column, now)}
    if len(owners) <= PORTION:
        return False
    ids = [str(owner_id) for owner_id in owners]
    for at in range(0, len(ids), PORTION):
        enqueue(*ids[at : at + PORTION])
    return True


def _owners_due(model: type[Any], column: str, now: dt.datetime) -> Iterable[UUID]:
    rows = model.unscoped.filter(**{f"{column}__lte": now}).order_by()
    owners: Iterable[UUID] = rows.values_list("owner_id", flat=True).distinct()[:_OWNERS]
    return owners


def find_due(
    now: dt.datetime, leaving_out: Collection[UUID] = (), owner_ids: Collection[UUID] | None = None
) -> dict[UUID, Due]:
    """What is due, by account, up to some hundred rows: range scans over the indexes of due instants."""
    found: dict[UUID, Due] = defaultdict(Due)
    wanted = Q() if owner_ids is None else Q(owner_id__in=owner_ids)
    dates = ImportantDate.unscoped.filter(wanted, next_due_at__lte=now).exclude(owner_id__in=leaving_out)
    for owner_id, pk in dates.order_by("next_due_at").values_list("owner_id", "pk")[:_ROWS]:
        found[owner_id].dates.append(pk)
    people = Person.unscoped.filter(wanted, contact_due_at__lte=now).exclude(owner_id__in=leaving_out)
    for owner_id, pk in people.order_by("contact_due_at").values_list("owner_id", "pk")[:_ROWS]:
        found[owner_id].people.append(pk)
    snoozed = ReminderAnswer.unscoped.filter(wanted, due_at__lte=now).exclude(owner_id__in=leaving_out)
    for owner_id, pk in snoozed.order_by("due_at").values_list("owner_id", "pk")[:_ROWS]:
        found[owner_id].snoozed.append(pk)
    return found


def plan_accounts(*, due: Mapping[UUID, Due], now: dt.datetime) -> int:
    """Make the deliveries of these accounts' rows, looking under their locks whether they are still due."""
    with account_locks(due) as owners:
        targets = read_targets(owners)
        plans = {owner.pk: AccountPlan(owner, now, targets) for owner in owners}
        _plan_dates(plans, [pk for rows in due.values() for pk in rows.dates], now)
        _plan_contacts(plans, [pk for rows in due.values() for pk in rows.people], now)
        _plan_snoozed(plans, [pk for rows in due.values() for pk in rows.snoozed], now)
        return write_plans(list(plans.values()))


def _plan_dates(plans: Mapping[UUID, AccountPlan], ids: list[UUID], now: dt.datetime) -> None:
    # Due is asked again under the lock: another scan may have been here since.
    rows = with_person(ImportantDate.unscoped.rows().filter(owner_id__in=plans, pk__in=ids, next_due_at__lte=now))
    by_owner = _by_owner(rows) if ids else {}
    for owner_id, found in by_owner.items():
        collect_dates(plans[owner_id], found)
    update_columns(ImportantDate, chain.from_iterable(by_owner.values()), schedule.DATE_COLUMNS)


def _plan_contacts(plans: Mapping[UUID, AccountPlan], ids: list[UUID], now: dt.datetime) -> None:
    rows = Person.unscoped.filter(owner_id__in=plans, pk__in=ids, contact_due_at__lte=now).defer(*UNREAD)
    by_owner = _by_owner(rows) if ids else {}
    for owner_id, found in by_owner.items():
        collect_contacts(plans[owner_id], found)
    update_columns(Person, chain.from_iterable(by_owner.values()), schedule.CONTACT_COLUMNS)


def _plan_snoozed(plans: Mapping[UUID, AccountPlan], ids: list[UUID], now: dt.datetime) -> None:
    if not ids:
        return
    rows = with_source(ReminderAnswer.unscoped.rows().filter(owner_id__in=plans, pk__in=ids, due_at__lte=now))
    for owner_id, found in _by_owner(rows).items():
        collect_snoozed(plans[owner_id], found)
    # From here on the ledger is what says that it was sent again.
    ReminderAnswer.unscoped.filter(owner_id__in=plans, pk__in=ids, due_at__lte=now).delete()


def _by_owner(rows: Iterable[Any]) -> dict[UUID, list[Any]]:
    found: dict[UUID, list[Any]] = defaultdict(list)
    for row in rows:
        found[row.owner_id].append(row)
    return found


def with_person(dates: TrashQuerySet[ImportantDate]) -> TrashQuerySet[ImportantDate]:
    """The dates, with as much of their people as a notice needs."""
    return dates.select_related("person").defer(*(f"person__{column}" for column in UNREAD))


def with_source(answers: Any) -> Any:
    """The answers, with as much of their dates and people as a notice needs."""
    unread = [f"{path}{column}" for path in ("person__", "important_date__person__") for column in UNREAD]
    return answers.select_related("person", "important_date__person").defer(*unread)


def collect_dates(plan: AccountPlan, rows: Iterable[ImportantDate]) -> None:
    """Plan what is due of the rows and set each to what comes next. Saves nothing."""
    for row in rows:
        # After a long silence several reminders of a row are due: each is planned, as late or as missed.
        while row.next_due_at is not None and row.next_due_at <= plan.now:
            reminder = schedule.pending_reminder(row)
            is_wanted = row.deleted_at is None and not schedule.is_birthday_of_dead(row.type, row.person.deathday)
            if reminder and is_wanted and row.person.deleted_at is None and plan.owner.is_active:
                plan.add(_planned_date(row, reminder, row.next_due_at, plan))
            schedule.advance_date(row, plan.calendar, _since(row.next_due_at, plan))


def collect_contacts(plan: AccountPlan, people: Iterable[Person]) -> None:
    """The same for people to get in touch with."""
    for person in people:
        while person.contact_due_at is not None and person.contact_due_at <= plan.now:
            if person.contact_due_on and person.deleted_at is None and plan.owner.is_active:
                plan.add(_planned_contact(person, person.contact_due_on, person.contact_due_at, plan))
            schedule.advance_contact(person, plan.calendar, _since(person.contact_due_at, plan))


def collect_snoozed(plan: AccountPlan, answers: Iterable[ReminderAnswer]) -> None:
    """Plan what is to be sent again, where there is still something to remind of. Saves nothing."""
    for answer in answers:
        planned = _planned_contact_again(answer, plan) if answer.person else _planned_date_again(answer, plan)
        if planned and plan.owner.is_active:
            plan.add(replace(planned, round=answer.round))


def _planned_contact_again(answer: ReminderAnswer, plan: AccountPlan) -> Planned | None:
    person = answer.person
    if person is None or person.deleted_at is not None or not person.contact_reminder_enabled:
        return None
    return _planned_contact(person, answer.occurrence_on, answer.due_at or plan.now, plan)


def _planned_date_again(answer: ReminderAnswer, plan: AccountPlan) -> Planned | None:
    row, day = answer.important_date, answer.occurrence_on
    if row is None or row.deleted_at is not None or row.person.deleted_at is not None:
        return None
    if schedule.is_birthday_of_dead(row.type, row.person.deathday):
        return None
    if answer.waits_for_the_day or not schedule.is_occurrence(row, day, plan.calendar):
        return None
    reminder = Reminder(day, ReminderKind.DAY, day)
    if answer.comes_as is NoticeKind.IMPORTANT_DATE_LEAD:
        reminder = Reminder(day, ReminderKind.LEAD, day - dt.timedelta(answer.lead_days))
    return _planned_date(row, reminder, answer.due_at or plan.now, plan)


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
    return Planned(
        *(_KINDS[reminder.kind], row.pk, day, due_at, content, row.person_id),
        lead_days=reminder.lead_days,
        is_made_up=plan.calendar.today(due_at) > reminder.day and reminder.kind is ReminderKind.LEAD,
    )


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
