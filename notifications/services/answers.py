"""What an account says to a reminder where it reads it: in touch, later, not this time."""

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
from notifications.notices.actions import Action, ActionKind
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.models import ImportantDate, Person
from people.services.interactions import create_interaction
from people.vocabularies import InteractionKind

_GONE = "There is nothing to remind of any more."


@dataclass(frozen=True)
class Answered:
    """What was done, in the account's language; `is_new`: by this call, not by one before."""

    message: str
    is_new: bool


def find_delivery(delivery_id: UUID) -> Delivery:
    """The delivery that a link is of. Raises MissingError where nobody is left to remind, or nothing to remind of."""
    rows = Delivery.unscoped.rows().filter(pk=delivery_id, owner__is_active=True).select_related("owner", "person")
    delivery: Delivery | None = rows.defer(*(f"person__{column}" for column in ("notes", *Person.DOCUMENTS))).first()
    if delivery is None or not _is_there(delivery):
        raise MissingError(_GONE)
    return delivery


def _is_there(delivery: Delivery) -> bool:
    if delivery.person is None or delivery.person.deleted_at is not None:
        return False
    dates = ImportantDate.objects.owned_by(delivery.owner_id).active().filter(pk=delivery.source_id)
    return delivery.kind == NoticeKind.CONTACT or dates.exists()


def has_answer(delivery: Delivery, action: Action) -> bool:
    """Whether just this was said to it."""
    return any((said["kind"], said.get("days")) == (action.kind, action.days) for said in delivery.answers)


def answer_reminder(*, delivery: Delivery, action: Action, now: dt.datetime) -> Answered:
    """Do what the account says to a reminder, once; the ledger notes it in the same write. Raises MissingError.

    What it says later to the same reminder counts in its place. Deliveries of it that still wait are sent no more.
    """
    if not has_answer(delivery, action):
        try:
            with account_write(delivery.owner):
                # Under the lock: of two at the same moment the second finds what the first has said.
                delivery = find_delivery(delivery.pk)
                if not has_answer(delivery, action):
                    return Answered(_carry_out(delivery, action, now), is_new=True)
        except AccountGoneError as error:
            raise MissingError(_GONE) from error
    with translation.override(delivery.owner.language):
        return Answered(_("This was done before. Nothing has changed."), is_new=False)


def _carry_out(delivery: Delivery, action: Action, now: dt.datetime) -> str:
    owner = delivery.owner
    again_on = None
    standing = _standing(delivery)
    if action.kind is ActionKind.CONTACTED:
        ReminderAnswer.objects.owned_by(owner).filter(state=AnswerState.SNOOZED, **standing).delete()
        data = {"person_ids": [delivery.person_id], "kind": InteractionKind.OTHER, "at": now}
        create_interaction(owner=owner, data=data, now=now)
    elif action.kind is ActionKind.SNOOZE:
        again_on = _snooze(delivery, action, now)
    else:
        values = {"state": AnswerState.SKIPPED, "round": 0, "again_on": None, "due_at": None}
        ReminderAnswer.objects.owned_by(owner).update_or_create(**standing, defaults={**values, **_to(delivery)})
    _note(delivery, action, now)
    with translation.override(owner.language):
        return _message(delivery, action, again_on)


def _standing(delivery: Delivery) -> dict[str, Any]:
    """The columns of the answer to this occurrence."""
    is_contact = delivery.kind == NoticeKind.CONTACT
    return {
        "owner": delivery.owner,
        "important_date_id": None if is_contact else delivery.source_id,
        "person_id": delivery.source_id if is_contact else None,
        "occurrence_on": delivery.occurrence_on,
    }


def _to(delivery: Delivery) -> dict[str, Any]:
    """The columns of the reminder that is answered."""
    return {"kind": delivery.kind, "lead_days": delivery.lead_days}


def _snooze(delivery: Delivery, action: Action, now: dt.datetime) -> dt.date:
    """Have the occurrence sent again on the day that is returned."""
    calendar = schedule.load_calendar(delivery.owner)
    # A run for a time to come (`--now`) has sent what counts from then on.
    day = calendar.today(max(now, delivery.first_tried_at or delivery.planned_at)) + dt.timedelta(days=action.days or 1)
    standing = _standing(delivery)
    answers = ReminderAnswer.objects.owned_by(delivery.owner)
    pending = answers.filter(**standing).values_list("round", flat=True).first() or 0
    sent = _of_occurrence(delivery).aggregate(last=Max("round"))["last"] or 0
    values = {
        "state": AnswerState.SNOOZED,
        **_to(delivery),
        "round": max(pending, sent) + 1,
        "again_on": day,
        "due_at": calendar.reminder_time(day) or now,
    }
    answers.update_or_create(**standing, defaults=values)
    return day


def _of_occurrence(delivery: Delivery) -> Any:
    rows = Delivery.objects.owned_by(delivery.owner_id)
    return rows.filter(source_id=delivery.source_id, occurrence_on=delivery.occurrence_on)


def _note(delivery: Delivery, action: Action, now: dt.datetime) -> None:
    """Write the answer to every delivery that it is about: the same reminder over other destinations too."""
    rows = _of_occurrence(delivery)
    if action.kind is not ActionKind.SKIP:
        rows = rows.filter(kind=delivery.kind)
    if action.kind is ActionKind.SNOOZE:
        rows = rows.filter(lead_days=delivery.lead_days, round=delivery.round)
    noted = list(rows.only("answers"))
    for row in noted:
        row.answers = [*row.answers, {**action.facts, "at": format_timestamp(now)}]
    update_columns(Delivery, noted, ["answers"])


def _message(delivery: Delivery, action: Action, again_on: dt.date | None) -> str:
    name = delivery.content.get("personName", "")
    if action.kind is ActionKind.CONTACTED:
        return _("Noted: you were in touch with %(name)s today.") % {"name": name}
    if again_on:
        return _("You will be reminded again on %(date)s.") % {"date": day_in_words(again_on, delivery.owner)}
    return _("You will not be reminded of this any more, this time.")


def replan_snoozed(*, owner_id: UUID, now: dt.datetime) -> None:
    """Follow the account's clock, which has changed. Under its lock."""
    owner = User.objects.get(pk=owner_id)
    calendar = schedule.calendar_from_user(owner)
    rows = list(ReminderAnswer.objects.owned_by(owner_id).filter(due_at__gt=now))
    for row in rows:
        row.due_at = calendar.reminder_time(row.again_on) if row.again_on else None
    update_columns(ReminderAnswer, rows, ["due_at"])
