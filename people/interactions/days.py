"""On which day an interaction counts as the last contact of its people: in the account's zone, never before it has
come."""

import datetime as dt
from typing import Any

from django.db.models import OuterRef, Subquery

from people.dates.recurrence import end_of_day, fire_at, local_day
from people.dates.schedule import Calendar
from people.models import Interaction, Participation, Person


def counts_at(at: dt.datetime, calendar: Calendar, now: dt.datetime) -> dt.datetime | None:
    """The instant from which on an interaction counts; None where its day has come already."""
    day = local_day(at, calendar.zone)
    return fire_at(day, calendar.zone, 0) if day > calendar.today(now) else None


def plan_count(interaction: Interaction, calendar: Calendar, now: dt.datetime) -> None:
    """Set that instant; what is in the trash counts never."""
    interaction.counts_at = None if interaction.is_deleted else counts_at(interaction.at, calendar, now)


def with_latest(people: Any, calendar: Calendar, now: dt.datetime) -> Any:
    """People with `latest_at`, when the latest of their interactions was whose day has come; one look in an index."""
    theirs = Participation.unscoped.rows().filter(
        owner=OuterRef("owner"),
        person=OuterRef("pk"),
        at__lt=end_of_day(calendar.today(now), calendar.zone),
        interaction__deleted_at=None,
    )
    return people.annotate(latest_at=Subquery(theirs.order_by("-at").values("at")[:1]))


def latest_day(person: Person, calendar: Calendar) -> dt.date | None:
    """The day of it, of a person that was read so."""
    latest_at: dt.datetime | None = person.latest_at  # type: ignore[attr-defined]  # annotated
    return local_day(latest_at, calendar.zone) if latest_at else None
