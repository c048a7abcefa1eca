"""Tasks of the sync. Each may run twice or be killed: the state is in the rows."""

from typing import Any
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from carddav.services import schedule
from carddav.services.runs import execute_run
from carddav.sync.lock import LockedError
from contacts_project.kernel.errors import MissingError

_RETRY_SECONDS = 2
_MAX_RETRIES = 30


@shared_task(bind=True, max_retries=_MAX_RETRIES)
def run_sync(self: Any, run_id: str) -> None:
    """Execute a run; retried while another job works with the server."""
    try:
        execute_run(UUID(run_id))
    except LockedError:
        raise self.retry(countdown=_RETRY_SECONDS) from None
    except MissingError:
        pass  # the connection was removed, and its runs with it


@shared_task
def sync_edits(owner_id: str) -> None:
    """Send edits, shortly after they were made."""
    if (run := schedule.start_if_unsent(owner_id=UUID(owner_id), now=timezone.now())) is not None:
        run_sync.delay(str(run.pk))


@shared_task
def sweep() -> None:
    """Every minute: start due runs, and recover lost and killed ones."""
    schedule.sweep(now=timezone.now(), enqueue_due=run_sync.delay)


@shared_task
def purge_history() -> None:
    """Every day: delete what is older than the history."""
    schedule.purge_history(now=timezone.now())
