"""The weekly digest: when it is due, and that it is sent once an ISO week, with something in it."""

import datetime as dt
import logging
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from notifications.ledger import AccountPlan, Planned, answers_to, is_missed
from notifications.models import AnswerState, Delivery, DigestSchedule
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.dates.upcoming import upcoming_events

log = logging.getLogger(__name__)

DAYS = 7
_ACCOUNTS = 200


def schedule_digest(owner: User, *, now: dt.datetime) -> None:
    """Note when the account's next digest is due, today's at once if its hour has passed. Under the account's lock.

    One that waits to be planned stays as it is.
    """
    if not owner.weekly_digest_enabled:
        DigestSchedule.objects.filter(owner=owner).delete()
        return
    if DigestSchedule.objects.filter(owner=owner, next_due_at__lte=now).exists():
        return
    calendar = schedule.load_calendar(owner)
    _store(owner, digest_day(calendar.today(now), owner.weekly_digest_weekday), calendar, earliest=now)


def plan_digests(*, now: dt.datetime) -> int:
    """Make the deliveries of every digest that is due; returns how many. Safe to run twice, and anywhere."""
    made, broken = 0, set[UUID]()
    due = DigestSchedule.objects.filter(next_due_at__lte=now).order_by("next_due_at")
    while owners := list(due.exclude(owner_id__in=broken).values_list("owner_id", flat=True)[:_ACCOUNTS]):
        for owner_id in owners:
            try:
                made += plan_digest(owner_id=owner_id, now=now)
            except Exception:
                log.exception("the digest of an account could not be planned", extra={"owner": str(owner_id)})
                broken.add(owner_id)
    return made


def plan_digest(*, owner_id: UUID, now: dt.datetime) -> int:
    """Make one account's digest if it is due, and note when the next is."""
    try:
        with account_lock(owner_id):
            plan = AccountPlan(User.objects.get(pk=owner_id), now)
            row = DigestSchedule.objects.filter(owner_id=owner_id, next_due_at__lte=now).first()
            if row is None:
                return 0
            if not plan.owner.weekly_digest_enabled:
                row.delete()
                return 0
            is_wanted = not is_missed(row.next_due_at, now) and plan.owner.is_active
            if is_wanted and (planned := _planned(plan, row.next_on, row.next_due_at)):
                plan.add(planned)
            today = plan.calendar.today(now)
            # From today on: after weeks of silence one digest comes, not one for each week.
            following = digest_day(max(today, row.next_on + dt.timedelta(1)), plan.owner.weekly_digest_weekday)
            _store(plan.owner, following, plan.calendar)
            return plan.write()
    except AccountGoneError:
        return 0


def digest_day(start: dt.date, weekday: int) -> dt.date:
    """The first such weekday on `start` or later; 0 is Sunday."""
    return start + dt.timedelta((weekday - start.isoweekday()) % 7)


def digest_at(plan: AccountPlan) -> Planned | None:
    """The digest of an account that is due at any moment, whatever the schedule says; None: there is none.

    A weekday that has passed was missed if the schedule waits for it, or had its digest the week before: otherwise
    nobody was waiting for it, and every other day would bring one.
    """
    owner, now = plan.owner, plan.now
    if not owner.weekly_digest_enabled:
        return None
    day = digest_day(plan.today - dt.timedelta(DAYS - 1), owner.weekly_digest_weekday)
    due_at = plan.calendar.reminder_time(day)
    if due_at is None or due_at > now or is_missed(due_at, now):
        return None
    row = DigestSchedule.objects.filter(owner=owner, next_on=day, next_due_at__lte=now).first()
    if row is None and day < plan.today and not _had_digest(owner, week_of(day) - dt.timedelta(DAYS)):
        return None
    return _planned(plan, day, row.next_due_at if row else due_at)


def week_of(day: dt.date) -> dt.date:
    """The Monday of the day's ISO week."""
    return day - dt.timedelta(day.weekday())


def _had_digest(owner: User, monday: dt.date) -> bool:
    return Delivery.objects.owned_by(owner).filter(source_id=owner.pk, occurrence_on=monday).exists()


def _planned(plan: AccountPlan, day: dt.date, due_at: dt.datetime) -> Planned | None:
    """The digest with the events from the day on which it is sent; None where there are none."""
    events = events_of(plan.owner, plan.sends_on)
    if not events:
        return None
    until = plan.sends_on + dt.timedelta(DAYS)
    content = {"from": plan.sends_on.isoformat(), "to": until.isoformat(), "events": events}
    return Planned(NoticeKind.DIGEST, plan.owner.pk, week_of(day), due_at, content)


def events_of(owner: User, start: dt.date) -> list[dict[str, Any]]:
    """What the digest of that day tells of: not of what its owner has left out."""
    events = upcoming_events(owner, start=start, days=DAYS, with_dead=False)
    answers = answers_to([owner.pk], [start + dt.timedelta(n) for n in range(DAYS + 1)])
    skipped = {key for key, answer in answers.items() if answer.state == AnswerState.SKIPPED}
    return [event for event in events if (UUID(event["id"]), dt.date.fromisoformat(event["date"])) not in skipped]


def _store(owner: User, day: dt.date, calendar: schedule.Calendar, earliest: dt.datetime | None = None) -> None:
    due_at = calendar.reminder_time(day)
    if due_at is None:
        return
    values = {"next_due_at": max(due_at, earliest) if earliest else due_at, "next_on": day}
    DigestSchedule.objects.update_or_create(owner=owner, defaults=values)
