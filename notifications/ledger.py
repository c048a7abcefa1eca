"""The ledger of deliveries: due notices of an account become Delivery rows, one per target.

Rows are written under the account's lock, in the transaction that also moves their source on to its next reminder. If
the process dies before the commit, nothing is written and the source is still due. After the commit the rows themselves
are the outbox, which the next scan reads.
"""

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.functional import cached_property

from accounts.models import User
from contacts_project.kernel.json import JsonObject
from notifications.channels import channels
from notifications.channels.interface import ChannelTarget
from notifications.models import AnswerState, Delivery, DeliveryState, ReminderAnswer
from notifications.models.deliveries import count_deliveries
from notifications.notices.notice import NoticeKind
from people.dates import schedule
from people.dates.recurrence import end_of_day

NoticeKey = tuple[UUID, dt.date, str, int | None, int]
"""Source, occurrence, kind, lead days (None: any), round."""
ExistingRows = Mapping[NoticeKey, set[tuple[str, str]]]
"""Channel and code of the deliveries that a notice already has."""
Answers = Mapping[tuple[UUID, dt.date], ReminderAnswer]
"""Answers by source and occurrence."""
NO_CHANNEL, MISSED = "no_channel", "missed"
SKIPPED, SNOOZED = AnswerState.SKIPPED.value, AnswerState.SNOOZED.value


def catch_up_window() -> dt.timedelta:
    """How late a notice may still be sent, for example after an outage."""
    return dt.timedelta(days=settings.REMINDER_CATCH_UP_DAYS)


def is_late(due_at: dt.datetime, now: dt.datetime) -> bool:
    return now - due_at > dt.timedelta(minutes=settings.REMINDER_LATE_MINUTES)


def is_missed(due_at: dt.datetime, now: dt.datetime) -> bool:
    """Whether the catch-up window is over."""
    return now - due_at > catch_up_window()


@dataclass(frozen=True)
class DueNotice:
    """A notice that is due, before it becomes one delivery per target. `round`: see Delivery.

    `is_catch_up`: an advance notice whose own day has passed. It is written only if the occurrence has had no other
    advance notice, of whatever lead days.
    """

    kind: NoticeKind
    source_id: UUID
    occurrence_on: dt.date
    due_at: dt.datetime
    content: Mapping[str, Any]
    person_id: UUID | None = None
    lead_days: int = 0
    is_catch_up: bool = False
    round: int = 0

    @property
    def key(self) -> NoticeKey:
        lead_days = None if self.is_catch_up else self.lead_days
        return self.source_id, self.occurrence_on, self.kind.value, lead_days, self.round


