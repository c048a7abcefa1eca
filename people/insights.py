"""Insights into the people of an account: long silences, missing details, round birthdays and anniversaries.

The number of statements of each kind is constant.
"""

import datetime as dt
from collections.abc import Iterator
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median
from typing import Final, NamedTuple, cast
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import Text, define_text
from people.dates.recurrence import Recurrence, end_of_day, full_years, local_day
from people.dates.schedule import Calendar, contact_rule
from people.dates.upcoming import Nearest, active_dates, event_rules
from people.mentions import Topic, may_be_mentioned
from people.models import Participation, Person
from people.vocabularies import DateType

MAX_INSIGHTS = 20
"""Per kind."""


class Insight(NamedTuple):
    """`code` is the kind of reason, `reason` the sentence for users; `since` is the day on which it began."""

    person_id: UUID | str
    person_name: str
    code: str
    reason: Text
    since: dt.date | None = None

    def to_json(self) -> JsonObject:
        return {
            "personId": str(self.person_id),
            "personName": self.person_name,
            "code": self.code,
            "reason": str(self.reason),
            "params": self.reason.described_params(),
            "since": self.since and self.since.isoformat(),
        }


_DAYS = define_text("days", "%(days)s day", plural="%(days)s days", number="days")
_BEYOND_INTERVAL = define_text("contact_interval", "Silent for %(silence)s; you meant to be in touch %(interval)s.")
_BEYOND_RHYTHM = define_text("own_rhythm", "Silent for %(silence)s; usual between you: %(usual)s.")
_EVERY = {
    "DAYS": define_text("every_day", "every day"),
    "WEEKS": define_text("every_week", "every week"),
    "MONTHS": define_text("every_month", "every month"),
    "YEARS": define_text("every_year", "every year"),
}
_EVERY_FEW = {
    "DAYS": define_text("every_few_days", "every %(count)s days"),
    "WEEKS": define_text("every_few_weeks", "every %(count)s weeks"),
    "MONTHS": define_text("every_few_months", "every %(count)s months"),
    "YEARS": define_text("every_few_years", "every %(count)s years"),
}

CONTACT_INTERVAL, OWN_RHYTHM = "contact_interval", "own_rhythm"
SILENCE_FACTOR: Final = 2
_MIN_INTERACTIONS: Final = 3
_CHUNK_SIZE: Final = 500


def drifting_people(owner: User, calendar: Calendar, today: dt.date) -> list[Insight]:
    """People that the user is losing touch with: no contact for twice the contact interval, or twice the usual pause.

    Each person is compared with its own interval or pause, so that a fortnight is long for somebody called every week,
    but not for somebody met once a year. At most MAX_INSIGHTS, ordered by the ratio of their silence to the expected
    pause, longest first.
    """
    pauses = _median_pauses(owner, calendar, today)
    people = Person.objects.owned_by(owner).active().filter(may_be_mentioned(Topic.CONTACT))
    # The shortest median above zero is half a day, so a silence of one day may be twice the usual pause.
    rhythmic = Q(contact_reminder_enabled=True) | Q(interacted_on__lt=today)
    found: Nearest[Insight] = Nearest(MAX_INSIGHTS)
    for person in people.filter(rhythmic).defer(*Person.HEAVY_COLUMNS).iterator(_CHUNK_SIZE):
        measures = list(_measures(owner, person, calendar, today, pauses.get(person.pk)))
        if measures:
            ratio, insight = max(measures, key=itemgetter(0))
            found.offer((-ratio, insight.person_name, str(insight.person_id)), insight)
    return found.items()


def _median_pauses(owner: User, calendar: Calendar, today: dt.date) -> dict[UUID, float]:
    """The median pause in days between interactions, of each person with at least three."""
    rows = Participation.objects.owned_by(owner).filter(
        at__lt=end_of_day(today, calendar.zone), interaction__deleted_at=None, person__deleted_at=None
    )
    instants = rows.order_by("person_id", "at").values_list("person_id", "at").iterator()
    found: dict[UUID, float] = {}
    for person_id, person_rows in groupby(instants, itemgetter(0)):
        days = [local_day(at, calendar.zone) for _, at in person_rows]
        if len(days) >= _MIN_INTERACTIONS:
            found[person_id] = median((later - earlier).days for earlier, later in pairwise(days))
    return found


def _measures(
    owner: User, person: Person, calendar: Calendar, today: dt.date, pause: float | None
) -> Iterator[tuple[float, Insight]]:
    """The exceeded measures of a person, each with the ratio of the silence to the expected pause."""
    since = person.last_contact or calendar.today(person.created_at)
    silent = (today - since).days
    if (rule := contact_rule(person, calendar)) and (limit := _exceeded_limit(rule.anchor, rule, today)):
        reason = _BEYOND_INTERVAL.format(silence=_DAYS.format(days=silent), interval=_interval_of(person))
        yield silent / limit * SILENCE_FACTOR, _build_insight(owner, person, CONTACT_INTERVAL, reason, since)
    if pause and silent >= SILENCE_FACTOR * pause:
        usual = int(pause) if pause == int(pause) else pause
        reason = _BEYOND_RHYTHM.format(silence=_DAYS.format(days=silent), usual=_DAYS.format(days=usual))
        yield silent / pause, _build_insight(owner, person, OWN_RHYTHM, reason, since)


