"""People that the user is losing touch with: no contact for twice the contact interval, or twice the usual pause.

Each person is compared with its own interval or pause, so that a fortnight is long for somebody called every week, but
not for somebody met once a year. Uses two statements for any number of people.
"""

import datetime as dt
from collections.abc import Iterator
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from people.dates.recurrence import end_of_day, local_day
from people.dates.schedule import Calendar, contact_rule
from people.insights.insight import MAX_INSIGHTS, Insight
from people.models import Participation, Person

CONTACT_INTERVAL, OWN_RHYTHM = "contact_interval", "own_rhythm"
SILENCE_FACTOR: Final = 2
_MIN_INTERACTIONS: Final = 3


def drifting_people(owner: User, calendar: Calendar, today: dt.date) -> list[Insight]:
    """At most MAX_INSIGHTS people, ordered by the ratio of their silence to the expected pause, longest first."""
    pauses = _median_pauses(owner, calendar, today)
    people = Person.objects.owned_by(owner).active().filter(deathday=None)
    # The shortest median above zero is half a day, so a silence of one day may be twice the usual pause.
    rhythmic = Q(contact_reminder_enabled=True) | Q(interacted_on__lt=today)
    found: list[tuple[float, Insight]] = []
    for person in people.filter(rhythmic).defer(*Person.HEAVY_COLUMNS):
        measures = list(_measures(owner, person, calendar, today, pauses.get(person.pk)))
        if measures:
            found.append(max(measures, key=itemgetter(0)))
    found.sort(key=lambda pair: (-pair[0], pair[1].person_name, str(pair[1].person_id)))
    return [insight for _, insight in found[:MAX_INSIGHTS]]


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
        reason = f"Silent for {_format_days(silent)}; you meant to be in touch every {_format_interval(person)}."
        yield silent / limit * SILENCE_FACTOR, _build_insight(owner, person, CONTACT_INTERVAL, reason, since)
    if pause and silent >= SILENCE_FACTOR * pause:
        usual = f"{_format_days(pause)} {'was' if pause == 1 else 'were'} usual"
        reason = f"Silent for {_format_days(silent)}; {usual} between you."
        yield silent / pause, _build_insight(owner, person, OWN_RHYTHM, reason, since)


def _exceeded_limit(anchor: dt.date, rule: Any, today: dt.date) -> int:
    """The length in days of twice the interval (calendar months or years) if it is over, else 0."""
    day = rule.nth(SILENCE_FACTOR)
    return max((day - anchor).days, 1) if day and day <= today else 0


def _format_days(number: float) -> str:
    return "1 day" if number == 1 else f"{number:g} days"


def _format_interval(person: Person) -> str:
    number = person.contact_reminder_interval or 1
    unit = (person.contact_reminder_interval_unit or "MONTHS").lower()
    return unit.removesuffix("s") if number == 1 else f"{number} {unit}"


def _build_insight(owner: User, person: Person, code: str, reason: str, since: dt.date) -> Insight:
    return Insight(person.pk, person.display_name_for(owner), code, reason, since)
