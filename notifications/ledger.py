"""Rows of the ledger: what is planned for an account, over which of its destinations."""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from accounts.models import User
from notifications.channels import channels
from notifications.channels.interface import Target
from notifications.delivery_metrics import count_deliveries
from notifications.models import AnswerState, Delivery, DeliveryState, ReminderAnswer
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.dates.recurrence import end_of_day

Key = tuple[UUID, dt.date, str, int | None, int]
NO_CHANNEL, MISSED = "no_channel", "missed"
SKIPPED, SNOOZED = AnswerState.SKIPPED.value, AnswerState.SNOOZED.value


def catch_up_window() -> dt.timedelta:
    """How late a run that was missed is still made up for."""
    return dt.timedelta(days=settings.REMINDER_CATCH_UP_DAYS)


def is_late(due_at: dt.datetime, now: dt.datetime) -> bool:
    return now - due_at > dt.timedelta(minutes=settings.REMINDER_LATE_MINUTES)


def is_missed(due_at: dt.datetime, now: dt.datetime) -> bool:
    """Whether it is too late to make up for it."""
    return now - due_at > catch_up_window()


@dataclass(frozen=True)
class Planned:
    """One thing that is due, before it is spread over destinations; `round` as a Delivery has it."""

    kind: NoticeKind
    source_id: UUID
    occurrence_on: dt.date
    due_at: dt.datetime
    content: Mapping[str, Any]
    person_id: UUID | None = None
    lead_days: int = 0
    is_made_up: bool = False
    """A notice whose day has passed: it is for who has had no other of this occurrence."""
    round: int = 0

    @property
    def key(self) -> Key:
        lead_days = None if self.is_made_up else self.lead_days
        return self.source_id, self.occurrence_on, self.kind.value, lead_days, self.round


@dataclass
class AccountPlan:
    """Collects what is due for one account under its lock, and writes it at the end, at most once each."""

    owner: User
    now: dt.datetime
    all_targets: "AllTargets | None" = None
    """Of this account and others, where they were read at once."""
    planned: list[Planned] = field(default_factory=list)
    _targets: dict[NoticeKind, list[Target]] = field(default_factory=dict)

    @cached_property
    def calendar(self) -> schedule.Calendar:
        # The row was read under the account's lock.
        return schedule.build_calendar(*(getattr(self.owner, column) for column in schedule.CALENDAR_COLUMNS))

    @cached_property
    def today(self) -> dt.date:
        """The account's day."""
        return self.calendar.today(self.now)

    @cached_property
    def sends_at(self) -> dt.datetime:
        """When what is planned now is sent: at once, or after the quiet hours."""
        return self.calendar.sends_at(self.now)

    @cached_property
    def sends_on(self) -> dt.date:
        """The account's day of that."""
        return self.calendar.today(self.sends_at)

    @cached_property
    def expires_at(self) -> dt.datetime:
        """Its end."""
        return end_of_day(self.sends_on, self.calendar.zone)

    def targets(self, kind: NoticeKind) -> list[Target]:
        """Where this kind goes now."""
        if kind not in self._targets:
            found = (self.all_targets or read_targets([self.owner])).of(self.owner, kind)
            self._targets[kind] = [target for target in found if target.off is None]
        return self._targets[kind]

    def add(self, planned: Planned) -> None:
        self.planned.append(planned)

    def write(self) -> int:
        """As write_plans does."""
        return write_plans([self])

    def new_rows(
        self, known: Mapping[Key, set[tuple[str, str]]], answers: Mapping[tuple[UUID, dt.date], ReminderAnswer]
    ) -> list[Delivery]:
        """The rows of what has not been planned before; of what is not wanted, after the account's `answers`, one.

        What was written down as missed may still be planned by a run for an earlier moment.
        """
        return [row for planned in self.planned if self._is_new(planned, known) for row in self._rows(planned, answers)]

    def _is_new(self, planned: Planned, known: Mapping[Key, set[tuple[str, str]]]) -> bool:
        found = known.get(planned.key)
        return not found or (found == {("", MISSED)} and not is_missed(planned.due_at, self.now))

    def _rows(self, planned: Planned, answers: Mapping[tuple[UUID, dt.date], ReminderAnswer]) -> Iterable[Delivery]:
        targets = self.targets(planned.kind)
        answer = answers.get((planned.source_id, planned.occurrence_on))
        if reason := _why_unwanted(planned, answer):
            pass
        elif is_missed(planned.due_at, self.now):
            reason = MISSED
        elif not targets:
            reason = NO_CHANNEL
        if reason:
            yield self._row(planned, state=DeliveryState.SKIPPED, code=reason, ended_at=self.now)
        for target in () if reason else targets:
            yield self._row(
                planned,
                channel=target.channel,
                target_key=target.key,
                label=target.label,
                next_try_at=self.sends_at,
            )

    def _row(self, planned: Planned, **fields: Any) -> Delivery:
        due_at = self.calendar.sends_at(planned.due_at)
        late = is_late(due_at, self.sends_at)
        return Delivery(
            owner=self.owner,
            kind=planned.kind,
            source_id=planned.source_id,
            person_id=planned.person_id,
            occurrence_on=planned.occurrence_on,
            lead_days=planned.lead_days,
            round=planned.round,
            content={
                **planned.content,
                **first_sent_content(self.sends_on, planned.kind, planned.occurrence_on, late=late),
            },
            late=late,
            due_at=due_at,
            planned_at=self.now,
            expires_at=self.expires_at,
            **fields,
        )


