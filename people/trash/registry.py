"""Registry of the kinds of soft-deleted records, for GET /api/deleted and the daily purge.

Each app registers its kinds in AppConfig.ready(). The purge runs in the order of registration.
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
    """One kind. `answers(owner, rows)` returns the records of GET /api/deleted for these rows, in the same order;
    `record` is the import path of their serializer.

    `remove(owner_id, ids)` permanently removes rows inside the caller's transaction and returns the names of files that
    no row refers to any more, which the caller deletes after commit. `shown` excludes rows that are only restored
    together with another row.
    """

    name: str
    model: type[TrashModel]
    record: str
    answers: Callable[[User, Any], list[Any]]
    remove: Callable[[UUID, Collection[UUID]], list[str]]
    shown: Q = field(default_factory=Q)

    def rows(self, owner: User, now: dt.datetime) -> Any:
        """The rows that can still be restored, the last deleted one first."""
        model: Any = self.model
        rows = model.objects.owned_by(owner).deleted().within_retention(now).filter(self.shown)
        return rows.order_by("-deleted_at", "-id")


_kinds: dict[str, TrashKind] = {}


def register_trash_kind(kind: TrashKind) -> None:
    _kinds[kind.name] = kind


def trash_kinds() -> dict[str, TrashKind]:
    """All kinds by name, as the query parameter `type` takes it."""
    return dict(_kinds)


PurgeJob = Callable[[UUID, dt.datetime], int]


@dataclass(frozen=True)
class Expiry:
    """Other rows that are removed after the retention period, such as merge records.

    `owners(now)` returns the accounts with such rows; `remove(owner_id, now)` removes them and returns their number.
    """

    name: str
    owners: Callable[[dt.datetime], Collection[UUID]]
    remove: PurgeJob


_expiries: dict[str, Expiry] = {}


def register_expiry(expiry: Expiry) -> None:
    _expiries[expiry.name] = expiry


def expiries() -> tuple[Expiry, ...]:
    """All expiries, in the order of registration."""
    return tuple(_expiries.values())
