"""The trash: every kind of record that is soft-deleted, for GET /api/deleted and for the daily purge.

Each app registers its kinds in AppConfig.ready(); the order of registration is the order of the purge.
"""

import datetime as dt
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.ownership.models import TrashModel


@dataclass(frozen=True)
class TrashKind:
    """One kind. `answers(owner, rows)` gives the records that GET /api/deleted shows of these rows, in their order;
    `record` names the serializer that describes them.

    `remove(owner_id, ids)` deletes rows for good inside the caller's transaction and returns the names of files that
    have no owner any more; the caller deletes those after commit. `shown` leaves out what comes back with another row.
    """

    name: str
    model: type[TrashModel]
    record: str
    answers: Callable[[User, Any], list[Any]]
    remove: Callable[[UUID, Collection[UUID]], list[str]]
    shown: Q = field(default_factory=Q)

    def rows(self, owner: User, now: dt.datetime) -> Any:
        """What can still be restored, newest first."""
        model: Any = self.model
        rows = model.objects.owned_by(owner).deleted().within_retention(now).filter(self.shown)
        return rows.order_by("-deleted_at", "-id")


_kinds: dict[str, TrashKind] = {}


def register_trash_kind(kind: TrashKind) -> None:
    _kinds[kind.name] = kind


def trash_kinds() -> dict[str, TrashKind]:
    """All kinds by the name that `?type=` takes."""
    return dict(_kinds)


PurgeJob = Callable[[UUID, dt.datetime], int]


@dataclass(frozen=True)
class Expiry:
    """Rows that are no kind of the trash but end with the retention as well, such as the images of merges.

    `owners(now)` names the accounts that have such rows, `remove(owner_id, now)` removes them and says how many.
    """

    name: str
    owners: Callable[[dt.datetime], Collection[UUID]]
    remove: PurgeJob


_expiries: dict[str, Expiry] = {}


def register_expiry(expiry: Expiry) -> None:
    _expiries[expiry.name] = expiry


def expiries() -> tuple[Expiry, ...]:
    """All of them, in the order of registration."""
    return tuple(_expiries.values())