def _exceeded_limit(anchor: dt.date, rule: Recurrence, today: dt.date) -> int:
    """The length in days of twice the interval (calendar months or years) if it is over, else 0."""
    day = rule.nth(SILENCE_FACTOR)
    return max((day - anchor).days, 1) if day and day <= today else 0


def _interval_of(person: Person) -> Text:
    unit = person.contact_reminder_interval_unit or "MONTHS"
    count = person.contact_reminder_interval or 1
    return _EVERY[unit] if count == 1 else _EVERY_FEW[unit].format(count=count)


def _build_insight(owner: User, person: Person, code: str, reason: Text, since: dt.date) -> Insight:
    return Insight(person.pk, person.display_name_for(owner), code, reason, since)


_UNREACHABLE = define_text("no_way_to_reach", "Neither phone, e-mail nor address.")

_UNREACHABLE_CODE = "no_way_to_reach"


def incomplete_people(owner: User) -> list[Insight]:
    """People without phone number, e-mail address and postal address, in name order."""
    unreachable = (
        Person.objects.owned_by(owner)
        .active()
        .filter(may_be_mentioned(Topic.CONTACT), phone_numbers=[], emails=[], addresses=[])
        .in_name_order()
    )
    people = unreachable.defer(*Person.HEAVY_COLUMNS)[:MAX_INSIGHTS]
    return [Insight(person.pk, person.display_name_for(owner), _UNREACHABLE_CODE, _UNREACHABLE) for person in people]


_REASONS = {
    "birthday": define_text("round_birthday", "%(years)s years on %(date)s: the birthday."),
    "anniversary": define_text("round_anniversary", "%(years)s years on %(date)s: the anniversary."),
}

MILESTONE_DAYS: Final = 30
_ROUND_YEARS: Final = frozenset({1, 10, 18, 20, 25, *range(30, 1000, 10)})
_CODES: Final = {DateType.BIRTHDAY: "birthday", DateType.ANNIVERSARY: "anniversary"}


def milestones(owner: User, calendar: Calendar, today: dt.date) -> list[Insight]:
    """Round birthdays and anniversaries of living people within the next 30 days, the next first."""
    # Keyed by day, person and code: an anniversary may be both a field of the person and one of its dates.
    end = today + dt.timedelta(MILESTONE_DAYS)
    found = {
        (day, insight.person_id, insight.code): insight
        for day, insight in (
            *_date_milestones(owner, calendar, today, end),
            *_person_milestones(owner, calendar, today, end),
        )
    }
    ordered = sorted(found.items(), key=lambda pair: (pair[0][0], pair[1].person_name, *pair[0][1:]))
    return [insight for _, insight in ordered[:MAX_INSIGHTS]]


Milestones = Iterator[tuple[dt.date, Insight]]


def _date_milestones(owner: User, calendar: Calendar, today: dt.date, end: dt.date) -> Milestones:
    dates = active_dates(owner).filter(may_be_mentioned(Topic.CONTACT, "person__"), type__in=_CODES)
    for row, rule, _ in event_rules(owner, calendar, today, end, dates=dates):
        for day in rule.between(today, end):
            years = None if row.year_unknown else full_years(row.date, day, calendar.leap_day)
            if years in _ROUND_YEARS:
                name = row.person.display_name_for(owner)
                yield day, _round_day(str(row.person_id), name, _CODES[cast("DateType", row.type)], years, day)


def _person_milestones(owner: User, calendar: Calendar, today: dt.date, end: dt.date) -> Milestones:
    people = Person.objects.owned_by(owner).active().filter(may_be_mentioned(Topic.CONTACT), anniversary__isnull=False)
    for person in people.defer(*Person.HEAVY_COLUMNS).iterator(_CHUNK_SIZE):
        first = cast("dt.date", person.anniversary)
        for day in Recurrence(first, leap_day=calendar.leap_day).between(today, end):
            years = full_years(first, day, calendar.leap_day)
            if years in _ROUND_YEARS:
                name, code = person.display_name_for(owner), _CODES[DateType.ANNIVERSARY]
                yield day, _round_day(str(person.pk), name, code, years, day)


def _round_day(person_id: str, name: str, code: str, years: int | None, day: dt.date) -> Insight:
    reason = _REASONS[code].format(years=years, date=day.isoformat())
    return Insight(person_id, name, code, reason)
