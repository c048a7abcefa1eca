"""Tasks of the sync. Each may run twice or be killed: the state is in the rows."""

from functools import partial
from uuid import UUID

from celery import Task, shared_task
from django.utils import timezone

from carddav.models import RunState
from carddav.services import schedule
from carddav.services.runs import execute_run
from carddav.sync.lock import LockedError
from contacts_project.kernel.errors import MissingError
from contacts_project.kernel.pending_messages import end_pending, enqueue_once

_RETRY_SECONDS = 2
_MAX_RETRIES = 30
# Edits in quick succession are sent by one run.
_EDITS_SECONDS = 2
# How often edits are looked at again that were made during a run.
_RUNNING_SECONDS = 10


@shared_task(bind=True, max_retries=_MAX_RETRIES)
def run_sync(self: "Task[..., None]", run_id: str) -> None:
    """Execute a run; retried while another job works with the server."""
    try:
        execute_run(UUID(run_id))
    except LockedError:
        # Its mark stays: the retry is the message of this run.
        raise self.retry(countdown=_RETRY_SECONDS) from None
    except MissingError:
        pass  # the connection was removed, and its runs with it
    end_pending(f"run:{run_id}")


def enqueue_run(run_id: str) -> None:
    """Enqueue a run, unless its message is in the queue already."""
    enqueue_once(f"run:{run_id}", partial(run_sync.delay, run_id))


@shared_task
def sync_edits(owner_id: str) -> None:
    """Send edits, shortly after they were made."""
    end_pending(f"edits:{owner_id}")
    run = schedule.start_if_unsent(owner_id=UUID(owner_id), now=timezone.now())
    if run is None:
        return
    if run.state == RunState.QUEUED:
        enqueue_run(str(run.pk))
    else:  # it may have passed the people who were edited: look again when it may have ended
        enqueue_edits(UUID(owner_id), seconds=_RUNNING_SECONDS)


def enqueue_edits(owner_id: UUID, *, seconds: int = _EDITS_SECONDS) -> None:
    """Enqueue `sync_edits` in so many seconds, once for all edits that are made until then."""
    enqueue_once(f"edits:{owner_id}", partial(sync_edits.apply_async, (str(owner_id),), countdown=seconds))


@shared_task
def sweep() -> None:
    """Every minute: start due runs, and recover lost and killed ones."""
    schedule.sweep(now=timezone.now(), enqueue_due=enqueue_run)


@shared_task
def purge_history() -> None:
    """Every day: delete what is older than the history."""
    schedule.purge_history(now=timezone.now())
