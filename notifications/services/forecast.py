"""The forecast: what will be sent, when, over which channel, and if not, why (GET /api/reminders/upcoming).

Which reminders are due when is what the planner finds, on rows that are not saved. Which rows need not be read for it
is decided here; tests/notifications/test_forecast_property.py compares it with a forecast of all rows.
"""

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.json import JsonMapping, JsonObject, format_timestamp
from notifications.ledger import NO_CHANNEL, SKIPPED, SNOOZED, targets_of
from notifications.models import AnswerState, Delivery, DeliveryState, DigestSchedule, ReminderAnswer
from notifications.notices.notice import NoticeKind
from notifications.services.digests import DIGEST_DAYS
from notifications.services.due_scan import (
    NOTICE_KINDS,
    contact_reminders,
    date_reminders,
    silence_of,
    source_of_answer,
    with_source,
)
from notifications.services.relevance import irrelevance_reason, load_facts
from people.dates import schedule
from people.dates.recurrence import Reminder, ReminderRule, end_of_day, full_years
from people.dates.upcoming import (
    AT_INTERVALS,
    CHUNK_SIZE,
    READ_OF_CONTACTS,
    READ_OF_DATES,
    Nearest,
    active_dates,
    days_between,
    event_rule,
    event_rules,
    shown_title,
    waiting_contacts,
)
from people.mentions import Silence, Topic
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
    nearest: Nearest[Callable[[], dict[str, Any]]]
    # Sources and days of answers that have an entry with a reason, so that no second entry says the same.
    explained: set[tuple[UUID, dt.date]]

    @property
    def today(self) -> dt.date:
        return self.calendar.today(self.now)

    @property
    def ends_at(self) -> dt.datetime:
        """The last instant of the day `until`."""
        return end_of_day(self.until, self.calendar.zone) - dt.timedelta.resolution

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

    def offer(
        self,
        kind: NoticeKind,
        day: dt.date,
        send_at: dt.datetime | None,
        skip_reason: str | None,
        facts: Callable[[], JsonObject],
        *,
        source: tuple[str, UUID | None] = ("", None),
        time_reason: str | None = None,
    ) -> None:
        """Offer one entry of the answer, whose rest is built by `facts` if it is among the nearest.

        It is not sent if there is a `skip_reason`, or no target is on. `time_reason`: why it is sent at this time.
        `source`: the name of the person, and the id of the person or date.
        """
        name, source_id = source
        if skip_reason is None and not self.is_sent_somewhere(kind):
            skip_reason = NO_CHANNEL
        if source_id and (skip_reason or time_reason) and (source_id, day) in self.answers:
            self.explained.add((source_id, day))
        time = format_timestamp(self.calendar.sends_at(send_at)) if send_at and skip_reason is None else None
        key = (time or day.isoformat(), name, kind.value, str(source_id), day, str(send_at))
        self.nearest.offer(key, lambda: self._entry(kind, day, time, skip_reason, time_reason, facts()))

    def _entry(
        self,
        kind: NoticeKind,
        day: dt.date,
        time: str | None,
        skip_reason: str | None,
        time_reason: str | None,
        facts: JsonObject,
    ) -> JsonObject:
        return {
            "kind": kind.value,
            "date": day.isoformat(),
            "sendAt": time,
            "willSend": skip_reason is None,
            "reason": skip_reason or time_reason,
            "destinations": self.destinations[kind] if skip_reason in {None, NO_CHANNEL} else [],
            "importantDateId": None,
            "personId": None,
            "personName": None,
            "type": None,
            "title": None,
            **facts,
        }

    def is_sent_somewhere(self, kind: NoticeKind) -> bool:
        return any(line["willSend"] for line in self.destinations[kind])

    def is_beyond(self, day: dt.date) -> bool:
        """Whether no reminder that is to be sent on `day` or later, in the account's zone, is among the nearest."""
        # Entries are sorted by the instant in UTC, whose day may be the one before.
        return self.nearest.is_beyond(((day - dt.timedelta(1)).isoformat(),))


class UpcomingReminders(NamedTuple):
    """The nearest entries; `has_more` if some were left out."""

    reminders: list[dict[str, Any]]
    has_more: bool


def upcoming_reminders(owner: User, *, now: dt.datetime, days: int, limit: int) -> UpcomingReminders:
    """The nearest `limit` entries of the coming days, in the order of sending; what is not sent stands by its date.

    Entries after those are not computed, and only the rows of the nearest are kept.
    """
    calendar = schedule.load_calendar(owner)
    destinations = {kind: _destinations(owner, kind) for kind in NoticeKind}
    answers = {answer.key: answer for answer in with_source(ReminderAnswer.objects.owned_by(owner))}
    until = calendar.today(now) + dt.timedelta(days)
    forecast = Forecast(owner, calendar, now, until, destinations, answers, Nearest(limit), set())
    _offer_waiting(forecast)
    _offer_dates(forecast)
    _offer_contacts(forecast)
    _offer_digests(forecast)
    _offer_answered(forecast)
    return UpcomingReminders([build() for build in forecast.nearest.items()], forecast.nearest.has_more)


