"""The account's answers to a reminder, given where it was read: was in touch, remind me later, not this time."""

import datetime as dt
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.date_formats import day_in_words
from accounts.models import User
from contacts_project.kernel.api.json import format_timestamp
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from contacts_project.kernel.ownership.columns import update_columns
from notifications.models import AnswerState, Delivery, ReminderAnswer
from notifications.models.delivery import DeliveryQuerySet
from notifications.notices.actions import Action, ActionKind
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.models import ImportantDate
from people.services.interactions import create_interaction
from people.vocabularies import InteractionKind

_GONE_MESSAGE = "There is nothing to remind of any more."


@dataclass(frozen=True)
class AnswerResult:
    """`message`: what was done, in the account's language. `is_new`: by this call, not by an earlier one."""

    message: str
    is_new: bool


def find_delivery(delivery_id: UUID) -> Delivery:
    """The delivery with its owner and person. Raises MissingError if the account, person or date is gone or off."""
    rows: DeliveryQuerySet = Delivery.unscoped.rows().filter(pk=delivery_id, owner__is_active=True)
    delivery = rows.with_owner_and_person().first()
    if delivery is None or delivery.person is None or delivery.person.deleted_at is not None:
        raise MissingError(_GONE_MESSAGE)
    if delivery.kind != NoticeKind.CONTACT:
        dates = ImportantDate.objects.owned_by(delivery.owner_id).active()
        if not dates.filter(pk=delivery.source_id).exists():
            raise MissingError(_GONE_MESSAGE)
    return delivery


def has_answer(delivery: Delivery, action: Action) -> bool:
    """Whether the account has given exactly this answer to the delivery."""
    return any((answer["kind"], answer.get("days")) == (action.kind, action.days) for answer in delivery.answers)


def answer_reminder(*, delivery: Delivery, action: Action, now: dt.datetime) -> AnswerResult:
    """Carry out the account's answer to a reminder, at most once, and record it. Raises MissingError.

    A later answer to the same reminder replaces an earlier one. Deliveries of the reminder that are still waiting are
    skipped when they are due. All is one transaction: if the process dies before the commit, nothing was done.
    """
    if not has_answer(delivery, action):
        try:
            with account_write(delivery.owner):
                # Read again under the lock: of two concurrent requests, the second sees the answer of the first.
                delivery = find_delivery(delivery.pk)
                if not has_answer(delivery, action):
                    return AnswerResult(_apply_answer(delivery, action, now), is_new=True)
        except AccountGoneError as error:
            raise MissingError(_GONE_MESSAGE) from error
    with translation.override(delivery.owner.language):
        return AnswerResult(_("This was done before. Nothing has changed."), is_new=False)


def _apply_answer(delivery: Delivery, action: Action, now: dt.datetime) -> str:
    """Apply the answer; returns the message for the account."""
    owner = delivery.owner
    again_on = None
    occurrence = _occurrence_columns(delivery)
    if action.kind is ActionKind.CONTACTED:
        ReminderAnswer.objects.owned_by(owner).filter(state=AnswerState.SNOOZED, **occurrence).delete()
        data = {"person_ids": [delivery.person_id], "kind": InteractionKind.OTHER, "at": now}
        create_interaction(owner=owner, data=data, now=now)
    elif action.kind is ActionKind.SNOOZE:
        again_on = _snooze(delivery, action, now)
    else:
        values = {"state": AnswerState.SKIPPED, "round": 0, "again_on": None, "due_at": None}
        values |= {"kind": delivery.kind, "lead_days": delivery.lead_days}
        ReminderAnswer.objects.owned_by(owner).update_or_create(**occurrence, defaults=values)
    _record_answer(delivery, action, now)
    with translation.override(owner.language):
        return _confirmation_message(delivery, action, again_on)


def _occurrence_columns(delivery: Delivery) -> dict[str, Any]:
    """The columns that identify the ReminderAnswer of the delivery's occurrence."""
    is_contact = delivery.kind == NoticeKind.CONTACT
    return {
        "owner": delivery.owner,
        "important_date_id": None if is_contact else delivery.source_id,
        "person_id": delivery.source_id if is_contact else None,
        "occurrence_on": delivery.occurrence_on,
    }


def _snooze(delivery: Delivery, action: Action, now: dt.datetime) -> dt.date:
    """Store that the reminder is sent again; returns the day."""
    calendar = schedule.load_calendar(delivery.owner)
    # A run for a future time (`--now`) may have sent the delivery: the days count from that time.
    sent_at = delivery.first_tried_at or delivery.planned_at
    day = calendar.today(max(now, sent_at)) + dt.timedelta(days=action.days or 1)
    occurrence = _occurrence_columns(delivery)
    answers = ReminderAnswer.objects.owned_by(delivery.owner)
    pending_round = answers.filter(**occurrence).values_list("round", flat=True).first() or 0
    sent_round = _deliveries_of_occurrence(delivery).aggregate(last=Max("round"))["last"] or 0
    values = {
        "state": AnswerState.SNOOZED,
        "kind": delivery.kind,
        "lead_days": delivery.lead_days,
        # A number that no delivery of the occurrence has, else the ledger would take the reminder for sent.
        "round": max(pending_round, sent_round) + 1,
        "again_on": day,
        "due_at": calendar.reminder_time(day) or now,
    }
    answers.update_or_create(**occurrence, defaults=values)
    return day


def _deliveries_of_occurrence(delivery: Delivery) -> Any:
    rows = Delivery.objects.owned_by(delivery.owner_id)
    return rows.filter(source_id=delivery.source_id, occurrence_on=delivery.occurrence_on)


def _record_answer(delivery: Delivery, action: Action, now: dt.datetime) -> None:
    """Append the answer to every delivery that it applies to, including those of other targets.

    "Not this time" applies to all reminders of the occurrence, "was in touch" to those of the same kind, and a snooze
    to this reminder alone.
    """
    rows = _deliveries_of_occurrence(delivery)
    if action.kind is not ActionKind.SKIP:
        rows = rows.filter(kind=delivery.kind)
    if action.kind is ActionKind.SNOOZE:
        rows = rows.filter(lead_days=delivery.lead_days, round=delivery.round)
    answered = list(rows.only("answers"))
    for row in answered:
        row.answers = [*row.answers, {**action.as_json, "at": format_timestamp(now)}]
    update_columns(Delivery, answered, ["answers"])


def _confirmation_message(delivery: Delivery, action: Action, again_on: dt.date | None) -> str:
    name = delivery.content.get("personName", "")
    if action.kind is ActionKind.CONTACTED:
        return _("Noted: you were in touch with %(name)s today.") % {"name": name}
    if again_on:
        return _("You will be reminded again on %(date)s.") % {"date": day_in_words(again_on, delivery.owner)}
    return _("You will not be reminded of this any more, this time.")


def replan_snoozed(*, owner_id: UUID, now: dt.datetime) -> None:
    """Recompute the due times of snoozed reminders after a change of zone or reminder hour. Must be called under the
    account's lock.
    """
    owner = User.objects.get(pk=owner_id)
    calendar = schedule.calendar_from_user(owner)
    rows = list(ReminderAnswer.objects.owned_by(owner_id).filter(due_at__gt=now))
    for row in rows:
        row.due_at = calendar.reminder_time(row.again_on) if row.again_on else None
    update_columns(ReminderAnswer, rows, ["due_at"])
