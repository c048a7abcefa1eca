"""The common part of the channels of notification destinations: their rows, and the count of failures."""

import datetime as dt
from collections.abc import Collection, Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.db import transaction

from accounts.models import User
from contacts_project.kernel.ids import parse_id
from contacts_project.kernel.outbound import Code
from notifications.channels.interface import Channel, Outcome, Target, TargetMissingError
from notifications.disabled_destinations import send_disabled_notices
from notifications.models.destinations import Destination, DestinationType
from notifications.notices.notice import Notice


class EndpointChannel(Channel):
    """A channel whose targets are Destination rows of one type."""

    type: ClassVar[DestinationType]

    def deliver_to(self, destination: Destination, notice: Notice) -> None:
        """Send to one destination; returns when it has confirmed. Raises OutboundError."""
        raise NotImplementedError

    def targets(self, owner: User) -> list[Target]:
        """The account's destinations of this type, oldest first."""
        return self.targets_by_owner([owner])[owner.pk]

    def targets_by_owner(self, owners: Collection[User]) -> dict[UUID, list[Target]]:
        by_id = {owner.pk: owner for owner in owners}
        found: dict[UUID, list[Target]] = {owner_id: [] for owner_id in by_id}
        for row in Destination.unscoped.filter(owner_id__in=by_id, type=self.type).order_by("id"):
            off_reason = _off_reason(row, by_id[row.owner_id])
            found[row.owner_id].append(Target(self.name, str(row.id), row.label, off_reason=off_reason, row=row))
        return found

    def deliver(self, key: str, notice: Notice, row: Any = None) -> None:
        """Send to the destination with the id `key`."""
        row_id, rows = parse_id(key), Destination.objects.active_rows
        destination = row or rows.instance(owner_id=notice.owner.pk, row_ids=[row_id] if row_id else [])
        if destination is None or destination.type != self.type:
            raise TargetMissingError(key)
        self.deliver_to(destination, notice)

    def record_outcome(self, key: str, outcome: Outcome, *, owner: User, now: dt.datetime) -> None:
        """Count the outcome. If a failure switches the destination off, the owner is notified by mail."""
        if outcome.is_ok:
            # One UPDATE without a lock: a success sets fixed values and does not depend on the row.
            self._record(key, owner, {"consecutive_failures": 0, "last_success_at": now})
            return
        rows = Destination.objects.owned_by(owner).of_type(self.type)
        # Locked, because the new count depends on the old one. SQLite ignores the lock, but has one writer at a time.
        destination = rows.select_for_update().with_id(key).first()
        if destination is None:
            return
        counts = not outcome.is_internal and outcome.code != Code.HTTP_429
        destination.record_failure(outcome.code or Code.UNKNOWN, now, counts=counts, is_gone=outcome.is_gone)
        self._record(key, owner, {column: getattr(destination, column) for column in Destination.OUTCOME_COLUMNS})
        if destination.disable_notice_due:
            # If the mail fails, or the process dies before this runs, the next due scan sends it.
            transaction.on_commit(send_disabled_notices, robust=True)

    def note_failure(self, key: str, code: str, *, owner: User, now: dt.datetime) -> None:
        """Show the failure to the owner, from the first failed attempt on. It does not count yet."""
        self._record(key, owner, {"last_failure_at": now, "last_failure_code": code})

    def _record(self, key: str, owner: User, values: Mapping[str, Any]) -> None:
        """By Django's base manager, so that the UPDATE sets no revision: otherwise every notice would raise that of the
        account. A destination that was switched off is marked as changed just before the mail about it is sent
        (notifications.disabled_destinations).
        """
        if row_id := parse_id(key):
            Destination._base_manager.filter(owner=owner, pk=row_id, type=self.type.value).update(**values)


def _off_reason(destination: Destination, owner: User) -> str | None:
    if destination.needs_pro and owner.effective_plan != "PRO":
        return "plan"
    if destination.is_on:
        return None
    return "auto_disabled" if destination.auto_disabled_at else "disabled"
