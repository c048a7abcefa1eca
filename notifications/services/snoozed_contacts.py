"""Contact reminders that are put off elsewhere than in a reminder, such as in the task list of a phone."""

import datetime as dt

from django.db.models import Max

from accounts.models import User
from notifications.models import AnswerState, Delivery, ReminderAnswer
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.models import Person


def snooze_contact(owner: User, person: Person, day: dt.date | None, now: dt.datetime) -> None:
    """See people.extensions.Snoozer. The reminder that is put off is the next one, or, if that is later than the
    day, the one before; those between it and the day are skipped."""
    calendar = schedule.load_calendar(owner)
    today, answers = calendar.today(now), ReminderAnswer.objects.owned_by(owner).filter(person=person)
    pending_round = answers.aggregate(last=Max("round"))["last"] or 0
    answers.filter(state=AnswerState.SNOOZED).delete()
    # A reminder of a day to come cannot have been answered: it is skipped only since it was put off beyond it.
    answers.filter(state=AnswerState.SKIPPED, occurrence_on__gt=today).delete()
    rule, due_at = schedule.contact_rule(person, calendar), calendar.reminder_time(day) if day else None
    if day is None or rule is None or due_at is None or due_at <= now:
        return
    pending = person.contact_due_on
    occurrence = pending if pending and pending <= day else rule.before(pending or day)
    if occurrence is None:
        return
    deliveries = Delivery.objects.owned_by(owner).filter(source_id=person.pk, occurrence_on=occurrence)
    sent_round = deliveries.aggregate(last=Max("round"))["last"] or 0
    values = {"kind": NoticeKind.CONTACT, "lead_days": 0}
    again = {"state": AnswerState.SNOOZED, "round": max(pending_round, sent_round) + 1}
    again |= {"again_on": day, "due_at": due_at}
    answers.update_or_create(owner=owner, person=person, occurrence_on=occurrence, defaults={**values, **again})
    skipped = {**values, "state": AnswerState.SKIPPED, "round": 0, "again_on": None, "due_at": None}
    days = list(rule.between(occurrence + dt.timedelta(1), day))
    known = answers.filter(occurrence_on__in=days)
    new = sorted(set(days).difference(known.values_list("occurrence_on", flat=True)))
    known.update(**skipped)
    ReminderAnswer.objects.bulk_create(
        ReminderAnswer(owner=owner, person=person, occurrence_on=other, **skipped) for other in new
    )
