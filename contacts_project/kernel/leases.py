"""Leases: only one process at a time works on a row, and the row of a killed process is soon free again.

A table whose rows are worked on uses `Leased` in its model and `LeaseQuerySet` in its queryset (plus a migration for
the three columns). A worker then does

    claim = rows.filter(pk=key, next_try_at__lte=now).acquire(LEASE, clock=now, tries=F("tries") + 1)
    if claim is None:
        return  # not due, or another worker has it
    ours = rows.filter(pk=key).held_by(claim)
    ...
    ours.renew(LEASE, clock=now)        # the heartbeat of long work; False: the lease is lost, stop
    ours.update(...)                    # a write while the row is ours; 0 rows: the lease is lost, stop
    ours.release(state=DONE)            # end of the lease and result of the work, in one UPDATE

The claim is the fencing token: each new holder gets another one, so a worker that was presumed dead and writes again
changes nothing. Inside a transaction `renew` also locks the row until the end, so the row cannot be taken over between
this check and the writes that rely on it. A row is free when its lease has expired, or at once when its holder is known
to be gone: killed on this machine. Leases follow the machine's clock (`clock`).
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

from django.db import models
from django.db.models import Q

from contacts_project.kernel.processes import is_gone, this_process

M = TypeVar("M", bound=models.Model)


class Leased(models.Model):
    """A row that one process at a time works on: the process that wrote `claim`, until `held_until`."""

    held_until = models.DateTimeField(null=True, blank=True)
    holder = models.CharField(max_length=150, blank=True)
    claim = models.UUIDField(null=True, blank=True)

    class Meta:
        abstract = True

    def is_free(self, clock: dt.datetime) -> bool:
        """Whether the row could be acquired at `clock`. Only a hint: the instance may be out of date."""
        return self.claim is None or (self.held_until is not None and self.held_until <= clock) or is_gone(self.holder)


def lease_values(lease: dt.timedelta, clock: dt.datetime) -> dict[str, Any]:
    """The column values of a new lease of this process, with a new claim."""
    return {"held_until": clock + lease, "holder": this_process(), "claim": uuid4()}


RELEASED_VALUES: Mapping[str, Any] = {"held_until": None, "holder": "", "claim": None}
"""The column values of a row that nobody holds."""


class LeaseQuerySet(models.QuerySet[M, M]):
    """Rows of a Leased model."""

    def acquire(self, lease: dt.timedelta, *, clock: dt.datetime, **changes: object) -> UUID | None:
        """Acquire the row of this queryset if it is free, and write `changes` to it. Returns the claim, or None.

        It is one UPDATE, so only one of any number of workers succeeds. Filter by columns of the row itself: with a
        join the ORM runs a SELECT first, and PostgreSQL would not recheck the conditions after waiting for the lock.
        """
        values = {**lease_values(lease, clock), **changes}
        claim: UUID = values["claim"]
        if self.filter(_unclaimed_or_expired(clock)).update(**values):
            return claim
        # Only as a second attempt, since it inspects processes: most rows are simply free.
        gone = self._gone_holders(clock)
        return claim if gone and self.filter(holder__in=gone).update(**values) else None

    def free(self, clock: dt.datetime) -> Self:
        """The rows that can be acquired now; for scans that hand out work."""
        return self.filter(_unclaimed_or_expired(clock) | Q(holder__in=self._gone_holders(clock)))

    def abandoned(self, clock: dt.datetime) -> Self:
        """The rows that were acquired, never released, and whose lease has expired or whose holder is gone."""
        claimed = self.filter(claim__isnull=False)
        return claimed.filter(Q(held_until__lte=clock) | Q(holder__in=self._gone_holders(clock)))

    def held_by(self, claim: UUID | None) -> Self:
        """The rows still held under this claim; no rows for None."""
        # Without the check, `claim=None` would match every row that nobody holds.
        return self.none() if claim is None else self.filter(claim=claim)

    def renew(self, lease: dt.timedelta, *, clock: dt.datetime) -> bool:
        """Extend the lease from now. Returns False when the row was taken over or deleted."""
        return bool(self.update(held_until=clock + lease))

    def release(self, **changes: object) -> int:
        """Release the rows and write `changes` in the same UPDATE. Returns the number of rows."""
        return self.update(**RELEASED_VALUES, **changes)

    def _gone_holders(self, clock: dt.datetime) -> list[str]:
        """The processes that hold rows of this queryset and have been killed."""
        held = self.filter(held_until__gt=clock, claim__isnull=False)
        return [holder for holder in held.values_list("holder", flat=True).distinct() if is_gone(holder)]


# Made here, not by `as_manager` in each model: mypy finds its type again when it checks only what has changed.
LeaseManager = models.Manager.from_queryset(LeaseQuerySet)


def _unclaimed_or_expired(clock: dt.datetime) -> Q:
    return Q(claim=None) | Q(held_until__lte=clock)