def _destinations(owner: User, kind: NoticeKind) -> list[JsonObject]:
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


def _offer_waiting(forecast: Forecast) -> None:
    """Deliveries that are planned, wait for the end of the quiet hours, and are still relevant.

    Those about people who are quiet by now will not be sent, and say so.
    """
    waiting = Delivery.objects.owned_by(forecast.owner).filter(state=DeliveryState.PENDING, attempts=0)
    waiting = waiting.filter(next_try_at__gt=forecast.now).with_owner_and_person().order_by("next_try_at", "id")
    rows, seen = waiting.iterator(CHUNK_SIZE), set()
    while chunk := list(islice(rows, CHUNK_SIZE)):
        current_facts = load_facts(chunk)
        for row in chunk:
            why_not = irrelevance_reason(row, current_facts)
            if row.notice_key not in seen and why_not in {None, Silence.QUIET}:
                seen.add(row.notice_key)
                forecast.offer(
                    NoticeKind(row.kind),
                    row.occurrence_on,
                    row.next_try_at,
                    why_not,
                    partial(_waiting_facts, row.content),
                    source=(row.content.get("personName") or "", row.source_id),
                )


def _waiting_facts(content: JsonMapping) -> JsonObject:
    keys = ("importantDateId", "personId", "personName", "type", "title", "turns")
    facts = {key: content[key] for key in keys if key in content}
    return facts | {"title": shown_title(content.get("type"), content.get("title"))} if "title" in facts else facts


def _candidate_dates(forecast: Forecast) -> Iterator[ImportantDate]:
    """A superset of the dates that have entries, not much larger than needed."""
    dates = active_dates(forecast.owner).select_related("person").only(*READ_OF_DATES)
    on_a_day = Q(month_day__in=days_between(forecast.today, forecast.until))
    # Advance notices of later occurrences, and overdue reminders. Two days, since no zone's day ends
    # more than 24 hours after that of UTC.
    end = dt.datetime.combine(forecast.until + dt.timedelta(2), dt.time(), dt.UTC)
    is_waiting = Q(reminder_enabled=True, next_due_at__lt=end)
    others = dates.filter(is_waiting | AT_INTERVALS).exclude(on_a_day)
    return chain(dates.filter(on_a_day).iterator(CHUNK_SIZE), others.iterator(CHUNK_SIZE))


def _offer_dates(forecast: Forecast) -> None:
    for row in _candidate_dates(forecast):
        rule, source = schedule.date_rule(row, forecast.calendar), _source(row, forecast)
        facts = partial(_date_facts, row, forecast)
        why_not = row.silence()
        if rule is None or why_not is Silence.DECEASED:
            for day in event_rule(row, forecast.calendar).between(forecast.today, forecast.until):
                if forecast.is_beyond(day):
                    break
                forecast.offer(NoticeKind.IMPORTANT_DATE, day, None, why_not or REMINDER_OFF, facts, source=source)
            continue
        for reminder, send_at in _reminders(row, forecast):
            kind, day = NOTICE_KINDS[reminder.kind], reminder.occurrence
            if not forecast.is_snoozed(row.pk, day, kind, reminder.lead_days):
                forecast.offer(
                    kind,
                    day,
                    send_at,
                    why_not or forecast.skip_reason(row.pk, day),
                    partial(_date_facts, row, forecast, turns_on=day),
                    source=source,
                    time_reason=forecast.time_reason(row.pk, day, kind),
                )
        for day in _days_of_dropped_notices(rule, forecast):
            why = why_not or NOTICE_TOO_EARLY
            forecast.offer(NoticeKind.IMPORTANT_DATE_LEAD, day, None, why, facts, source=source)


def _reminders(row: ImportantDate, forecast: Forecast) -> Iterator[tuple[Reminder, dt.datetime]]:
    """The row's next reminder and those after it that may be among the nearest, each with the time of sending."""
    found = date_reminders(row, forecast.calendar, now=forecast.now, until=forecast.ends_at)
    for number, (reminder, send_at) in enumerate(found):
        if number and forecast.is_beyond(reminder.day):
            return
        yield reminder, send_at


def _days_of_dropped_notices(rule: ReminderRule, forecast: Forecast) -> Iterator[dt.date]:
    """The occurrences whose advance notice is not sent because it would not come after the previous occurrence."""
    leads = [lead for lead in rule.leads if lead]
    for day in rule.recurrence.between(forecast.today + dt.timedelta(1), forecast.until) if leads else ():
        if forecast.is_beyond(day):
            return
        if len(rule.notice_days(day)) < len(leads):
            yield day


def _source(row: ImportantDate | Person, forecast: Forecast) -> tuple[str, UUID]:
    """What sorts the entries of one time: the person's name, and the id of the row."""
    person = row.person if isinstance(row, ImportantDate) else row
    return person.display_name_for(forecast.owner), row.pk


def _person_facts(person: Person, forecast: Forecast) -> JsonObject:
    return {"personId": str(person.pk), "personName": person.display_name_for(forecast.owner)}


