"""The trash: the kinds of soft-deleted records, for GET /api/deleted and the daily purge.

Each app registers its kinds in AppConfig.ready(). The purge runs in the order of registration, in batches, each in one
transaction under the account lock. If it is killed, the next run continues with the remaining rows, and the sweep at
the end removes files whose row is gone.
"""

import datetime as dt
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from django.db.models import Exists, OuterRef, Q, QuerySet
from orjson import Fragment

from accounts.models import User
from accounts.services.sessions import purge_ended_credentials
from contacts_project.kernel.json import JsonObject, dumps, format_timestamp
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock, account_write
from contacts_project.kernel.ownership.models import TrashModel, purge_tombstones, retention_cutoff
from people.merging.merge import merges_of_deleted
from people.models import (
    CustomFieldTemplate,
    Group,
    ImportantDate,
    ImportedRecord,
    ImportReceipt,
    Interaction,
    MergeRecord,
    Participation,
    Person,
)
from people.photos.files import delete_files, sweep_files
from people.projection.lists import deleted_people
from people.projection.records import deleted_dates, serialize_groups, serialize_interactions, serialize_template
from people.services.custom_fields import remove_templates
from people.services.groups import remove_groups
from people.services.important_dates import remove_dates
from people.services.interactions import remove_interactions
from people.services.people import remove_deleted_people

log = logging.getLogger(__name__)

BATCH_SIZE = 200


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

    @classmethod
    def of_model(cls, name: str, model: type[Any]) -> "PurgeJob":
        """Removes all rows of a table whose creation is longer ago than the retention period."""

        def owners(now: dt.datetime) -> list[UUID]:
            old = model.unscoped.rows().filter(created_at__lt=retention_cutoff(now))
            return list(old.order_by("owner_id").values_list("owner_id", flat=True).distinct())

        def remove(owner_id: UUID, now: dt.datetime) -> int:
            count: int = model.objects.owned_by(owner_id).filter(created_at__lt=retention_cutoff(now)).delete()[0]
            return count

        return cls(name, owners, remove)


_purge_jobs: dict[str, PurgeJob] = {}


def register_purge_job(job: PurgeJob) -> None:
    _purge_jobs[job.name] = job


def purge_jobs() -> tuple[PurgeJob, ...]:
    """All jobs, in the order of registration."""
    return tuple(_purge_jobs.values())


def purge_deleted(*, now: dt.datetime) -> dict[str, int]:
    """Remove what was deleted before the retention period.

    Returns the number of rows by kind, without those removed by cascade, and of stray files.
    """
    removed: Counter[str] = Counter()
    for kind in trash_kinds().values():
        expired = kind.model._default_manager.filter(deleted_at__lt=retention_cutoff(now))
        owners = list(expired.order_by("owner_id").values_list("owner_id", flat=True).distinct())
        removed[kind.name] = sum(_purge_account(kind, expired.filter(owner_id=key), key) for key in owners)
    for job in purge_jobs():
        removed[job.name] = sum(_run_job(job, owner_id, now) for owner_id in job.owners(now))
    removed["ended credentials"] = purge_ended_credentials(now=now)
    removed["tombstones"] = purge_tombstones(now=now)
    removed["files"] = sweep_files(now=now)
    log.info("purged %s", dict(removed))
    return dict(removed)


def _purge_account(kind: TrashKind, expired: QuerySet[TrashModel], owner_id: UUID) -> int:
    keys, count = list(expired.values_list("pk", flat=True)), 0
    for start in range(0, len(keys), BATCH_SIZE):
        try:
            with account_write(owner_id):
                # Read again under the lock, because a row may have been restored meanwhile.
                ids = list(expired.filter(pk__in=keys[start : start + BATCH_SIZE]).values_list("pk", flat=True))
                delete_files(kind.remove(owner_id, ids))
        except AccountGoneError:
            break
        count += len(ids)
    return count


def _run_job(job: PurgeJob, owner_id: UUID, now: dt.datetime) -> int:
    try:
        with account_lock(owner_id):
            return job.remove(owner_id, now)
    except AccountGoneError:
        return 0


def _serialize_people(owner: User, rows: QuerySet[Person]) -> list[Fragment]:
    """The people with the id of the merge that moved them to the trash, if one did."""
    deleted = {key: format_timestamp(at) for key, at in rows.values_list("pk", "deleted_at")}
    merges = merges_of_deleted(owner, deleted)
    records = [dumps(person) for person in deleted_people(owner, rows)]
    # The people are finished JSON objects: the field is put before their last brace.
    return [
        Fragment(record[:-1] + b"," + dumps({"mergeId": merges.get(id_of_record(record))})[1:]) for record in records
    ]


_ACTIVE_PARTICIPATIONS = Participation.unscoped.rows().filter(interaction=OuterRef("pk"), person__deleted_at=None)
_KINDS = (
    TrashKind(
        name="people",
        model=Person,
        serialize=_serialize_people,
        remove=remove_deleted_people,
    ),
    TrashKind(
        name="importantDates",
        model=ImportantDate,
        serialize=deleted_dates,
        remove=remove_dates,
        condition=Q(person__deleted_at=None),
    ),
    TrashKind(
        name="interactions",
        model=Interaction,
        serialize=serialize_interactions,
        remove=remove_interactions,
        condition=Q(Exists(_ACTIVE_PARTICIPATIONS)),
    ),
    TrashKind(
        name="groups",
        model=Group,
        serialize=lambda _, rows: serialize_groups(rows),
        remove=remove_groups,
    ),
    TrashKind(
        name="customFieldTemplates",
        model=CustomFieldTemplate,
        serialize=lambda _, rows: list(map(serialize_template, rows)),
        remove=remove_templates,
    ),
)


def register_kinds() -> None:
    """Called once, from AppConfig.ready()."""
    for kind in _KINDS:
        register_trash_kind(kind)
    # What only undo needs: a merge or an import can be undone for the retention period.
    register_purge_job(PurgeJob.of_model("merges", MergeRecord))
    register_purge_job(PurgeJob.of_model("imports", ImportedRecord))
    register_purge_job(PurgeJob.of_model("receipts of imports", ImportReceipt))
