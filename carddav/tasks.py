"""Tasks of the sync. Each may run twice, or be killed: the rows are what counts."""

from typing import Any
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from carddav.services import schedule
from carddav.services.runs import execute_run
from carddav.sync.lock import LockedError
from contacts_project.kernel.errors import MissingError

_TRY_AGAIN_SECONDS = 2
_TRIES = 30


@shared_task(bind=True, max_retries=_TRIES)
def run_sync(self: Any, run_id: str) -> None:
    """Carry out a run. While something else works with the server it stays queued."""
    try:
        execute_run(UUID(run_id))
    except LockedError:
        raise self.retry(countdown=_TRY_AGAIN_SECONDS) from None
    except MissingError:
        pass  # the connection was removed, and its runs with it


@shared_task
def sync_edits(owner_id: str) -> None:
    """Shortly after an edit: send what is to be sent."""
    if (run := schedule.start_if_unsent(owner_id=UUID(owner_id), now=timezone.now())) is not None:
        run_sync.delay(str(run.pk))


@shared_task
def sweep() -> None:
    """Each minute: runs that are due, and those that were lost or killed."""
    schedule.sweep(now=timezone.now(), enqueue_due=run_sync.delay)


@shared_task
def purge_history() -> None:
    """Each day: forget what is older than the history."""
    schedule.purge_history(now=timezone.now())
