"""Automatic runs: due ones, those for edits, and those that a killed worker has left behind."""

import datetime as dt
import logging
import time
from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.db.models import Case, When
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
    RunTrigger,
    Tombstone,
    TombstoneState,
)
from carddav.services.runs import end_interrupted, execute_run, start_due_run, start_run
from carddav.sync.context import JobReport
from carddav.sync.lock import LockedError
from carddav.sync.push_plan import has_unsent
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.texts import define_text

_FAILED = define_text("sync_failed", "A sync failed for a reason that is in the log.")

log = logging.getLogger(__name__)

#: Seconds between two accounts of a cron run.
ACCOUNT_PAUSE_SECONDS = 0.2
#: A run that has been queued for longer is enqueued again: its task was lost.
_LOST_TASK_AFTER = dt.timedelta(seconds=30)
_HISTORY_RETENTION = dt.timedelta(days=90)

EnqueueRun = Callable[[str], object]


def sync_due(*, now: dt.datetime, trigger: RunTrigger) -> JobReport:
    """Sync all accounts that are due, one after the other; those that are paused or not due are skipped.

    Those whose server took too long the last time come last: such a sync may take as long as a sync may.
    """
    report = JobReport()
    enabled = Connection.unscoped.rows().filter(sync_enabled=True)
    took_too_long = Case(When(last_error_code="timeout", then=1), default=0)
    in_order = enabled.due(now).order_by(took_too_long, "next_sync_at", "pk")
    due = list(in_order.values_list("owner", flat=True))
    report.skipped = enabled.count() - len(due)
    owners = User.objects.in_bulk(due)
    for number, owner in enumerate(owners[key] for key in due if key in owners):
        if number:
            time.sleep(ACCOUNT_PAUSE_SECONDS)
        _sync_one(owner, trigger, report)
    return report


def _sync_one(owner: User, trigger: RunTrigger, report: JobReport) -> None:
    try:
        started = start_due_run(owner=owner, trigger=trigger, now=timezone.now())
        if started is None:  # another job has synced it meanwhile, or the connection was removed
            report.skipped += 1
            return
        run = execute_run(started.pk)
    except (LockedError, MissingError):
        report.skipped += 1  # its sync is running, or the connection was removed
        return
    except Exception:  # an error of one account must not stop the others
        log.exception("a sync failed", extra={"owner": str(owner.pk)})
        report.add_error(_FAILED)
        return
    if run.code:
        report.add_error(run.error)
    else:
        report.done += 1


def sync_account(*, owner: User, trigger: RunTrigger) -> Run:
    """Sync one account now, due or not. Raises MissingError, LockedError."""
    return execute_run(start_run(owner=owner, trigger=trigger, now=timezone.now()).pk)


def start_if_unsent(*, owner_id: UUID, now: dt.datetime) -> Run | None:
    """A run for local edits, if the account syncs automatically and something is to be sent."""
    rows = Connection.objects.owned_by(owner_id).filter(sync_enabled=True, needs_confirmation=False)
    connection = rows.exclude(pause=Pause.AUTH).first()
    if connection is None or not has_unsent(connection):
        return None
    if connection.not_before is not None and connection.not_before > now:
        return None
    return start_run(owner=connection.owner, trigger=RunTrigger.AUTOMATIC, now=now)


def sweep(*, now: dt.datetime, enqueue_due: EnqueueRun) -> None:
    """Start due runs, enqueue runs whose task was lost, end runs whose process was killed."""
    open_runs = Run.unscoped.rows().exclude(state=RunState.ENDED).select_related("connection")
    for run in open_runs:
        if run.state == RunState.QUEUED and run.started_at <= now - _LOST_TASK_AFTER:
            enqueue_due(str(run.pk))
        elif run.state == RunState.RUNNING:
            end_interrupted(run, now)
    for connection in Connection.unscoped.rows().due(now).select_related("owner"):
        run = start_due_run(owner=connection.owner, trigger=RunTrigger.AUTOMATIC, now=now)
        if run is not None and run.state == RunState.QUEUED:
            enqueue_due(str(run.pk))


def purge_history(*, now: dt.datetime) -> None:
    """Delete ended runs, resolved conflicts, finished journal entries and tombstones of vanished cards after 90 days.

    A person deleted so long ago cannot be restored, so that the tombstone is not needed any more.
    """
    cutoff = now - _HISTORY_RETENTION
    Run.unscoped.rows().filter(state=RunState.ENDED, started_at__lt=cutoff).delete()
    Conflict.unscoped.rows().filter(resolved_at__lt=cutoff).delete()
    JournalEntry.unscoped.rows().filter(state=JournalState.DONE, updated_at__lt=cutoff).delete()
    Tombstone.unscoped.rows().filter(state=TombstoneState.GONE, updated_at__lt=cutoff).delete()


def is_cron_secret(secret: str) -> bool:
    """Whether the value is the operator's CRON_SECRET."""
    return bool(settings.CRON_SECRET) and constant_time_compare(secret, settings.CRON_SECRET)
