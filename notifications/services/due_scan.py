"""The due scan: each source whose reminder is due gets its deliveries and moves on to its next reminder.

Both happen in one transaction under the account's lock, which is what makes it safe to run the scan anywhere, at any
time and twice. If the process dies before the commit, the source is still due and the next scan finds it. If it dies
after the commit, the deliveries are due and in no queue, and the next scan enqueues them.
"""

import datetime as dt
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeVar
from uuid import UUID

from django.db.models import Q, QuerySet

from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.account_lock import account_locks
from contacts_project.kernel.ownership.models import OwnedModel, TrashQuerySet
from notifications.ledger import (
    DueNotice,
    DueNotices,
    StateCounts,
    catch_up_window,
    is_missed,
    load_targets,
    write_deliveries,
)
from notifications.models import ReminderAnswer
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.dates.recurrence import Reminder, full_years
from people.mentions import Silence, Topic
from people.models import ImportantDate, Person
from people.vocabularies import ReminderKind

log = logging.getLogger(__name__)

_ROWS_PER_ROUND = 1000
# An upper bound for one scan: the rest is enqueued by the next.
ACCOUNTS_PER_BATCH, _MAX_ACCOUNTS = 25, 50_000
NOTICE_KINDS = {ReminderKind.DAY: NoticeKind.IMPORTANT_DATE, ReminderKind.LEAD: NoticeKind.IMPORTANT_DATE_LEAD}


@dataclass
class DueRows:
    """Ids of the rows of one account that are due."""

    dates: list[UUID] = field(default_factory=list)
    people: list[UUID] = field(default_factory=list)
    snoozed: list[UUID] = field(default_factory=list)


def scan_due(*, now: dt.datetime, owner_ids: Collection[UUID] | None = None) -> StateCounts:
    """Write the deliveries of everything that is due (of these accounts).

    An account whose scan fails is logged and left to the next run, so that it does not hold up the others.
    """
    written, broken = StateCounts(), set[UUID]()
    # The loop ends: each round moves the rows that it finds on, or adds their account to `broken`.
    while due := find_due(now, broken, owner_ids):
        owners = list(due)
        for start in range(0, len(owners), ACCOUNTS_PER_BATCH):
            batch = {owner_id: due[owner_id] for owner_id in owners[start : start + ACCOUNTS_PER_BATCH]}
            written += _scan_batch(batch, now, broken)
    return written


def _scan_batch(due: Mapping[UUID, DueRows], now: dt.datetime, broken: set[UUID]) -> StateCounts:
    """Scan some accounts in one transaction. If that fails, scan them one by one, to find the account that fails."""
    try:
        return scan_accounts(due=due, now=now)
    except Exception:
        if len(due) > 1:
            each = (_scan_batch({owner_id: rows}, now, broken) for owner_id, rows in due.items())
            return sum(each, StateCounts())
        (owner_id,) = due
        # Left out for the rest of this run: the account is still due, and the loop would find it again at once.
        log.exception("the reminders of an account could not be planned", extra={"owner": str(owner_id)})
        broken.add(owner_id)
        return StateCounts()


def enqueue_due_accounts(*, now: dt.datetime, enqueue: Callable[..., object]) -> bool:
    """If more accounts are due than one batch holds, enqueue their ids in batches for `scan_due`; returns whether.

    Marks nothing: the accounts of a task that is lost are still due, and the next scan enqueues them again.
    """
    columns = ((ImportantDate, "next_due_at"), (Person, "contact_due_at"), (ReminderAnswer, "due_at"))
    owners = {owner_id for model, column in columns for owner_id in _due_owner_ids(model, column, now)}
    if len(owners) <= ACCOUNTS_PER_BATCH:
        return False
    ids = [str(owner_id) for owner_id in owners]
    for start in range(0, len(ids), ACCOUNTS_PER_BATCH):
        enqueue(*ids[start : start + ACCOUNTS_PER_BATCH])
    return True


def _due_owner_ids(
    model: type[Person] | type[ImportantDate] | type[ReminderAnswer], column: str, now: dt.datetime
) -> Iterable[UUID]:
    rows = model.unscoped.filter(**{f"{column}__lte": now}).order_by()
    owners: Iterable[UUID] = rows.values_list("owner_id", flat=True).distinct()[:_MAX_ACCOUNTS]
    return owners


def find_due(
    now: dt.datetime, excluded: Collection[UUID] = (), owner_ids: Collection[UUID] | None = None
) -> dict[UUID, DueRows]:
    """The rows that are due, by account, at most _ROWS_PER_ROUND of each kind. Range scans over the due indexes."""
    found: dict[UUID, DueRows] = defaultdict(DueRows)
    condition = Q() if owner_ids is None else Q(owner_id__in=owner_ids)
    dates = ImportantDate.unscoped.filter(condition, next_due_at__lte=now).exclude(owner_id__in=excluded)
    for owner_id, pk in dates.order_by("next_due_at").values_list("owner_id", "pk")[:_ROWS_PER_ROUND]:
        found[owner_id].dates.append(pk)
    people = Person.unscoped.filter(condition, contact_due_at__lte=now).exclude(owner_id__in=excluded)
    for owner_id, pk in people.order_by("contact_due_at").values_list("owner_id", "pk")[:_ROWS_PER_ROUND]:
        found[owner_id].people.append(pk)
    snoozed = ReminderAnswer.unscoped.filter(condition, due_at__lte=now).exclude(owner_id__in=excluded)
    for owner_id, pk in snoozed.order_by("due_at").values_list("owner_id", "pk")[:_ROWS_PER_ROUND]:
        found[owner_id].snoozed.append(pk)
    return found


