"""The account's answers to a reminder: was in touch, remind me later, not this time.

They are given where the reminder was read, or by putting off a task of a phone (`snooze_contact`).
"""

import datetime as dt
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.date_formats import day_in_words
from accounts.models import User
from contacts_project.kernel.errors import NO_SUCH_RECORD, FieldError, MissingError
from contacts_project.kernel.json import format_timestamp
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from contacts_project.kernel.texts import define_text
from notifications.models import AnswerState, Delivery, ReminderAnswer
from notifications.models.deliveries import DeliveryQuerySet
from notifications.notices.actions import ActionKind, ReminderAction
from notifications.notices.notice import NoticeKind
from notifications.services.account_notices import undo_deletions_of
from people.dates import schedule
from people.merging.merge import find_merged
from people.models import ImportantDate, Person
from people.services.interactions import create_interaction
from people.vocabularies import InteractionKind

_NO_REMINDER = define_text("no_reminder_on_day", "There is no reminder of this day.")


@dataclass(frozen=True)
class Occurrence:
    """One reminder of an occurrence.

    `kind`, `lead_days` and `round` are those of its delivery. `told_at`: when the account was told, for one that was
    sent by a run for a future time.
    """

    owner: User
    kind: NoticeKind
    source_id: UUID
    person_id: UUID
    person_name: str
    day: dt.date
    lead_days: int = 0
    round: int = 0
    told_at: dt.datetime | None = None

    @property
    def answer_columns(self) -> dict[str, Any]:
        """The columns that identify its ReminderAnswer."""
        is_contact = self.kind == NoticeKind.CONTACT
        return {
            "owner": self.owner,
            "important_date_id": None if is_contact else self.source_id,
            "person_id": self.source_id if is_contact else None,
            "occurrence_on": self.day,
        }

    @property
    def deliveries(self) -> DeliveryQuerySet:
        """What was planned or sent of it, over all channels, notices in advance included."""
        return Delivery.objects.owned_by(self.owner).filter(source_id=self.source_id, occurrence_on=self.day)


def occurrence_of(delivery: Delivery) -> Occurrence:
    """The occurrence that the delivery of a person's reminder is about."""
    if delivery.person_id is None:
        raise ValueError("a reminder is about a person")
    return Occurrence(
        *(delivery.owner, NoticeKind(delivery.kind), delivery.source_id, delivery.person_id),
        *(delivery.content.get("personName", ""), delivery.occurrence_on, delivery.lead_days, delivery.round),
        # A run for a future time (`--now`) may have sent the delivery.
        told_at=delivery.first_tried_at or delivery.planned_at,
    )


def find_occurrence(
    *, owner: User, source: ImportantDate | Person, day: dt.date, wait: int | None, now: dt.datetime
) -> Occurrence:
    """The occurrence of the date or of the person's contact reminder on `day`, sent or not. Raises FieldError.

    `wait`: after how many days it is wanted again. One of which nothing was sent is then as an advance notice, if that
    comes before the day itself.
    """
    calendar = schedule.load_calendar(owner)
    person = source if isinstance(source, Person) else source.person
    if person.deleted_at is not None:
        raise FieldError("dateId", NO_SUCH_RECORD)
    kind = NoticeKind.CONTACT if isinstance(source, Person) else NoticeKind.IMPORTANT_DATE
    occurrence = Occurrence(owner, kind, source.pk, person.pk, person.display_name_for(owner), day)
    told = occurrence.deliveries.order_by("-planned_at", "-id").select_related("owner").first()
    if told is not None:
        return occurrence_of(told)
    if isinstance(source, Person):
        rule = schedule.contact_rule(source, calendar)
        is_due = rule is not None and rule.on_or_after(day) == day
    else:
        is_due = schedule.is_occurrence(source, day, calendar)
    if not is_due:
        raise FieldError("on", _NO_REMINDER)
    ahead = (day - calendar.today(now)).days - (wait or 0)
    if kind is NoticeKind.CONTACT or wait is None or ahead < 0:
        return occurrence
    return Occurrence(
        *(owner, NoticeKind.IMPORTANT_DATE_LEAD, source.pk, person.pk, occurrence.person_name, day),
        lead_days=max(ahead, 1),
    )


# What an undo removes from the answers of a delivery.
_TAKEN_BACK = (ActionKind.SNOOZE, ActionKind.SKIP)
_GONE_MESSAGE = define_text("reminder_gone", "There is nothing to remind of any more.")


