"""What will be sent, when, over which channel, and if not, why (GET /api/reminders/upcoming)."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.api.json import format_timestamp
from notifications.ledger import NO_CHANNEL, SKIPPED, SNOOZED, targets_of
from notifications.models import AnswerState, Delivery, DeliveryState, DigestSchedule, ReminderAnswer
from notifications.notices.notice import NoticeKind
from notifications.services.digests import DAYS
from notifications.services.planner import with_source
from notifications.services.relevance import DECEASED, read_facts, why_irrelevant
from people.dates import schedule
from people.dates.recurrence import Reminder, ReminderRule, turns
from people.dates.upcoming import (
    AT_INTERVALS,
    READ_OF_CONTACTS,
    READ_OF_DATES,
    active_dates,
    days_between,
    event_rule,
    important_events,
    name_of,
    waiting_contacts,
)
from people.models import ImportantDate, Person
from people.vocabularies import ReminderKind

REMINDER_OFF, NOTICE_TOO_EARLY, NO_EVENTS = "reminder_off", "lead_not_after_previous", "no_events"
_KINDS = {ReminderKind.DAY: NoticeKind.IMPORTANT_DATE, ReminderKind.LEAD: NoticeKind.IMPORTANT_DATE_LEAD}
_OF_DOCUMENTS = tuple(f"person__{column}" for column in Person.DOCUMENTS)


@dataclass(frozen=True)
class Forecast:
    """One account's outlook from `now` to the end of the day `until`."""

    owner: User
    calendar: schedule.Calendar
    now: dt.datetime
    until: dt.date
    destinations: dict[NoticeKind, list[dict[str, Any]]]
    answers: dict[tuple[UUID, dt.date], ReminderAnswer]

    @property
    def today(self) -> dt.date:
        return self.calendar.today(self.now)

    def is_snoozed(self, source_id: UUID, day: dt.date, kind: NoticeKind, lead_days: int = 0) -> bool:
        """Whether this reminder of the occurrence was put off: then it has a line of its own."""
        answer = self.answers.get((source_id, day))
        return answer is not None and answer.due_at is not None and answer.is_to(kind, lead_days)

    def why_skipped(self, source_id: UUID, day: dt.date) -> str | None:
        answer = self.answers.get((source_id, day))
        return SKIPPED if answer and answer.state == AnswerState.SKIPPED else None

    def why_then(self, source_id: UUID, day: dt.date, kind: NoticeKind) -> str | None:
        """Whether it is the reminder of the day that a notice in advance was put off to."""
        answer = self.answers.get((source_id, day))
        waits = answer is not None and answer.waits_for_the_day and kind is NoticeKind.IMPORTANT_DATE
        return SNOOZED if waits else None

    def entry(
        self,
        kind: NoticeKind,
        day: dt.date | None,
        send_at: dt.datetime | None,
        why_not: str | None,
        *,
        why_then: str | None = None,
        **facts: Any,
    ) -> dict[str, Any]:
        """One line of the answer; nothing is sent where there is a reason against it or no destination is on.

        `why_then`: the reason for the time at which it is sent.
        """
        destinations = self.destinations[kind]
        if why_not is None and not any(line["willSend"] for line in destinations):
            why_not = NO_CHANNEL
        return {
            "kind": kind.value,
            "date": day.isoformat() if day else None,
            "sendAt": format_timestamp(self.calendar.sends_at(send_at)) if send_at and why_not is None else None,
            "willSend": why_not is None,
            "reason": why_not or why_then,
            "destinations": destinations if why_not in {None, NO_CHANNEL} else [],
            "importantDateId": None,
            "personId": None,
            "personName": None,
            "type": None,
            "title": None,
            **facts,
        }


def upcoming_reminders(owner: User, *, now: dt.datetime, days: int) -> list[dict[str, Any]]:
    """Everything that is due in the coming days, in that order; what is not sent comes on its day."""
    calendar = schedule.load_calendar(owner)
    destinations = {kind: _destinations(owner, kind) for kind in NoticeKind}
    answers = {answer.key: answer for answer in with_source(ReminderAnswer.objects.owned_by(owner))}
    forecast = Forecast(owner, calendar, now, calendar.today(now) + dt.timedelta(days), destinations, answers)
    entries = [*_waiting(forecast), *_dates(forecast), *_contacts(forecast), *_digest(forecast)]
    entries += _answered(forecast, entries)
    return sorted(
        entries, key=lambda entry: (entry["sendAt"] or entry["date"], entry["personName"] or "", entry["kind"])
    )


