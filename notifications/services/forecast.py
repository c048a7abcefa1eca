"""The forecast: what will be sent, when, over which channel, and if not, why (GET /api/reminders/upcoming).

It follows the same rules as the planner, without writing anything. tests/notifications/test_forecast_property.py
compares it with what the planner then does.
"""

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
from notifications.services.digests import DIGEST_DAYS
from notifications.services.planner import NOTICE_KINDS, with_source
from notifications.services.relevance import DECEASED, irrelevance_reason, load_facts
from people.dates import schedule
from people.dates.recurrence import Reminder, ReminderRule, full_years
from people.dates.upcoming import (
    AT_INTERVALS,
    READ_OF_CONTACTS,
    READ_OF_DATES,
    active_dates,
    days_between,
    event_rule,
    important_events,
    waiting_contacts,
)
from people.models import ImportantDate, Person

REMINDER_OFF, NOTICE_TOO_EARLY, NO_EVENTS = "reminder_off", "lead_not_after_previous", "no_events"


@dataclass(frozen=True)
class Forecast:
    """One account's forecast from `now` to the end of the day `until`."""

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
        """Whether this reminder was snoozed. It then has an entry of its own (`_answered_entries`)."""
        answer = self.answers.get((source_id, day))
        return answer is not None and answer.due_at is not None and answer.matches(kind, lead_days)

    def skip_reason(self, source_id: UUID, day: dt.date) -> str | None:
        answer = self.answers.get((source_id, day))
        return SKIPPED if answer and answer.state == AnswerState.SKIPPED else None

    def time_reason(self, source_id: UUID, day: dt.date, kind: NoticeKind) -> str | None:
        """SNOOZED for the reminder of the day to which an advance notice was snoozed."""
        answer = self.answers.get((source_id, day))
        waits = answer is not None and answer.is_snoozed_to_the_day and kind is NoticeKind.IMPORTANT_DATE
        return SNOOZED if waits else None

    def entry(
        self,
        kind: NoticeKind,
        day: dt.date | None,
        send_at: dt.datetime | None,
        skip_reason: str | None,
        *,
        time_reason: str | None = None,
        **facts: Any,
    ) -> dict[str, Any]:
        """One entry of the answer. It is not sent if there is a `skip_reason`, or no target is on.

        `time_reason`: why it is sent at this time.
        """
        destinations = self.destinations[kind]
        if skip_reason is None and not any(line["willSend"] for line in destinations):
            skip_reason = NO_CHANNEL
        return {
            "kind": kind.value,
            "date": day.isoformat() if day else None,
            "sendAt": format_timestamp(self.calendar.sends_at(send_at)) if send_at and skip_reason is None else None,
            "willSend": skip_reason is None,
            "reason": skip_reason or time_reason,
            "destinations": destinations if skip_reason in {None, NO_CHANNEL} else [],
            "importantDateId": None,
            "personId": None,
            "personName": None,
            "type": None,
            "title": None,
            **facts,
        }


def upcoming_reminders(owner: User, *, now: dt.datetime, days: int) -> list[dict[str, Any]]:
    """All entries of the coming days, in the order of sending. Entries that are not sent are sorted by their date."""
    calendar = schedule.load_calendar(owner)
    destinations = {kind: _destinations(owner, kind) for kind in NoticeKind}
    answers = {answer.key: answer for answer in with_source(ReminderAnswer.objects.owned_by(owner))}
    forecast = Forecast(owner, calendar, now, calendar.today(now) + dt.timedelta(days), destinations, answers)
    entries = [
        *_planned_entries(forecast),
        *_date_entries(forecast),
        *_contact_entries(forecast),
        *_digest_entries(forecast),
    ]
    entries += _answered_entries(forecast, entries)
    return sorted(
        entries, key=lambda entry: (entry["sendAt"] or entry["date"], entry["personName"] or "", entry["kind"])
    )


def _destinations(owner: User, kind: NoticeKind) -> list[dict[str, Any]]:
    return [
        {
            "channel": target.channel,
            "id": target.key,
            "label": target.label,
            "willSend": target.off_reason is None,
            "reason": target.off_reason,
        }
        for target in targets_of(owner, kind)
    ]