@dataclass
class DueNotices:
    """Collects the due notices of one account; `write` inserts their deliveries. Use it inside the account's lock.

    `targets_by_account` saves queries where the targets of several accounts were loaded together.
    """

    owner: User
    now: dt.datetime
    targets_by_account: "TargetsByAccount | None" = None
    notices: list[DueNotice] = field(default_factory=list)
    _targets: dict[NoticeKind, list[ChannelTarget]] = field(default_factory=dict)

    @cached_property
    def calendar(self) -> schedule.Calendar:
        # Not `load_calendar`, which reads the columns again: `owner` was read under the account's lock.
        return schedule.calendar_from_user(self.owner)

    @cached_property
    def today(self) -> dt.date:
        """The day of `now` in the account's time zone."""
        return self.calendar.today(self.now)

    @cached_property
    def sends_at(self) -> dt.datetime:
        """When the deliveries are first attempted: `now`, or the end of the quiet hours."""
        return self.calendar.sends_at(self.now)

    @cached_property
    def sends_on(self) -> dt.date:
        """The day of `sends_at` in the account's time zone."""
        return self.calendar.today(self.sends_at)

    @cached_property
    def expires_at(self) -> dt.datetime:
        """The end of `sends_on`: failed deliveries are retried until then."""
        return end_of_day(self.sends_on, self.calendar.zone)

    def targets(self, kind: NoticeKind) -> list[ChannelTarget]:
        """The account's targets that are on for this kind."""
        if kind not in self._targets:
            found = (self.targets_by_account or load_targets([self.owner])).for_owner(self.owner, kind)
            self._targets[kind] = [target for target in found if target.off_reason is None]
        return self._targets[kind]

    def add(self, notice: DueNotice) -> None:
        self.notices.append(notice)

    def write(self) -> "StateCounts":
        """`write_deliveries` for this account alone."""
        return write_deliveries([self])

    def new_rows(self, existing: ExistingRows, answers: Answers) -> list[Delivery]:
        """The rows of all notices that have none yet: one per target, or a single skipped row with the reason."""
        return [row for notice in self.notices if self._is_new(notice, existing) for row in self._rows(notice, answers)]

    def _is_new(self, notice: DueNotice, existing: ExistingRows) -> bool:
        found = existing.get(notice.key)
        # A run for an earlier time (`--now`) may still send what a later one has recorded as missed.
        return not found or (found == {("", MISSED)} and not is_missed(notice.due_at, self.now))

    def _rows(self, notice: DueNotice, answers: Answers) -> Iterable[Delivery]:
        targets = self.targets(notice.kind)
        reason = _answered_reason(notice, answers.get((notice.source_id, notice.occurrence_on)))
        if not reason and is_missed(notice.due_at, self.now):
            reason = MISSED
        elif not reason and not targets:
            reason = NO_CHANNEL
        if reason:
            yield self._row(notice, state=DeliveryState.SKIPPED, code=reason, ended_at=self.now)
            return
        for target in targets:
            yield self._row(
                notice,
                channel=target.channel,
                target_key=target.key,
                label=target.label,
                next_try_at=self.sends_at,
            )

    def _row(self, notice: DueNotice, **fields: object) -> Delivery:
        due_at = self.calendar.sends_at(notice.due_at)
        late = is_late(due_at, self.sends_at)
        return Delivery(
            owner=self.owner,
            kind=notice.kind,
            source_id=notice.source_id,
            person_id=notice.person_id,
            occurrence_on=notice.occurrence_on,
            lead_days=notice.lead_days,
            round=notice.round,
            content={
                **notice.content,
                **day_dependent_content(self.sends_on, notice.kind, notice.occurrence_on, late=late),
            },
            late=late,
            due_at=due_at,
            planned_at=self.now,
            expires_at=self.expires_at,
            **fields,
        )


def _answered_reason(notice: DueNotice, answer: ReminderAnswer | None) -> str | None:
    """Why the account's answer to the occurrence makes the notice irrelevant; None if it does not."""
    if answer is None:
        return None
    if answer.state == AnswerState.SKIPPED:
        return SKIPPED
    # The answer was given to this very notice. Its delivery may be unknown here, if the answer came with an import.
    was_answered = notice.round < answer.round and answer.matches(notice.kind, notice.lead_days)
    return SNOOZED if was_answered else None


StateCounts = Counter[DeliveryState]
"""How many deliveries were written, by their state: to be sent, or skipped at once."""


def write_deliveries(accounts: Sequence[DueNotices]) -> StateCounts:
    """Insert the deliveries of all notices that have none yet. Must run under the accounts' locks."""
    # Read under the lock: of two scans at the same moment, the second sees the rows of the first.
    existing = _load_existing_rows(accounts)
    days = {notice.occurrence_on for account in accounts for notice in account.notices}
    answers = load_answers([account.owner.pk for account in accounts], days)
    rows = [row for account in accounts for row in account.new_rows(existing, answers)]
    Delivery.objects.bulk_create(rows, batch_size=200)
    # After the commit, so that what is rolled back is not counted.
    transaction.on_commit(lambda: _count_written(rows), robust=True)
    return Counter(DeliveryState(row.state) for row in rows)


