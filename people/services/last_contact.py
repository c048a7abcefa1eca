"""lastContact follows the interactions: in the write that changes them, and when the day of one ahead begins."""

import datetime as dt
import logging
import time
from collections.abc import Collection
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock, account_write
from contacts_project.kernel.ownership.columns import update_columns
from people.dates import schedule
from people.interactions.days import counts_at, latest_day, with_latest
from people.models import Interaction, Participation, Person
from people.services.person_writer import PersonWriter

log = logging.getLogger(__name__)

# The day of an instant differs by zone, never by more than this.
_ANY_ZONE = dt.timedelta(days=2)

# Interactions, or people, in one write.
_AT_ONCE = 200
# Of a scan, which reminders wait for. Beyond it each account has one write more, and the rest is for the next scan.
_SECONDS = 20.0


def follow_interactions(writer: PersonWriter, person_ids: Collection[UUID]) -> None:
    """Make the last contact of these people that of their interactions as they are; inside the writer's write."""
    rows = Person.objects.owned_by(writer.owner).filter(pk__in=person_ids)
    people = list(with_latest(rows, writer.calendar, writer.now))
    hidden: list[Person] = []
    moved = 0
    for person in people:
        day = latest_day(person, writer.calendar)
        if day == person.interacted_on:
            continue
        if _later(person.contact_before, day) == person.last_contact:
            person.interacted_on = day
            hidden.append(person)
        else:
            writer.edit(person)
            person.interacted_on = day
            moved += 1
    # What was typed is later: no answer changes, and so no record does.
    update_columns(Person, hidden, ["interacted_on"])
    if moved:
        writer.flush()


def _later(typed: dt.date | None, interacted: dt.date | None) -> dt.date | None:
    return max((day for day in (typed, interacted) if day), default=None)


def count_arrived(*, now: dt.datetime) -> int:
    """Let the interactions count whose day has begun; how many. Run twice, or killed, it does each once."""
    end = time.monotonic() + _SECONDS
    arrived = Interaction.unscoped.rows().filter(counts_at__lte=now)
    counted = 0
    for owner_id in arrived.order_by("owner_id").values_list("owner_id", flat=True).distinct():
        try:
            counted += _count_arrived_of(owner_id, now, end)
        except AccountGoneError:
            continue
        except Exception:
            log.exception("the interactions of an account could not be counted", extra={"owner": str(owner_id)})
    return counted


def _count_arrived_of(owner_id: UUID, now: dt.datetime, end: float) -> int:
    """Write by write until none is left, or until `end` of the monotonic clock."""
    counted = written = _count_some(owner_id, now)
    while written == _AT_ONCE and time.monotonic() < end:
        written = _count_some(owner_id, now)
        counted += written
    return counted


def _count_some(owner_id: UUID, now: dt.datetime) -> int:
    with account_write(owner_id) as write:
        arrived = Interaction.objects.owned_by(owner_id).filter(counts_at__lte=now)
        ids = list(arrived.values_list("pk", flat=True)[:_AT_ONCE])
        people = (
            Participation.objects.owned_by(owner_id).filter(interaction__in=ids).values_list("person_id", flat=True)
        )
        follow_interactions(PersonWriter(User.objects.get(pk=owner_id), write, now), set(people))
        Interaction.objects.owned_by(owner_id).filter(pk__in=ids).update_quietly(counts_at=None)
    return len(ids)


def recount_account(*, owner_id: UUID, now: dt.datetime) -> None:
    """Follow the account's clock, which has changed: the same instant may be another day now. Raises AccountGoneError.

    Only where a day did change is this a write of the account.
    """
    with account_lock(owner_id):
        owner = User.objects.get(pk=owner_id)
        calendar = schedule.calendar_from_user(owner)
        _replan_counts(owner_id, calendar, now)
        people = Person.objects.owned_by(owner_id).filter(participations__isnull=False).distinct()
        rows = with_latest(people.only("owner_id", "interacted_on"), calendar, now)
        if moved := [person.pk for person in rows if latest_day(person, calendar) != person.interacted_on]:
            with account_write(owner_id) as write:
                for start in range(0, len(moved), _AT_ONCE):
                    follow_interactions(PersonWriter(owner, write, now), moved[start : start + _AT_ONCE])


def _replan_counts(owner_id: UUID, calendar: schedule.Calendar, now: dt.datetime) -> None:
    rows = Interaction.objects.owned_by(owner_id).active().filter(at__gt=now - _ANY_ZONE).only("at", "counts_at")
    moved: list[Interaction] = []
    for row in rows:
        begins_at = counts_at(row.at, calendar, now)
        if begins_at != row.counts_at:
            row.counts_at = begins_at
            moved.append(row)
    update_columns(Interaction, moved, ["counts_at"])
