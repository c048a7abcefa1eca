"""Tasks of reminders. Each may run twice, or be killed: the rows are what counts."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from notifications.disabled_destinations import send_disabled_notices
from notifications.models.heartbeat import note_beat
from notifications.services import dispatch
from notifications.services.history import purge_history

_SCANNED_EVERY = 60


@shared_task
def due_scan() -> None:
    """Each minute: plan what is due, hand out what waits, tell owners what could not be told before."""
    now = timezone.now()
    dispatch.scan(now=now, share=_share)
    dispatch.enqueue_due(send.delay)
    send_disabled_notices()
    note_beat("due_scan", now)


def _share(*owner_ids: str) -> None:
    # Should it wait for longer, the next scan has handed it out again.
    plan.apply_async(owner_ids, expires=_SCANNED_EVERY)


@shared_task
def plan(*owner_ids: str) -> None:
    """Plan what is due of some accounts of many."""
    owners = [UUID(text) for text in owner_ids]
    dispatch.plan_portion(owner_ids=owners, now=timezone.now(), enqueue=send.delay)


@shared_task
def send(*delivery_ids: str) -> None:
    """Try some deliveries, and those that waited for their host."""
    dispatch.send_queued(delivery_ids=[UUID(text) for text in delivery_ids], enqueue=send.delay)


@shared_task
def replan(owner_id: str) -> None:
    """An account's clock changed."""
    dispatch.replan(owner_id=UUID(owner_id), now=timezone.now())


@shared_task
def purge_deliveries() -> None:
    """Each day: forget what is older than the history."""
    purge_history(now=timezone.now())