def _destinations(owner: User, kind: NoticeKind) -> list[dict[str, Any]]:
    return [
        {
            "channel": target.channel,
            "id": target.key,
            "label": target.label,
            "willSend": target.off is None,
            "reason": target.off,
        }
        for target in targets_of(owner, kind)
    ]


def _waiting(forecast: Forecast) -> Iterator[dict[str, Any]]:
    """What is planned already, waits for the end of the quiet hours, and is wanted."""
    waiting = Delivery.objects.owned_by(forecast.owner).filter(state=DeliveryState.PENDING, attempts=0)
    waiting = waiting.filter(next_try_at__gt=forecast.now).select_related("owner", "person")
    rows = list(waiting.defer("person__notes", *_OF_DOCUMENTS).order_by("next_try_at", "id"))
    facts_now = read_facts(rows)
    shown = ("importantDateId", "personId", "personName", "type", "title", "turns")
    seen = set()
    for row in rows:
        if row.once not in seen and not why_irrelevant(row, facts_now):
            seen.add(row.once)
            facts = {key: row.content[key] for key in shown if key in row.content}
            yield forecast.entry(NoticeKind(row.kind), row.occurrence_on, row.next_try_at, None, **facts)


def _may_be_told(forecast: Forecast) -> list[ImportantDate]:
    """All dates that have a line of their own, and few others, in the order of their ids."""
    dates = active_dates(forecast.owner).select_related("person").only(*READ_OF_DATES)
    on_a_day = Q(month_day__in=days_between(forecast.today, forecast.until))
    # Notices of a day after that, and what is overdue. No zone's day ends later than 24 hours after UTC's.
    end = dt.datetime.combine(forecast.until + dt.timedelta(2), dt.time(), dt.UTC)
    is_waiting = Q(reminder_enabled=True, next_due_at__lt=end)
    found = chain(dates.filter(on_a_day), dates.filter(is_waiting | AT_INTERVALS).exclude(on_a_day))
    return sorted(found, key=attrgetter("pk"))


def _dates(forecast: Forecast) -> Iterator[dict[str, Any]]:
    for row in _may_be_told(forecast):
        rule, facts = schedule.date_rule(row, forecast.calendar), _facts(row, forecast)
        why_not = DECEASED if schedule.is_birthday_of_dead(row.type, row.person.deathday) else REMINDER_OFF
        if rule is None or why_not == DECEASED:
            for day in event_rule(row, forecast.calendar).between(forecast.today, forecast.until):
                yield forecast.entry(NoticeKind.IMPORTANT_DATE, day, None, why_not, **facts)
            continue
        for reminder, send_at in _chain(row, rule, forecast):
            kind, day = _KINDS[reminder.kind], reminder.occurrence
            if not forecast.is_snoozed(row.pk, day, kind, reminder.lead_days):
                why_then, age = forecast.why_then(row.pk, day, kind), _age(row, day, forecast)
                skipped = forecast.why_skipped(row.pk, day)
                yield forecast.entry(kind, day, send_at, skipped, why_then=why_then, **facts, turns=age)
        yield from _notices_left_out(row, rule, forecast, facts)


def _chain(row: ImportantDate, rule: ReminderRule, forecast: Forecast) -> Iterator[tuple[Reminder, dt.datetime]]:
    """What the row waits for, and what follows it."""
    reminder, send_at = schedule.pending_reminder(row), row.next_due_at
    while reminder is not None and send_at is not None and forecast.calendar.today(send_at) <= forecast.until:
        yield reminder, send_at
        reminder = rule.following(reminder)
        send_at = forecast.calendar.reminder_time(reminder.day) if reminder else None


