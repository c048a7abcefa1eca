"""The daily purge: permanently removes records and files that were deleted before the retention period.

It works in batches, each in one transaction under the account lock. If it is killed, the next run continues with the
remaining rows, and the sweep at the end removes files whose row is gone.
"""

import datetime as dt
import logging
from collections import Counter
from uuid import UUID

from django.db.models import QuerySet

from accounts.services.sessions import purge_ended_credentials
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock, account_write
from contacts_project.kernel.ownership.models import TrashModel, retention_cutoff
from contacts_project.kernel.ownership.tombstones import purge_tombstones
from people.photos.files import delete_files, sweep_files
from people.trash.registry import PurgeJob, TrashKind, purge_jobs, trash_kinds

log = logging.getLogger(__name__)

BATCH_SIZE = 200


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
