"""Leases: one process at a time works on a row, and who was killed with one keeps nobody waiting.

A table whose rows are worked on takes `Leased` into its model and `LeaseQuerySet` into its queryset (with its own
migration for the three columns). A worker then does

    claim = rows.filter(pk=key, next_try_at__lte=now).take(LEASE, clock=now, tries=F("tries") + 1)
    if claim is None:
        return  # not due, or somebody else has it
    ours = rows.filter(pk=key).under(claim)
    ...
    ours.renew(LEASE, clock=now)        # the heartbeat of long work; False: lost, stop
    ours.update(...)                    # a write while the row is ours; 0 rows: lost, leave it
    ours.release(state=DONE)            # the end, and what it leaves behind, in one UPDATE

The claim is the fencing token: whoever takes the row over has another, so that what a worker writes after it was
thought dead changes nothing. Inside a transaction `renew` also locks the row until the end, so that nobody takes it
over between the check and the writes that stand on it. A row is free again when its lease has run out, and at once when
the process that holds it is seen to be gone: killed, on this machine. Leases follow the machine's clock (`clock`).
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
    """A row that one process at a time works on: the one whose `claim` it carries, until `held_until`."""

    held_until = models.DateTimeField(null=True, blank=True)
    holder = models.CharField(max_length=150, blank=True)
    claim = models.UUIDField(null=True, blank=True)

    class Meta:
        abstract = True

    def is_free(self, clock: dt.datetime) -> bool:
        """Whether it could be taken at `clock`, as far as this reading of it goes."""
        return self.claim is None or (self.held_until is not None and self.held_until <= clock) or is_gone(self.holder)


def held(lease: dt.timedelta, clock: dt.datetime) -> dict[str, Any]:
    """What this process writes to a row that it takes."""
    return {"held_until": clock + lease, "holder": this_process(), "claim": uuid4()}


RELEASED: Mapping[str, Any] = {"held_until": None, "holder": "", "claim": None}
"""What it writes to one that it gives back."""


class LeaseQuerySet(models.QuerySet[M, M]):
    """Rows of a Leased model."""

    def take(self, lease: dt.timedelta, *, clock: dt.datetime, **changes: Any) -> UUID | None:
        """Take the row that this finds, if it is free, and write `changes` to it; its claim, or None.

        One UPDATE, so that of any number of workers one gets it. The conditions must be on the row itself: with a join
        the ORM selects first, and PostgreSQL would not look at them again after waiting for another's claim.
        """
        taking = {**held(lease, clock), **changes}
        claim: UUID = taking["claim"]
        if self.filter(_unclaimed_or_expired(clock)).update(**taking):
            return claim
        # Asked second, since it looks at processes: most rows are simply free.
        gone = self._gone_holders(clock)
        return claim if gone and self.filter(holder__in=gone).update(**taking) else None

    def free(self, clock: dt.datetime) -> Self:
        """Those that could be taken now; for scans, which hand them out."""
        return self.filter(_unclaimed_or_expired(clock) | Q(holder__in=self._gone_holders(clock)))

    def abandoned(self, clock: dt.datetime) -> Self:
        """Those that were taken and not released, and whose lease has run out or whose holder is gone."""
        claimed = self.filter(claim__isnull=False)
        return claimed.filter(Q(held_until__lte=clock) | Q(holder__in=self._gone_holders(clock)))

    def under(self, claim: UUID | None) -> Self:
        """Those that are still held under the claim; none without one."""
        return self.none() if claim is None else self.filter(claim=claim)

    def renew(self, lease: dt.timedelta, *, clock: dt.datetime) -> bool:
        """The heartbeat: hold on for another lease. False when the row was taken over, or is gone."""
        return bool(self.update(held_until=clock + lease))

    def release(self, **changes: Any) -> int:
        """Give the rows back, writing `changes` with it; how many they were."""
        return self.update(**RELEASED, **changes)

    def _gone_holders(self, clock: dt.datetime) -> list[str]:
        """The processes that hold rows of these and were killed."""
        held = self.filter(held_until__gt=clock, claim__isnull=False)
        return [holder for holder in held.values_list("holder", flat=True).distinct() if is_gone(holder)]


def _unclaimed_or_expired(clock: dt.datetime) -> Q:
    return Q(claim=None) | Q(held_until__lte=clock)