def _why_unwanted(planned: Planned, answer: ReminderAnswer | None) -> str | None:
    if answer is None:
        return None
    if answer.state == AnswerState.SKIPPED:
        return SKIPPED
    # It was told where the answer was given, which an import does not know.
    is_told = planned.round < answer.round and answer.is_to(planned.kind, planned.lead_days)
    return SNOOZED if is_told else None


def write_plans(plans: Sequence[AccountPlan]) -> int:
    """Insert the rows of what has not been planned before, under the locks of the accounts; returns how many."""
    # Read under the lock: of two scans the second sees the rows of the first.
    known = _known(plans)
    days = {item.occurrence_on for plan in plans for item in plan.planned}
    answers = answers_to([plan.owner.pk for plan in plans], days)
    rows = [row for plan in plans for row in plan.new_rows(known, answers)]
    Delivery.objects.bulk_create(rows, batch_size=200)
    transaction.on_commit(lambda: _count(rows), robust=True)
    return len(rows)


def _known(plans: Sequence[AccountPlan]) -> dict[Key, set[tuple[str, str]]]:
    """The rows that there are, each with its channel and code, by their own lead days and by any (None)."""
    sources = {item.source_id for plan in plans for item in plan.planned}
    rows = Delivery.unscoped.filter(owner_id__in=[plan.owner.pk for plan in plans], source_id__in=sources)
    known: dict[Key, set[tuple[str, str]]] = defaultdict(set)
    columns = ("source_id", "occurrence_on", "kind", "lead_days", "round", "channel", "code")
    for source_id, occurrence_on, kind, lead_days, round_, channel, code in rows.values_list(*columns):
        for key in (lead_days, None):
            known[source_id, occurrence_on, kind, key, round_].add((channel, code))
    return known


def answers_to(owner_ids: Collection[UUID], days: Collection[dt.date]) -> dict[tuple[UUID, dt.date], ReminderAnswer]:
    """What the accounts said to the occurrences on these days, by source and day."""
    rows = ReminderAnswer.unscoped.filter(owner_id__in=owner_ids, occurrence_on__in=days)
    return {row.key: row for row in rows}


def _count(rows: Iterable[Delivery]) -> None:
    for (channel, state), number in Counter((row.channel, row.state) for row in rows).items():
        count_deliveries(channel, state, number)


def first_sent_content(today: dt.date, kind: NoticeKind, occurrence_on: dt.date, *, late: bool) -> dict[str, Any]:
    """What a notice says of the day on which it is first sent."""
    days = {} if kind is NoticeKind.DIGEST else {"daysUntil": (occurrence_on - today).days}
    return {**days, "late": late}


@dataclass(frozen=True)
class AllTargets:
    """The destinations of some accounts, by channel and account."""

    by_channel: Mapping[str, Mapping[UUID, list[Target]]]

    def of(self, owner: User, kind: NoticeKind) -> Iterator[Target]:
        """Those of one account that take this kind.

        Switching e-mail off for reminders leaves the digest alone: it has a switch of its own.
        """
        for name, found in self.by_channel.items():
            if kind not in channels()[name].kinds:
                continue
            for target in found[owner.pk]:
                is_digest_mail = kind is NoticeKind.DIGEST and target.off == "email_disabled"
                yield Target(target.channel, target.key, target.label) if is_digest_mail else target


def read_targets(owners: Collection[User], names: Collection[str] | None = None) -> AllTargets:
    """Every destination of the accounts (over the channels `names`), those that are off too."""
    wanted = [channel for channel in channels().values() if names is None or channel.name in names]
    return AllTargets({channel.name: channel.targets_by_owner(owners) for channel in wanted})


def targets_of(owner: User, kind: NoticeKind, name: str | None = None) -> Iterator[Target]:
    """Every destination of the account (over the channel `name`) that takes this kind, those that are off too."""
    return read_targets([owner], None if name is None else [name]).of(owner, kind)