def _notices_left_out(
    row: ImportantDate, rule: ReminderRule, forecast: Forecast, facts: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Advance notices that the account or the date asks for, and that would not lie after the previous occurrence."""
    wanted = [lead for lead in rule.leads if lead]
    for day in rule.recurrence.between(forecast.today + dt.timedelta(1), forecast.until) if wanted else ():
        if len(rule.notice_days(day)) < len(wanted):
            yield forecast.entry(NoticeKind.IMPORTANT_DATE_LEAD, day, None, NOTICE_TOO_EARLY, **facts)


def _age(row: ImportantDate, day: dt.date, forecast: Forecast) -> int | None:
    return None if row.year_unknown else turns(row.date, day, forecast.calendar.leap_day)


def _whom(person: Person, forecast: Forecast) -> dict[str, Any]:
    return {"personId": str(person.pk), "personName": name_of(person, forecast.owner)}


def _facts(row: ImportantDate, forecast: Forecast) -> dict[str, Any]:
    return {
        "importantDateId": str(row.pk),
        **_whom(row.person, forecast),
        "type": row.type,
        "title": row.title,
    }


def _contacts_until(forecast: Forecast) -> list[Person]:
    """Everybody whose reminder is due by then, and few others, in the order of their ids."""
    people = Person.objects.owned_by(forecast.owner).active().filter(contact_reminder_enabled=True)
    # What was due when the account moved to another zone may lie two days before its day there.
    due = people.filter(contact_due_on__lte=forecast.until + dt.timedelta(2))
    return sorted(due.only(*READ_OF_CONTACTS), key=attrgetter("pk"))


def _contacts(forecast: Forecast) -> Iterator[dict[str, Any]]:
    for person in _contacts_until(forecast):
        rule, day, send_at = (
            schedule.contact_rule(person, forecast.calendar),
            person.contact_due_on,
            person.contact_due_at,
        )
        facts = _whom(person, forecast)
        while rule and day and send_at and forecast.calendar.today(send_at) <= forecast.until:
            if not forecast.is_snoozed(person.pk, day, NoticeKind.CONTACT):
                why_not = forecast.why_skipped(person.pk, day)
                yield forecast.entry(NoticeKind.CONTACT, day, send_at, why_not, **facts)
            day = rule.after(day)
            send_at = forecast.calendar.reminder_time(day) if day else None


def _answered(forecast: Forecast, entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What comes again, and what was left out after its reminders, so that no row waits for it any more."""
    shown = {(entry["importantDateId"] or entry["personId"], entry["date"]) for entry in entries if entry["reason"]}
    for answer in forecast.answers.values():
        day, row, person = answer.occurrence_on, answer.important_date, answer.person
        if row and not (
            row.deleted_at or row.person.deleted_at or schedule.is_birthday_of_dead(row.type, row.person.deathday)
        ):
            facts = {**_facts(row, forecast), "turns": _age(row, day, forecast)}
        elif person and not person.deleted_at:
            facts = _whom(person, forecast)
        else:
            continue
        is_near = answer.due_at is not None and forecast.calendar.today(answer.due_at) <= forecast.until
        if is_near and not answer.waits_for_the_day:
            yield forecast.entry(answer.comes_as, day, answer.due_at, None, why_then=SNOOZED, **facts)
        is_ahead = answer.due_at is None and forecast.today <= day <= forecast.until
        if is_ahead and (str(answer.source_id), day.isoformat()) not in shown:
            yield forecast.entry(NoticeKind(answer.kind), day, None, SKIPPED, **facts)


def _digest(forecast: Forecast) -> Iterator[dict[str, Any]]:
    row = DigestSchedule.objects.filter(owner=forecast.owner).first()
    day, send_at = (row.next_on, row.next_due_at) if row else (None, None)
    starts: dict[dt.date, tuple[dt.date, dt.datetime]] = {}
    while day and send_at and day <= forecast.until:
        starts[forecast.calendar.today(forecast.calendar.sends_at(send_at))] = day, send_at
        day += dt.timedelta(7)
        send_at = forecast.calendar.reminder_time(day)
    full = _with_events(forecast, list(starts))
    for start, (day, send_at) in starts.items():
        yield forecast.entry(NoticeKind.DIGEST, day, send_at, None if start in full else NO_EVENTS)


def _with_events(forecast: Forecast, starts: list[dt.date]) -> set[dt.date]:
    """Of the days of digests those whose digest tells of something, as `events_of` says; read once for a whole year."""
    if not starts:
        return set()
    owner, calendar, week = forecast.owner, forecast.calendar, dt.timedelta(DAYS)
    events = important_events(owner, calendar, starts[0], starts[-1] + week, with_dead=False)
    told = {(UUID(event["id"]), dt.date.fromisoformat(event["date"])) for event in events}
    days = {day for key, day in told if not forecast.why_skipped(key, day)}
    found = {start for start in starts if any(start + dt.timedelta(n) in days for n in range(DAYS + 1))}
    for person, rule in waiting_contacts(owner, calendar):
        for start in set(starts) - found:
            day = rule.on_or_after(start)
            if day and day <= start + week and not forecast.why_skipped(person.pk, day):
                found.add(start)
    return found
