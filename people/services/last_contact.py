"""Keeps lastContact of people up to date: when interactions are written, and when the day of a future one begins.

An interaction becomes the last contact of its people on its day in the account's time zone, but not before that day has
begun.
"""

import datetime as dt
import logging
import time
from collections.abc import Collection
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock, account_write
from people.dates.recurrence import end_of_day, fire_at, local_day
from people.dates.schedule import Calendar, calendar_from_user
from people.models import Interaction, Participation, Person
from people.services.person_writer import PersonWriter

log = logging.getLogger(__name__)

# The local days of one instant in two time zones lie closer together than this.
_MAX_ZONE_DIFFERENCE = dt.timedelta(days=2)

# Interactions or people per transaction.
BATCH_SIZE = 200
# Reminders wait for a scan. After this time each account gets only one more batch, and the next scan continues.
_MAX_SCAN_SECONDS = 20.0


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


def update_last_contacts(writer: PersonWriter, person_ids: Collection[UUID]) -> None:
    """Recompute the last contact of these people from their interactions. Must be called inside the writer's write."""
    before = end_of_today(writer.calendar, writer.now)
    people = annotate_latest(Person.objects.owned_by(writer.owner).filter(pk__in=person_ids), before)
    hidden: list[Person] = []
    moved = 0
    for person in people:
        day = latest_day(person, writer.calendar)
        if day == person.interacted_on:
            continue
        last_contact = max((known for known in (person.contact_before, day) if known), default=None)
        if last_contact == person.last_contact:
            person.interacted_on = day
            hidden.append(person)
        else:
            writer.edit(person)
            person.interacted_on = day
            moved += 1
    # The date that the user has entered is later, so no response changes and the revision must not change either.
    Person.objects.owned_by(writer.owner).bulk_update(hidden, ["interacted_on"])
    if moved:
        writer.flush()


def apply_due_interactions(*, now: dt.datetime) -> int:
    """Update last contacts from interactions whose day has begun; returns the number of interactions.

    Each interaction is applied once, even if this runs twice or is killed.
    """
    end = time.monotonic() + _MAX_SCAN_SECONDS
    due = Interaction.unscoped.rows().filter(counts_at__lte=now)
    counted = 0
    for owner_id in due.order_by("owner_id").values_list("owner_id", flat=True).distinct():
        try:
            counted += _apply_due_of_account(owner_id, now, end)
        except AccountGoneError:
            continue
        except Exception:
            log.exception("the interactions of an account could not be counted", extra={"owner": str(owner_id)})
    return counted


def _apply_due_of_account(owner_id: UUID, now: dt.datetime, end: float) -> int:
    """Apply batches until none is left, or until `end` on the monotonic clock; returns the number of interactions."""
    counted = written = _apply_due_batch(owner_id, now)
    while written == BATCH_SIZE and time.monotonic() < end:
        written = _apply_due_batch(owner_id, now)
        counted += written
    return counted


def _apply_due_batch(owner_id: UUID, now: dt.datetime) -> int:
    with account_write(owner_id) as write:
        due = Interaction.objects.owned_by(owner_id).filter(counts_at__lte=now)
        ids = list(due.values_list("pk", flat=True)[:BATCH_SIZE])
        people = (
            Participation.objects.owned_by(owner_id).filter(interaction__in=ids).values_list("person_id", flat=True)
        )
        update_last_contacts(PersonWriter(User.objects.get(pk=owner_id), write, now), set(people))
        Interaction.objects.owned_by(owner_id).filter(pk__in=ids).update(counts_at=None)
    return len(ids)


def recompute_last_contacts(*, owner_id: UUID, now: dt.datetime) -> None:
    """Recompute last contacts after a change of the account's time zone, in which an instant may be on another day.

    Opens `account_write` only if a day has changed, so that the account's revision otherwise stays. Raises
    AccountGoneError.
    """
    with account_lock(owner_id):
        owner = User.objects.get(pk=owner_id)
        calendar = calendar_from_user(owner)
        _reschedule_counts(owner_id, calendar, now)
        people = Person.objects.owned_by(owner_id).filter(participations__isnull=False).distinct()
        rows = annotate_latest(people.only("owner_id", "interacted_on"), end_of_today(calendar, now))
        if moved := [person.pk for person in rows if latest_day(person, calendar) != person.interacted_on]:
            with account_write(owner_id) as write:
                for start in range(0, len(moved), BATCH_SIZE):
                    update_last_contacts(PersonWriter(owner, write, now), moved[start : start + BATCH_SIZE])


def _reschedule_counts(owner_id: UUID, calendar: Calendar, now: dt.datetime) -> None:
    rows = (
        Interaction.objects.owned_by(owner_id)
        .active()
        .filter(at__gt=now - _MAX_ZONE_DIFFERENCE)
        .only("at", "counts_at")
    )
    moved: list[Interaction] = []
    for row in rows:
        begins_at = counts_at(row.at, calendar, now)
        if begins_at != row.counts_at:
            row.counts_at = begins_at
            moved.append(row)
    Interaction.objects.owned_by(owner_id).bulk_update(moved, ["counts_at"])