def _date_facts(row: ImportantDate, forecast: Forecast, turns_on: dt.date | None = None) -> JsonObject:
    """`turns_on`: the occurrence whose age is added; entries that only say why nothing is sent have none."""
    facts = {
        "importantDateId": str(row.pk),
        **_person_facts(row.person, forecast),
        "type": row.type,
        "title": shown_title(row.type, row.title),
    }
    if turns_on is None:
        return facts
    age = None if row.year_unknown else full_years(row.date, turns_on, forecast.calendar.leap_day)
    return {**facts, "turns": age}


def _facts(about: ImportantDate | Person, forecast: Forecast, day: dt.date) -> JsonObject:
    return _person_facts(about, forecast) if isinstance(about, Person) else _date_facts(about, forecast, turns_on=day)


def _candidate_contacts(forecast: Forecast) -> Iterator[Person]:
    """A superset of the people whose contact reminder is due in the forecast."""
    people = Person.objects.owned_by(forecast.owner).active().filter(contact_reminder_enabled=True, is_me=False)
    # A reminder that was due when the account changed its time zone may be sent up to two days before its day there.
    due = people.filter(contact_due_on__lte=forecast.until + dt.timedelta(2))
    found: Iterator[Person] = due.only(*READ_OF_CONTACTS).iterator(CHUNK_SIZE)
    return found


def _offer_contacts(forecast: Forecast) -> None:
    for person in _candidate_contacts(forecast):
        if schedule.contact_rule(person, forecast.calendar) is None:  # they died, quiet or not
            continue
        why_not = person.silence(Topic.CONTACT)
        facts, source = partial(_person_facts, person, forecast), _source(person, forecast)
        found = contact_reminders(person, forecast.calendar, now=forecast.now, until=forecast.ends_at)
        for number, (day, send_at) in enumerate(found):
            if number and forecast.is_beyond(day):
                break
            if not forecast.is_snoozed(person.pk, day, NoticeKind.CONTACT):
                skip_reason = why_not or forecast.skip_reason(person.pk, day)
                forecast.offer(NoticeKind.CONTACT, day, send_at, skip_reason, facts, source=source)


def _offer_answered(forecast: Forecast) -> None:
    """Snoozed reminders, and skipped occurrences whose row has moved on, so that no other entry shows them.

    Offered last: a skipped occurrence that has an entry already is in `forecast.explained`.
    """
    for answer in forecast.answers.values():
        day, about = answer.occurrence_on, source_of_answer(answer, forecast.calendar)
        why_not = silence_of(about) if about else None
        # A birthday of the deceased has an entry of its own, and the user's own contact reminder has none.
        if about is None or why_not in {Silence.DECEASED, Silence.ME}:
            continue
        source, facts = _source(about, forecast), partial(_facts, about, forecast, day)
        is_near = answer.due_at is not None and forecast.calendar.today(answer.due_at) <= forecast.until
        if is_near and not answer.is_snoozed_to_the_day:
            kind = answer.resend_kind
            forecast.offer(kind, day, answer.due_at, why_not, facts, source=source, time_reason=SNOOZED)
        is_ahead = answer.due_at is None and forecast.today <= day <= forecast.until
        if is_ahead and (answer.source_id, day) not in forecast.explained:
            forecast.offer(NoticeKind(answer.kind), day, None, why_not or SKIPPED, facts, source=source)


def _offer_digests(forecast: Forecast) -> None:
    row = DigestSchedule.objects.filter(owner=forecast.owner).first()
    day, send_at = (row.next_on, row.next_due_at) if row else (None, None)
    starts: dict[dt.date, tuple[dt.date, dt.datetime]] = {}
    while day and send_at and day <= forecast.until:
        starts[forecast.calendar.today(forecast.calendar.sends_at(send_at))] = day, send_at
        day += dt.timedelta(7)
        send_at = forecast.calendar.reminder_time(day)
    days_with_events = _digest_days_with_events(forecast, list(starts))
    for start, (day, send_at) in starts.items():
        forecast.offer(NoticeKind.DIGEST, day, send_at, None if start in days_with_events else NO_EVENTS, dict)


def _digest_days_with_events(forecast: Forecast, starts: list[dt.date]) -> set[dt.date]:
    """The days on which `digest_events` would find events. Reads dates and people until each of them has one."""
    if not starts:
        return set()
    owner, calendar, week = forecast.owner, forecast.calendar, dt.timedelta(DIGEST_DAYS)
    missing = set(starts)
    for row, rule, is_over in event_rules(owner, calendar, starts[0], starts[-1] + week):
        for start in () if is_over else sorted(missing):
            if any(not forecast.skip_reason(row.pk, day) for day in rule.between(start, start + week)):
                missing.remove(start)
        if not missing:
            break
    for person, rule in waiting_contacts(owner, calendar) if missing else ():
        for start in sorted(missing):
            day = rule.on_or_after(start)
            if day and day <= start + week and not forecast.skip_reason(person.pk, day):
                missing.remove(start)
    return set(starts) - missing
