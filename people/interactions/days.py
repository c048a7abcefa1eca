"""The day on which an interaction becomes the last contact of its people: its day in the account's time zone, but not
before that day has begun."""

import datetime as dt

from django.db.models import OuterRef, QuerySet, Subquery

from people.dates.recurrence import end_of_day, fire_at, local_day
from people.dates.schedule import Calendar
from people.models import Interaction, Participation, Person


def counts_at(at: dt.datetime, calendar: Calendar, now: dt.datetime) -> dt.datetime | None:
    """The instant from which an interaction counts, or None if its day has already begun."""
    day = local_day(at, calendar.zone)
    return fire_at(day, calendar.zone, 0) if day > calendar.today(now) else None


def set_counts_at(interaction: Interaction, calendar: Calendar, now: dt.datetime) -> None:
    """Set `counts_at` of the interaction; None if it is in the trash."""
    interaction.counts_at = None if interaction.is_deleted else counts_at(interaction.at, calendar, now)


def annotate_latest(people: QuerySet[Person], before: dt.datetime) -> QuerySet[Person]:
    """Annotate people with `latest_at`, the instant of their latest interaction before `before` (see end_of_today).

    Reads one index entry per person.
    """
    participations = Participation.unscoped.rows().filter(
        owner=OuterRef("owner"),
        person=OuterRef("pk"),
        at__lt=before,
        interaction__deleted_at=None,
    )
    return people.annotate(latest_at=Subquery(participations.order_by("-at").values("at")[:1]))


def end_of_today(calendar: Calendar, now: dt.datetime) -> dt.datetime:
    """When the account's day ends. An interaction counts from the beginning of its day on."""
    return end_of_day(calendar.today(now), calendar.zone)


def latest_day(person: Person, calendar: Calendar) -> dt.date | None:
    """The day of `latest_at` of a person from annotate_latest."""
    latest_at: dt.datetime | None = person.latest_at  # type: ignore[attr-defined]  # annotated
    return local_day(latest_at, calendar.zone) if latest_at else None
