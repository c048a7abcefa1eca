"""Round birthdays and anniversaries of living people within the next 30 days."""

import datetime as dt
from collections.abc import Iterator
from typing import Final, cast

from accounts.models import User
from contacts_project.kernel.texts import define_text
from people.dates.recurrence import Recurrence, full_years
from people.dates.schedule import Calendar
from people.dates.upcoming import active_dates, event_rules
from people.insights.insight import MAX_INSIGHTS, Insight
from people.mentions import Topic, may_be_mentioned
from people.models import Person
from people.vocabularies import DateType

_REASONS = {
    "birthday": define_text("round_birthday", "%(years)s years on %(date)s: the birthday."),
    "anniversary": define_text("round_anniversary", "%(years)s years on %(date)s: the anniversary."),
}

DAYS: Final = 30
_CHUNK_SIZE: Final = 500
_ROUND_YEARS: Final = frozenset({1, 10, 18, 20, 25, *range(30, 1000, 10)})
_CODES: Final = {DateType.BIRTHDAY: "birthday", DateType.ANNIVERSARY: "anniversary"}


def milestones(owner: User, calendar: Calendar, today: dt.date) -> list[Insight]:
    """At most MAX_INSIGHTS milestones, the next one first."""
    # Keyed by day, person and code: an anniversary may be both a field of the person and one of its dates.
    end = today + dt.timedelta(DAYS)
    found = {
        (day, insight.person_id, insight.code): insight
        for day, insight in (
            *_date_milestones(owner, calendar, today, end),
            *_person_milestones(owner, calendar, today, end),
        )
    }
    ordered = sorted(found.items(), key=lambda pair: (pair[0][0], pair[1].person_name, *pair[0][1:]))
    return [insight for _, insight in ordered[:MAX_INSIGHTS]]


Found = Iterator[tuple[dt.date, Insight]]


def _date_milestones(owner: User, calendar: Calendar, today: dt.date, end: dt.date) -> Found:
    dates = active_dates(owner).filter(may_be_mentioned(Topic.CONTACT, "person__"), type__in=_CODES)
    for row, rule, _ in event_rules(owner, calendar, today, end, dates=dates):
        for day in rule.between(today, end):
            years = None if row.year_unknown else full_years(row.date, day, calendar.leap_day)
            if years in _ROUND_YEARS:
                name = row.person.display_name_for(owner)
                yield day, _build_insight(str(row.person_id), name, _CODES[cast("DateType", row.type)], years, day)


def _person_milestones(owner: User, calendar: Calendar, today: dt.date, end: dt.date) -> Found:
    people = Person.objects.owned_by(owner).active().filter(may_be_mentioned(Topic.CONTACT), anniversary__isnull=False)
    for person in people.defer(*Person.HEAVY_COLUMNS).iterator(_CHUNK_SIZE):
        first = cast("dt.date", person.anniversary)
        for day in Recurrence(first, leap_day=calendar.leap_day).between(today, end):
            years = full_years(first, day, calendar.leap_day)
            if years in _ROUND_YEARS:
                name, code = person.display_name_for(owner), _CODES[DateType.ANNIVERSARY]
                yield day, _build_insight(str(person.pk), name, code, years, day)


def _build_insight(person_id: str, name: str, code: str, years: int | None, day: dt.date) -> Insight:
    reason = _REASONS[code].format(years=years, date=day.isoformat())
    return Insight(person_id, name, code, reason)