@dataclass(frozen=True)
class AnswerResult:
    """`message`: what was done, in the account's language. `is_new`: by this call, not by an earlier one.
    `interaction_id`: what "was in touch" has made."""

    message: str
    is_new: bool
    interaction_id: UUID | None = None


def find_delivery(delivery_id: UUID) -> Delivery:
    """The delivery with its owner and person. Raises MissingError if the account, person or date is gone or off.

    Of a person that was merged since, the person is the one into whom: the link in the mail is still about them.
    """
    rows: DeliveryQuerySet = Delivery.unscoped.rows().filter(pk=delivery_id, owner__is_active=True)
    delivery = rows.with_owner_and_person().first()
    if delivery is not None and delivery.kind == NoticeKind.DAV_DELETIONS:
        return delivery
    if delivery is None or delivery.person is None:
        raise MissingError(_GONE_MESSAGE)
    is_merged = delivery.person.deleted_at is not None
    if is_merged:
        delivery.person = find_merged(delivery.owner, delivery.person)
    if delivery.person is None or not (is_merged or _has_source(delivery)):
        raise MissingError(_GONE_MESSAGE)
    return delivery


def _has_source(delivery: Delivery) -> bool:
    """Whether the reminder can come again: a merge ends contact reminders of the secondary, and doubled dates."""
    if delivery.kind == NoticeKind.CONTACT:
        return delivery.source_id == delivery.person_id
    return ImportantDate.objects.owned_by(delivery.owner_id).active().filter(pk=delivery.source_id).exists()


def has_answer(delivery: Delivery, action: ReminderAction) -> bool:
    """Whether the account has given exactly this answer to the delivery."""
    return any((answer["kind"], answer.get("days")) == (action.kind, action.days) for answer in delivery.answers)


def answer_reminder(*, delivery: Delivery, action: ReminderAction, now: dt.datetime) -> AnswerResult:
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
                    return _apply_to_delivery(delivery, action, now)
        except AccountGoneError as error:
            raise MissingError(_GONE_MESSAGE) from error
    with translation.override(delivery.owner.language):
        return AnswerResult(_("This was done before. Nothing has changed."), is_new=False)


def answer_occurrence(
    *, owner: User, source: ImportantDate | Person, day: dt.date, action: ReminderAction, now: dt.datetime
) -> AnswerResult:
    """As `answer_reminder`, for the occurrence of a date or of a person's contact reminder, sent or not.

    Snoozing or skipping it again changes nothing; each "was in touch" is an interaction. Raises FieldError if nothing
    occurs on `day`.
    """
    with account_write(owner):
        wait = action.days if action.kind is ActionKind.SNOOZE else None
        occurrence = find_occurrence(owner=owner, source=source, day=day, wait=wait, now=now)
        return _apply_answer(occurrence, action, now)


def take_back_answer(*, owner: User, source: ImportantDate | Person, day: dt.date) -> AnswerResult:
    """Undo the snooze or skip of an occurrence: its reminders come as before. Interactions stay."""
    is_date = isinstance(source, ImportantDate)
    columns = {"important_date": source if is_date else None, "person": None if is_date else source}
    with account_write(owner):
        removed, _rows = ReminderAnswer.objects.owned_by(owner).filter(occurrence_on=day, **columns).delete()
        deliveries = Delivery.objects.owned_by(owner).filter(source_id=source.pk, occurrence_on=day)
        answered = [row for row in deliveries.only("answers") if row.answers]
        for row in answered:
            row.answers = [answer for answer in row.answers if answer["kind"] not in _TAKEN_BACK]
        deliveries.bulk_update(answered, ["answers"])
    with translation.override(owner.language):
        message = _("You will be reminded of this again.") if removed else _("Nothing has changed.")
    return AnswerResult(message, is_new=bool(removed))


def _apply_to_delivery(delivery: Delivery, action: ReminderAction, now: dt.datetime) -> AnswerResult:
    if action.kind is not ActionKind.RESTORE:
        if action.kind is not ActionKind.CONTACTED and not _has_source(delivery):
            raise MissingError(_GONE_MESSAGE)
        return _apply_answer(occurrence_of(delivery), action, now)
    restored = undo_deletions_of(delivery, now)
    rows = Delivery.objects.owned_by(delivery.owner_id).filter(source_id=delivery.source_id, kind=delivery.kind)
    _record_answer(rows.filter(occurrence_on=delivery.occurrence_on), action, now)
    with translation.override(delivery.owner.language):
        text = ngettext("%(count)d is back.", "%(count)d are back.", restored)
    return AnswerResult(text % {"count": restored}, is_new=True)


