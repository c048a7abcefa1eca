"""Runs that nobody asked for: due ones, edits, and what a killed worker left behind."""

import datetime as dt
import logging
import time
from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.models import User
from carddav.models import (
    Conflict,
    Connection,
    JournalEntry,
    JournalState,
    Pause,
    Run,
    RunState,
    Tombstone,
    TombstoneState,
    Trigger,
)
from carddav.services.receipts import Receipt
from carddav.services.runs import end_interrupted, execute_run, start_run
from carddav.sync.lock import LockedError
from carddav.sync.unsent import has_unsent
from contacts_project.kernel.errors import MissingError

log = logging.getLogger(__name__)

#: Between two accounts of a cron run (open points, section 10; specification).
PAUSE_SECONDS = 0.2
#: A queued run whose task was lost is handed out again.
_LOST_AFTER = dt.timedelta(seconds=30)
_HISTORY = dt.timedelta(days=90)

EnqueueRun = Callable[[str], object]


def sync_due(*, now: dt.datetime, trigger: Trigger) -> Receipt:
    """Sync everybody who is due, one after the other; who is paused or not due is skipped."""
    receipt = Receipt()
    enabled = Connection.unscoped.rows().filter(sync_enabled=True)
    due = list(enabled.due(now).order_by("next_sync_at", "pk").values_list("owner", flat=True))
    receipt.skipped = enabled.count() - len(due)
    for number, owner in enumerate(User.objects.in_bulk(due).values()):
        if number:
            time.sleep(PAUSE_SECONDS)
        _sync_one(owner, trigger, receipt)
    return receipt


def _sync_one(owner: User, trigger: Trigger, receipt: Receipt) -> None:
    try:
        run = execute_run(start_run(owner=owner, trigger=trigger, now=timezone.now()).pk)
    except (LockedError, MissingError):
        receipt.skipped += 1  # it is being synced this moment, or was removed
        return
    except Exception:  # one account's fault is not to keep the others waiting
        log.exception("a sync failed", extra={"owner": str(owner.pk)})
        receipt.fail("A sync failed for a reason that is in the log.")
        return
    if run.code:
        receipt.fail(run.error)
    else:
        receipt.done += 1


def sync_account(*, owner: User, trigger: Trigger) -> Run:
    """Sync one account now, due or not. Raises MissingError, LockedError."""
    return execute_run(start_run(owner=owner, trigger=trigger, now=timezone.now()).pk)


def start_if_unsent(*, owner_id: UUID, now: dt.datetime) -> Run | None:
    """A run for what was edited here, where the account syncs by itself and there is something to be sent."""
    rows = Connection.objects.owned_by(owner_id).filter(sync_enabled=True, needs_confirmation=False)
    connection = rows.exclude(pause=Pause.AUTH).first()
    if connection is None or not has_unsent(connection):
        return None
    if connection.not_before is not None and connection.not_before > now:
        return None
    return start_run(owner=connection.owner, trigger=Trigger.AUTOMATIC, now=now)


def sweep(*, now: dt.datetime, enqueue_due: EnqueueRun) -> None:
    """Start the runs that are due, hand out those whose task was lost, end those whose process was killed."""
    open_runs = Run.unscoped.rows().exclude(state=RunState.ENDED).select_related("connection")
    for run in open_runs:
        if run.state == RunState.QUEUED and run.started_at <= now - _LOST_AFTER:
            enqueue_due(str(run.pk))
        elif run.state == RunState.RUNNING:
            end_interrupted(run, now)
    for connection in Connection.unscoped.rows().due(now).select_related("owner"):
        try:
            run = start_run(owner=connection.owner, trigger=Trigger.AUTOMATIC, now=now)
        except MissingError:  # removed meanwhile
            continue
        if run.state == RunState.QUEUED:
            enqueue_due(str(run.pk))


def purge_history(*, now: dt.datetime) -> None:
    """Forget what is over and older than the history: runs, decided conflicts, writes, cards that are gone.

    Whoever was deleted so long ago cannot be restored, so that nobody asks for the card again.
    """
    cutoff = now - _HISTORY
    Run.unscoped.rows().filter(state=RunState.ENDED, started_at__lt=cutoff).delete()
    Conflict.unscoped.rows().filter(resolved_at__lt=cutoff).delete()
    JournalEntry.unscoped.rows().filter(state=JournalState.DONE, updated_at__lt=cutoff).delete()
    Tombstone.unscoped.rows().filter(state=TombstoneState.GONE, updated_at__lt=cutoff).delete()


def is_cron(secret: str) -> bool:
    """Whether it is the operator's CRON_SECRET."""
    return bool(settings.CRON_SECRET) and constant_time_compare(secret, settings.CRON_SECRET)