def scan_accounts(*, due: Mapping[UUID, DueRows], now: dt.datetime) -> StateCounts:
    """Write the deliveries of these rows, in one transaction under the locks of their accounts.

    Each step below only prepares the commit: if the process dies in any of them, the rows are due as before.
    """
    with account_locks(due) as owners:
        targets = load_targets(owners)
        notices_by_owner = {owner.pk: DueNotices(owner, now, targets) for owner in owners}
        _scan_dates(notices_by_owner, [pk for rows in due.values() for pk in rows.dates], now)
        _scan_contacts(notices_by_owner, [pk for rows in due.values() for pk in rows.people], now)
        _scan_snoozed(notices_by_owner, [pk for rows in due.values() for pk in rows.snoozed], now)
        return write_deliveries(list(notices_by_owner.values()))


def _scan_dates(notices_by_owner: Mapping[UUID, DueNotices], ids: list[UUID], now: dt.datetime) -> None:
    # Filtered by `next_due_at` again, now under the lock: another scan may have moved the row on since it was found.
    rows = with_person(
        ImportantDate.unscoped.rows().filter(owner_id__in=notices_by_owner, pk__in=ids, next_due_at__lte=now)
    )
    by_owner = _group_by_owner(rows) if ids else {}
    for owner_id, found in by_owner.items():
        collect_dates(notices_by_owner[owner_id], found)
    # Not a change that clients see: the account's revision and the change feed stay as they are.
    ImportantDate.unscoped.bulk_update(chain.from_iterable(by_owner.values()), schedule.DATE_COLUMNS)


def _scan_contacts(notices_by_owner: Mapping[UUID, DueNotices], ids: list[UUID], now: dt.datetime) -> None:
    rows = Person.unscoped.filter(owner_id__in=notices_by_owner, pk__in=ids, contact_due_at__lte=now).defer(
        *Person.HEAVY_COLUMNS
    )
    by_owner = _group_by_owner(rows) if ids else {}
    for owner_id, found in by_owner.items():
        collect_contacts(notices_by_owner[owner_id], found)
    Person.unscoped.bulk_update(chain.from_iterable(by_owner.values()), schedule.CONTACT_COLUMNS)


def _scan_snoozed(notices_by_owner: Mapping[UUID, DueNotices], ids: list[UUID], now: dt.datetime) -> None:
    if not ids:
        return
    rows = with_source(
        ReminderAnswer.unscoped.rows().filter(owner_id__in=notices_by_owner, pk__in=ids, due_at__lte=now)
    )
    for owner_id, found in _group_by_owner(rows).items():
        collect_snoozed(notices_by_owner[owner_id], found)
    # The answer has done its work: the deliveries of its round, inserted in this transaction, replace it.
    ReminderAnswer.unscoped.filter(owner_id__in=notices_by_owner, pk__in=ids, due_at__lte=now).delete()


Row = TypeVar("Row", bound=OwnedModel)


def _group_by_owner(rows: Iterable[Row]) -> dict[UUID, list[Row]]:
    found: dict[UUID, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.owner_id].append(row)
    return found


def with_person(dates: TrashQuerySet[ImportantDate]) -> TrashQuerySet[ImportantDate]:
    """Join the people of the dates, with the columns that a notice needs."""
    return dates.select_related("person").defer(*(f"person__{column}" for column in Person.HEAVY_COLUMNS))


def with_source(answers: QuerySet[ReminderAnswer]) -> QuerySet[ReminderAnswer]:
    """Join the dates and people of the answers, with the columns that a notice needs."""
    deferred = [
        f"{path}{column}" for path in ("person__", "important_date__person__") for column in Person.HEAVY_COLUMNS
    ]
    return answers.select_related("person", "important_date__person").defer(*deferred)


def collect_dates(notices: DueNotices, rows: Iterable[ImportantDate]) -> None:
    """Collect the due reminders of the dates and set each date to its next reminder. Saves nothing."""
    for row in rows:
        is_active = row.deleted_at is None and row.person.deleted_at is None and notices.owner.is_active
        for reminder, due_at in date_reminders(row, notices.calendar, now=notices.now, until=notices.now):
            # The reminders of others move on unsent.
            if is_active and not row.silence():
                notices.add(_date_notice(row, reminder, due_at, notices))


def collect_contacts(notices: DueNotices, people: Iterable[Person]) -> None:
    """Collect the due contact reminders of the people and set each person to the next one. Saves nothing."""
    for person in people:
        is_active = person.deleted_at is None and notices.owner.is_active
        for day, due_at in contact_reminders(person, notices.calendar, now=notices.now, until=notices.now):
            if is_active and not person.silence(Topic.CONTACT):
                notices.add(_contact_notice(person, day, due_at, notices))