def _planned_entries(forecast: Forecast) -> Iterator[dict[str, Any]]:
    """Deliveries that are planned, wait for the end of the quiet hours, and are still relevant."""
    waiting = Delivery.objects.owned_by(forecast.owner).filter(state=DeliveryState.PENDING, attempts=0)
    waiting = waiting.filter(next_try_at__gt=forecast.now).with_owner_and_person()
    rows = list(waiting.order_by("next_try_at", "id"))
    current_facts = load_facts(rows)
    shown = ("importantDateId", "personId", "personName", "type", "title", "turns")
    seen = set()
    for row in rows:
        if row.notice_key not in seen and not irrelevance_reason(row, current_facts):
            seen.add(row.notice_key)
            facts = {key: row.content[key] for key in shown if key in row.content}
            yield forecast.entry(NoticeKind(row.kind), row.occurrence_on, row.next_try_at, None, **facts)


def _candidate_dates(forecast: Forecast) -> list[ImportantDate]:
    """A superset of the dates that have entries, not much larger than needed, in the order of their ids."""
    dates = active_dates(forecast.owner).select_related("person").only(*READ_OF_DATES)
    on_a_day = Q(month_day__in=days_between(forecast.today, forecast.until))
    # Advance notices of later occurrences, and overdue reminders. Two days, since no zone's day ends
    # more than 24 hours after that of UTC.
    end = dt.datetime.combine(forecast.until + dt.timedelta(2), dt.time(), dt.UTC)
    is_waiting = Q(reminder_enabled=True, next_due_at__lt=end)
    found = chain(dates.filter(on_a_day), dates.filter(is_waiting | AT_INTERVALS).exclude(on_a_day))
    return sorted(found, key=attrgetter("pk"))


def _date_entries(forecast: Forecast) -> Iterator[dict[str, Any]]:
    for row in _candidate_dates(forecast):
        rule, facts = schedule.date_rule(row, forecast.calendar), _date_facts(row, forecast)
        off_reason = DECEASED if schedule.is_birthday_of_deceased(row.type, row.person.deathday) else REMINDER_OFF
        if rule is None or off_reason == DECEASED:
            for day in event_rule(row, forecast.calendar).between(forecast.today, forecast.until):
                yield forecast.entry(NoticeKind.IMPORTANT_DATE, day, None, off_reason, **facts)
            continue
        for reminder, send_at in _reminders(row, rule, forecast):
            kind, day = NOTICE_KINDS[reminder.kind], reminder.occurrence
            if not forecast.is_snoozed(row.pk, day, kind, reminder.lead_days):
                time_reason, age = forecast.time_reason(row.pk, day, kind), _age(row, day, forecast)
                skip_reason = forecast.skip_reason(row.pk, day)
                yield forecast.entry(kind, day, send_at, skip_reason, time_reason=time_reason, **facts, turns=age)
        yield from _dropped_advance_notices(row, rule, forecast, facts)


def _reminders(row: ImportantDate, rule: ReminderRule, forecast: Forecast) -> Iterator[tuple[Reminder, dt.datetime]]:
    """The row's next reminder and those after it, each with the time of sending, until the end of the forecast."""
    reminder, send_at = schedule.pending_reminder(row), row.next_due_at
    while reminder is not None and send_at is not None and forecast.calendar.today(send_at) <= forecast.until:
        yield reminder, send_at
        reminder = rule.following(reminder)
        send_at = forecast.calendar.reminder_time(reminder.day) if reminder else None


