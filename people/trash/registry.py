"""Registry of the kinds of soft-deleted records, for GET /api/deleted and the daily purge.

Each app registers its kinds in AppConfig.ready(). The purge runs in the order of registration.
"""

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Q

from accounts.models import User
from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.ownership.models import TrashModel


@dataclass(frozen=True, kw_only=True)
class TrashKind:
    """One kind of record in the trash.

    `serialize(owner, rows)` returns the records of GET /api/deleted for these rows, in the same order.
    `remove(owner_id, ids)` permanently removes rows inside the caller's transaction and returns the names of files that
    no row refers to any more, which the caller deletes after commit. `condition` excludes rows that are only restored
    together with another row.
    """

    name: str
    model: type[TrashModel]
    serialize: Callable[[User, Any], list[Any]]
    remove: Callable[[UUID, Collection[UUID]], list[str]]
    condition: Q = field(default_factory=Q)

    def rows(self, owner: User, now: dt.datetime) -> Any:
        """The rows that can still be restored, the last deleted one first."""
        model: Any = self.model
        rows = model.objects.owned_by(owner).deleted().within_retention(now).filter(self.condition)
        return rows.order_by("-deleted_at", "-id")


_kinds: dict[str, TrashKind] = {}


def register_trash_kind(kind: TrashKind) -> None:
    _kinds[kind.name] = kind


def trash_kinds() -> dict[str, TrashKind]:
    """All kinds by name, as the query parameter `type` takes it."""
    return dict(_kinds)


def id_of_record(record: bytes) -> UUID:
    """The id of a record as JSON. A record is told by it, not by its place: a row may leave the trash between two
    queries."""
    return UUID(orjson.loads(record)["id"])


DeleterFinder = Callable[[User, str, Mapping[UUID, dt.datetime]], Mapping[UUID, dict[str, Any]]]
"""Of an account and the name of a kind: who deleted the rows with these ids at these times, as `deletedBy` shows it."""

_deleter_finders: list[DeleterFinder] = []


def register_deleter_finder(finder: DeleterFinder) -> None:
    """For apps through which somebody else than the owner's own clients deletes."""
    _deleter_finders.append(finder)


def find_deleters(owner: User, kind: str, deleted: Mapping[UUID, dt.datetime]) -> dict[UUID, JsonObject]:
    found: dict[UUID, dict[str, Any]] = {}
    for finder in _deleter_finders if deleted else ():
        found.update(finder(owner, kind, deleted))
    return found


@dataclass(frozen=True)
class PurgeJob:
    """Removes rows that are never in the trash, such as merge records, after the retention period.

    `owners(now)` returns the accounts with such rows; `remove(owner_id, now)` removes them and returns their number.
    """

    name: str
    owners: Callable[[dt.datetime], Collection[UUID]]
    remove: Callable[[UUID, dt.datetime], int]


_purge_jobs: dict[str, PurgeJob] = {}


def register_purge_job(job: PurgeJob) -> None:
    _purge_jobs[job.name] = job


def purge_jobs() -> tuple[PurgeJob, ...]:
    """All jobs, in the order of registration."""
    return tuple(_purge_jobs.values())