def date_reminders(
    row: ImportantDate, calendar: schedule.Calendar, *, now: dt.datetime, until: dt.datetime
) -> Iterator[tuple[Reminder, dt.datetime]]:
    """The reminders of a date that a scan at `now`, and the scans after it, find due by `until`, and when each is due.

    After an outage several may be due at once. The row is set to each in turn, and at the end to the first one after
    `until`. Saves nothing.
    """
    while row.next_due_at is not None and row.next_due_at <= until:
        due_at = row.next_due_at
        if reminder := schedule.pending_reminder(row):
            yield reminder, due_at
        schedule.advance_date(row, calendar, _resume_day(due_at, calendar, now))


def contact_reminders(
    person: Person, calendar: schedule.Calendar, *, now: dt.datetime, until: dt.datetime
) -> Iterator[tuple[dt.date, dt.datetime]]:
    """As `date_reminders`: the days of a person's contact reminders, and when each is due."""
    while person.contact_due_at is not None and person.contact_due_at <= until:
        due_at = person.contact_due_at
        if day := person.contact_due_on:
            yield day, due_at
        schedule.advance_contact(person, calendar, _resume_day(due_at, calendar, now))


def collect_snoozed(notices: DueNotices, answers: Iterable[ReminderAnswer]) -> None:
    """Collect the snoozed reminders that still have something to remind of. Saves nothing."""
    for answer in answers:
        source = source_of_answer(answer, notices.calendar)
        # On the day itself its own reminder is sent anyway.
        if source and notices.owner.is_active and not silence_of(source) and not answer.is_snoozed_to_the_day:
            notices.add(replace(_snoozed_notice(answer, source, notices), round=answer.round))


def source_of_answer(answer: ReminderAnswer, calendar: schedule.Calendar) -> ImportantDate | Person | None:
    """What the answered reminder is about, while it is active and has a reminder on that day, sent already or not.

    It has none any more when they were in touch since then, or the reminder was changed or switched off.
    """
    row, person, day = answer.important_date, answer.person, answer.occurrence_on
    if row:
        is_active = row.deleted_at is None and row.person.deleted_at is None
        return row if is_active and schedule.is_occurrence(row, day, calendar) else None
    if person and person.deleted_at is None and schedule.is_contact_occurrence(person, day, calendar):
        return person
    return None


def silence_of(source: ImportantDate | Person) -> Silence | None:
    """Why nobody is reminded of the date, or to contact the person; None if somebody is."""
    return source.silence(Topic.CONTACT) if isinstance(source, Person) else source.silence()


def _snoozed_notice(answer: ReminderAnswer, source: ImportantDate | Person, notices: DueNotices) -> DueNotice:
    day, due_at = answer.occurrence_on, answer.due_at or notices.now
    if isinstance(source, Person):
        return _contact_notice(source, day, due_at, notices)
    reminder = Reminder(day, ReminderKind.DAY, day)
    if answer.resend_kind is NoticeKind.IMPORTANT_DATE_LEAD:
        reminder = Reminder(day, ReminderKind.LEAD, day - dt.timedelta(answer.lead_days))
    return _date_notice(source, reminder, due_at, notices)


def _resume_day(due_at: dt.datetime, calendar: schedule.Calendar, now: dt.datetime) -> dt.date:
    """The first day whose reminders come next. Those before the catch-up window are passed over."""
    return calendar.today(now - catch_up_window() if is_missed(due_at, now) else due_at)


def _date_notice(row: ImportantDate, reminder: Reminder, due_at: dt.datetime, notices: DueNotices) -> DueNotice:
    day = reminder.occurrence
    content = {
        **_person_content(row.person, day, notices),
        "importantDateId": str(row.pk),
        "type": row.type,
        "title": row.title,
        "yearUnknown": row.year_unknown,
        "turns": None if row.year_unknown else full_years(row.date, day, notices.calendar.leap_day),
    }
    return DueNotice(
        *(NOTICE_KINDS[reminder.kind], row.pk, day, due_at, content, row.person_id),
        lead_days=reminder.lead_days,
        is_catch_up=notices.calendar.today(due_at) > reminder.day and reminder.kind is ReminderKind.LEAD,
    )


def _contact_notice(person: Person, day: dt.date, due_at: dt.datetime, notices: DueNotices) -> DueNotice:
    content = {
        **_person_content(person, day, notices),
        "lastContact": person.last_contact.isoformat() if person.last_contact else None,
        "interval": person.contact_reminder_interval or 1,
        "intervalUnit": person.contact_reminder_interval_unit or "MONTHS",
    }
    return DueNotice(NoticeKind.CONTACT, person.pk, day, due_at, content, person.pk)


def _person_content(person: Person, day: dt.date, notices: DueNotices) -> JsonObject:
    return {"personId": str(person.pk), "personName": person.display_name_for(notices.owner), "date": day.isoformat()}
