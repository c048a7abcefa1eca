"""Tasks of reminders. Each may run twice, or be killed: the rows are what counts."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from notifications.disabled_destinations import send_disabled_notices
from notifications.models.heartbeat import note_beat
from notifications.services import dispatch
from notifications.services.history import purge_history


@shared_task
def due_scan() -> None:
    """Each minute: plan what is due, hand out what waits, tell owners what could not be told before."""
    now = timezone.now()
    dispatch.scan(now=now)
    dispatch.enqueue_due(send.delay)
    send_disabled_notices()
    note_beat("due_scan", now)


@shared_task
def send(delivery_id: str) -> None:
    """Try one delivery, and those that waited for its host."""
    dispatch.send_queued(delivery_id=UUID(delivery_id), enqueue=send.delay)


@shared_task
def replan(owner_id: str) -> None:
    """An account's clock changed."""
    dispatch.replan(owner_id=UUID(owner_id), now=timezone.now())


@shared_task
def purge_deliveries() -> None:
    """Each day: forget what is older than the history."""
    purge_history(now=timezone.now())