def _dropped_advance_notices(
    row: ImportantDate, rule: ReminderRule, forecast: Forecast, facts: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Advance notices that are not sent because they would not come after the previous occurrence."""
    leads = [lead for lead in rule.leads if lead]
    for day in rule.recurrence.between(forecast.today + dt.timedelta(1), forecast.until) if leads else ():
        if len(rule.notice_days(day)) < len(leads):
            yield forecast.entry(NoticeKind.IMPORTANT_DATE_LEAD, day, None, NOTICE_TOO_EARLY, **facts)


def _age(row: ImportantDate, day: dt.date, forecast: Forecast) -> int | None:
    return None if row.year_unknown else full_years(row.date, day, forecast.calendar.leap_day)


def _person_facts(person: Person, forecast: Forecast) -> dict[str, Any]:
    return {"personId": str(person.pk), "personName": person.display_name_for(forecast.owner)}


def _date_facts(row: ImportantDate, forecast: Forecast) -> dict[str, Any]:
    return {
        "importantDateId": str(row.pk),
        **_person_facts(row.person, forecast),
        "type": row.type,
        "title": row.title,
    }


def _candidate_contacts(forecast: Forecast) -> list[Person]:
    """A superset of the people whose contact reminder is due in the forecast, in the order of their ids."""
    people = Person.objects.owned_by(forecast.owner).active().filter(contact_reminder_enabled=True)
    # A reminder that was due when the account changed its time zone may be sent up to two days before its day there.
    due = people.filter(contact_due_on__lte=forecast.until + dt.timedelta(2))
    return sorted(due.only(*READ_OF_CONTACTS), key=attrgetter("pk"))


def _contact_entries(forecast: Forecast) -> Iterator[dict[str, Any]]:
    for person in _candidate_contacts(forecast):
        rule, day, send_at = (
            schedule.contact_rule(person, forecast.calendar),
            person.contact_due_on,
            person.contact_due_at,
        )
        facts = _person_facts(person, forecast)
        while rule and day and send_at and forecast.calendar.today(send_at) <= forecast.until:
            if not forecast.is_snoozed(person.pk, day, NoticeKind.CONTACT):
                skip_reason = forecast.skip_reason(person.pk, day)
                yield forecast.entry(NoticeKind.CONTACT, day, send_at, skip_reason, **facts)
            day = rule.after(day)
            send_at = forecast.calendar.reminder_time(day) if day else None


def _answered_entries(forecast: Forecast, entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Snoozed reminders, and skipped occurrences whose row has moved on, so that no other entry shows them."""
    shown = {(entry["importantDateId"] or entry["personId"], entry["date"]) for entry in entries if entry["reason"]}
    for answer in forecast.answers.values():
        day, row, person = answer.occurrence_on, answer.important_date, answer.person
        if row and not (
            row.deleted_at or row.person.deleted_at or schedule.is_birthday_of_deceased(row.type, row.person.deathday)
        ):
            facts = {**_date_facts(row, forecast), "turns": _age(row, day, forecast)}
        elif person and not person.deleted_at:
            facts = _person_facts(person, forecast)
        else:
            continue
        is_near = answer.due_at is not None and forecast.calendar.today(answer.due_at) <= forecast.until
        if is_near and not answer.is_snoozed_to_the_day:
            yield forecast.entry(answer.resend_kind, day, answer.due_at, None, time_reason=SNOOZED, **facts)
        is_ahead = answer.due_at is None and forecast.today <= day <= forecast.until
        if is_ahead and (str(answer.source_id), day.isoformat()) not in shown:
            yield forecast.entry(NoticeKind(answer.kind), day, None, SKIPPED, **facts)


def _digest_entries(forecast: Forecast) -> Iterator[dict[str, Any]]:
    row = DigestSchedule.objects.filter(owner=forecast.owner).first()
    day, send_at = (row.next_on, row.next_due_at) if row else (None, None)
    starts: dict[dt.date, tuple[dt.date, dt.datetime]] = {}
    while day and send_at and day <= forecast.until:
        starts[forecast.calendar.today(forecast.calendar.sends_at(send_at))] = day, send_at
        day += dt.timedelta(7)
        send_at = forecast.calendar.reminder_time(day)
    days_with_events = _digest_days_with_events(forecast, list(starts))
    for start, (day, send_at) in starts.items():
        yield forecast.entry(NoticeKind.DIGEST, day, send_at, None if start in days_with_events else NO_EVENTS)


def _digest_days_with_events(forecast: Forecast, starts: list[dt.date]) -> set[dt.date]:
    """The days on which `digest_events` would find events. The events of the whole forecast are loaded once."""
    if not starts:
        return set()
    owner, calendar, week = forecast.owner, forecast.calendar, dt.timedelta(DIGEST_DAYS)
    events = important_events(owner, calendar, starts[0], starts[-1] + week, with_deceased=False)
    occurrences = {(UUID(event["id"]), dt.date.fromisoformat(event["date"])) for event in events}
    days = {day for key, day in occurrences if not forecast.skip_reason(key, day)}
    found = {start for start in starts if any(start + dt.timedelta(n) in days for n in range(DIGEST_DAYS + 1))}
    for person, rule in waiting_contacts(owner, calendar):
        for start in set(starts) - found:
            day = rule.on_or_after(start)
            if day and day <= start + week and not forecast.skip_reason(person.pk, day):
                found.add(start)
    return found