def _load_existing_rows(accounts: Sequence[DueNotices]) -> ExistingRows:
    """The deliveries of the notices' sources. Each is entered under its own lead days and under None."""
    sources = {notice.source_id for account in accounts for notice in account.notices}
    rows = Delivery.unscoped.filter(owner_id__in=[account.owner.pk for account in accounts], source_id__in=sources)
    existing: dict[NoticeKey, set[tuple[str, str]]] = defaultdict(set)
    columns = ("source_id", "occurrence_on", "kind", "lead_days", "round", "channel", "code")
    for source_id, occurrence_on, kind, lead_days, round_, channel, code in rows.values_list(*columns):
        for key in (lead_days, None):
            existing[source_id, occurrence_on, kind, key, round_].add((channel, code))
    return existing


def load_answers(owner_ids: Collection[UUID], days: Collection[dt.date]) -> Answers:
    """The accounts' answers to occurrences on these days."""
    rows = ReminderAnswer.unscoped.filter(owner_id__in=owner_ids, occurrence_on__in=days)
    return {row.key: row for row in rows}


def _count_written(rows: Iterable[Delivery]) -> None:
    for (channel, state), number in Counter((row.channel, row.state) for row in rows).items():
        count_deliveries(channel, state, number)


def day_dependent_content(today: dt.date, kind: NoticeKind, occurrence_on: dt.date, *, late: bool) -> JsonObject:
    """The part of a notice's content that depends on the day of the first attempt."""
    days = {} if kind is NoticeKind.DIGEST else {"daysUntil": (occurrence_on - today).days}
    return {**days, "late": late}


@dataclass(frozen=True)
class TargetsByAccount:
    """The targets of several accounts, by channel and account id."""

    by_channel: Mapping[str, Mapping[UUID, list[ChannelTarget]]]

    def for_owner(self, owner: User, kind: NoticeKind) -> Iterator[ChannelTarget]:
        """The targets of one account that take this kind, including those that are off.

        Switching off reminders by e-mail does not switch off the digest, which has a setting of its own.
        """
        for name, found in self.by_channel.items():
            if kind not in channels()[name].kinds:
                continue
            for target in found[owner.pk]:
                is_digest_mail = kind is NoticeKind.DIGEST and target.off_reason == "email_disabled"
                yield ChannelTarget(target.channel, target.key, target.label) if is_digest_mail else target


def load_targets(owners: Collection[User], names: Collection[str] | None = None) -> TargetsByAccount:
    """All targets of the accounts (in the channels `names`), including those that are off."""
    chosen = [channel for channel in channels().values() if names is None or channel.name in names]
    return TargetsByAccount({channel.name: channel.targets_by_owner(owners) for channel in chosen})


def targets_of(owner: User, kind: NoticeKind, name: str | None = None) -> Iterator[ChannelTarget]:
    """All targets of the account (in the channel `name`) that take this kind, including those that are off."""
    return load_targets([owner], None if name is None else [name]).for_owner(owner, kind)


_PURGE_BATCH_SIZE = 1000


def history_start(now: dt.datetime) -> dt.datetime:
    """The time from which on deliveries are kept."""
    return now - dt.timedelta(days=settings.DELIVERY_HISTORY_DAYS)


def in_history(now: dt.datetime) -> Q:
    """The condition for deliveries that are kept. A delivery of a backfill counts from when it was created."""
    since = history_start(now)
    return Q(planned_at__gte=since) | Q(created_at__gte=since)


def purge_history(*, now: dt.datetime) -> int:
    """Delete deliveries from before the history, in batches; returns how many.

    Also deletes skip answers to occurrences from before it, of which nothing is sent any more.
    """
    removed = 0
    since = history_start(now)
    # Not `~in_history(now)`: SQLite does not use the index for a negated OR.
    old = Delivery.unscoped.filter(planned_at__lt=since, created_at__lt=since).order_by("planned_at")
    # Short transactions, so that others can write in between.
    while ids := list(old.values_list("pk", flat=True)[:_PURGE_BATCH_SIZE]):
        removed += Delivery.unscoped.filter(pk__in=ids).delete()[0]
    ReminderAnswer.unscoped.filter(state=AnswerState.SKIPPED, occurrence_on__lt=since.date()).delete()
    return removed
