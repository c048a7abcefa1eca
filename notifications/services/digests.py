"""The weekly digest: when it is due, and its content. It is sent once per ISO week, and only if it has events."""

import datetime as dt
import logging
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from notifications.ledger import DueNotice, DueNotices, StateCounts, is_missed, load_answers
from notifications.models import AnswerState, Delivery, DigestSchedule
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.dates.upcoming import UpcomingEvents, upcoming_events

log = logging.getLogger(__name__)

DIGEST_DAYS = 7
# A digest is stored once for each target, and is read by people.
MAX_DIGEST_EVENTS = 200
_ACCOUNTS_PER_QUERY = 200


def schedule_digest(owner: User, *, now: dt.datetime) -> None:
    """Store when the account's next digest is due: today if its hour has passed. Must be called under its lock.

    A digest that is due already keeps its time, so that it is not lost when settings change.
    """
    if not owner.weekly_digest_enabled:
        DigestSchedule.objects.filter(owner=owner).delete()
        return
    if DigestSchedule.objects.filter(owner=owner, next_due_at__lte=now).exists():
        return
    calendar = schedule.load_calendar(owner)
    _store_schedule(owner, digest_day(calendar.today(now), owner.weekly_digest_weekday), calendar, earliest=now)


def scan_digests(*, now: dt.datetime) -> StateCounts:
    """Write every digest that is due. Safe to run anywhere, and twice."""
    written, broken = StateCounts(), set[UUID]()
    due = DigestSchedule.objects.filter(next_due_at__lte=now).order_by("next_due_at")
    while owners := list(due.exclude(owner_id__in=broken).values_list("owner_id", flat=True)[:_ACCOUNTS_PER_QUERY]):
        for owner_id in owners:
            try:
                written += scan_digest(owner_id=owner_id, now=now)
            except Exception:
                log.exception("the digest of an account could not be planned", extra={"owner": str(owner_id)})
                broken.add(owner_id)
    return written


def scan_digest(*, owner_id: UUID, now: dt.datetime) -> StateCounts:
    """Write one account's digest if it is due, and store when the next one is due, in one transaction.

    If the process dies before the commit, the digest is still due.
    """
    try:
        with account_lock(owner_id):
            notices = DueNotices(User.objects.get(pk=owner_id), now)
            # Due is checked again under the lock: another scan may have written the digest since it was found.
            row = DigestSchedule.objects.filter(owner_id=owner_id, next_due_at__lte=now).first()
            if row is None:
                return StateCounts()
            # The digest was switched off, and `schedule_digest` has not run since.
            if not notices.owner.weekly_digest_enabled:
                row.delete()
                return StateCounts()
            is_relevant = not is_missed(row.next_due_at, now) and notices.owner.is_active
            if is_relevant and (notice := _digest_notice(notices, row.next_on, row.next_due_at)):
                notices.add(notice)
            today = notices.calendar.today(now)
            # From today on: after an outage of weeks there is one digest, not one for each week.
            next_day = digest_day(max(today, row.next_on + dt.timedelta(1)), notices.owner.weekly_digest_weekday)
            _store_schedule(notices.owner, next_day, notices.calendar)
            return notices.write()
    except AccountGoneError:
        return StateCounts()


def digest_day(start: dt.date, weekday: int) -> dt.date:
    """The first such weekday on `start` or later; 0 is Sunday."""
    return start + dt.timedelta((weekday - start.isoweekday()) % 7)


def digest_at(notices: DueNotices) -> DueNotice | None:
    """The digest that is due at `notices.now` by the account's settings, not its schedule; None if there is none.

    A weekday in the past counts as missed only if the schedule is waiting for it, or the week before had a digest.
    Otherwise nobody expected a digest then, and a backfill of every day would send one.
    """
    owner, now = notices.owner, notices.now
    if not owner.weekly_digest_enabled:
        return None
    day = digest_day(notices.today - dt.timedelta(DIGEST_DAYS - 1), owner.weekly_digest_weekday)
    due_at = notices.calendar.reminder_time(day)
    if due_at is None or due_at > now or is_missed(due_at, now):
        return None
    row = DigestSchedule.objects.filter(owner=owner, next_on=day, next_due_at__lte=now).first()
    if row is None and day < notices.today:
        week_before = week_of(day) - dt.timedelta(DIGEST_DAYS)
        if not Delivery.objects.owned_by(owner).filter(source_id=owner.pk, occurrence_on=week_before).exists():
            return None
    return _digest_notice(notices, day, row.next_due_at if row else due_at)


def week_of(day: dt.date) -> dt.date:
    """The Monday of the day's ISO week."""
    return day - dt.timedelta(day.weekday())


def _digest_notice(notices: DueNotices, day: dt.date, due_at: dt.datetime) -> DueNotice | None:
    """The digest with the events from the day on which it is sent; None if there are none."""
    found = digest_events(notices.owner, notices.sends_on)
    if not found.events:
        return None
    until = notices.sends_on + dt.timedelta(DIGEST_DAYS)
    content = {
        "from": notices.sends_on.isoformat(),
        "to": until.isoformat(),
        "events": found.events,
        "hasMore": found.has_more,
    }
    return DueNotice(NoticeKind.DIGEST, notices.owner.pk, week_of(day), due_at, content)


def digest_events(owner: User, start: dt.date) -> UpcomingEvents:
    """The events of a digest that is sent on `start`, without occurrences that the account has skipped."""
    answers = load_answers([owner.pk], [start + dt.timedelta(n) for n in range(DIGEST_DAYS + 1)])
    skipped = {key for key, answer in answers.items() if answer.state == AnswerState.SKIPPED}
    return upcoming_events(
        owner, start=start, days=DIGEST_DAYS, limit=MAX_DIGEST_EVENTS, with_deceased=False, skipped=skipped
    )


def _store_schedule(
    owner: User, day: dt.date, calendar: schedule.Calendar, earliest: dt.datetime | None = None
) -> None:
    due_at = calendar.reminder_time(day)
    if due_at is None:
        return
    values = {"next_due_at": max(due_at, earliest) if earliest else due_at, "next_on": day}
    DigestSchedule.objects.update_or_create(owner=owner, defaults=values)