def _apply_answer(occurrence: Occurrence, action: ReminderAction, now: dt.datetime) -> AnswerResult:
    """Apply the answer, and record it with the deliveries that it applies to."""
    owner, again_on, interaction_id = occurrence.owner, None, None
    answers = ReminderAnswer.objects.owned_by(owner)
    if action.kind is ActionKind.CONTACTED:
        answers.filter(state=AnswerState.SNOOZED, **occurrence.answer_columns).delete()
        data = {"person_ids": [occurrence.person_id], "kind": InteractionKind.OTHER, "at": now}
        interaction_id = create_interaction(owner=owner, data=data, now=now).pk
    elif action.kind is ActionKind.SNOOZE:
        again_on = _snooze(occurrence, action, now)
    else:
        values = {"state": AnswerState.SKIPPED, "round": 0, "again_on": None, "due_at": None}
        values |= {"kind": occurrence.kind, "lead_days": occurrence.lead_days}
        answers.update_or_create(**occurrence.answer_columns, defaults=values)
    _record_answer(_answered_deliveries(occurrence, action), action, now)
    with translation.override(owner.language):
        return AnswerResult(_confirmation_message(occurrence, action, again_on), True, interaction_id)


def _snooze(occurrence: Occurrence, action: ReminderAction, now: dt.datetime) -> dt.date:
    """Store that the reminder is sent again; returns the day."""
    calendar = schedule.load_calendar(occurrence.owner)
    day = calendar.today(max(now, occurrence.told_at or now)) + dt.timedelta(days=action.days or 1)
    answers = ReminderAnswer.objects.owned_by(occurrence.owner)
    pending_round = answers.filter(**occurrence.answer_columns).values_list("round", flat=True).first() or 0
    sent_round = occurrence.deliveries.aggregate(last=Max("round"))["last"] or 0
    values = {
        "state": AnswerState.SNOOZED,
        "kind": occurrence.kind,
        "lead_days": occurrence.lead_days,
        # A number that no delivery of the occurrence has, else the ledger would take the reminder for sent.
        "round": max(pending_round, sent_round) + 1,
        "again_on": day,
        "due_at": calendar.reminder_time(day) or now,
    }
    answers.update_or_create(**occurrence.answer_columns, defaults=values)
    return day


def _answered_deliveries(occurrence: Occurrence, action: ReminderAction) -> DeliveryQuerySet:
    """The deliveries that the answer applies to, including those of other targets: of "not this time" all reminders of
    the occurrence, of "was in touch" those of the same kind, of a snooze this reminder alone.
    """
    rows = occurrence.deliveries
    if action.kind is not ActionKind.SKIP:
        rows = rows.filter(kind=occurrence.kind)
    if action.kind is ActionKind.SNOOZE:
        rows = rows.filter(lead_days=occurrence.lead_days, round=occurrence.round)
    return rows


def _record_answer(deliveries: DeliveryQuerySet, action: ReminderAction, now: dt.datetime) -> None:
    answered = list(deliveries.only("answers"))
    for row in answered:
        row.answers = [*row.answers, {**action.as_json, "at": format_timestamp(now)}]
    deliveries.bulk_update(answered, ["answers"])


def _confirmation_message(occurrence: Occurrence, action: ReminderAction, again_on: dt.date | None) -> str:
    if action.kind is ActionKind.CONTACTED:
        return _("Noted: you were in touch with %(name)s today.") % {"name": occurrence.person_name}
    if again_on:
        return _("You will be reminded again on %(date)s.") % {"date": day_in_words(again_on, occurrence.owner)}
    return _("You will not be reminded of this any more, this time.")


def reschedule_snoozed(*, owner_id: UUID, now: dt.datetime) -> None:
    """Recompute the due times of snoozed reminders after a change of zone or reminder hour. Must be called under the
    account's lock.
    """
    owner = User.objects.get(pk=owner_id)
    calendar = schedule.calendar_from_user(owner)
    rows = list(ReminderAnswer.objects.owned_by(owner_id).filter(due_at__gt=now))
    for row in rows:
        row.due_at = calendar.reminder_time(row.again_on) if row.again_on else None
    ReminderAnswer.objects.owned_by(owner_id).bulk_update(rows, ["due_at"])


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
    existing = answers.filter(occurrence_on__in=days)
    new = sorted(set(days).difference(existing.values_list("occurrence_on", flat=True)))
    existing.update(**skipped)
    ReminderAnswer.objects.bulk_create(
        ReminderAnswer(owner=owner, person=person, occurrence_on=other, **skipped) for other in new
    )
