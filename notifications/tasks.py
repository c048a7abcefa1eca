"""Celery tasks. Each may be lost, run twice or be killed: all state is in the rows, which the due scan reads."""

from functools import partial
from uuid import UUID

from celery import shared_task
from django.dispatch import receiver
from django.utils import timezone

from accounts.models import User
from accounts.signals import preferences_changed
from contacts_project.kernel.pending_messages import end_pending, enqueue_once
from notifications.channels.endpoint import send_disabled_notices
from notifications.ledger import purge_history
from notifications.models.deliveries import record_heartbeat
from notifications.services import dispatch

_SCAN_INTERVAL_SECONDS = 60


@shared_task
def due_scan() -> None:
    """Run each minute: write the deliveries of what is due, and enqueue what is waiting."""
    now = timezone.now()
    dispatch.scan(now=now, enqueue_accounts=_enqueue_accounts)
    dispatch.enqueue_due(send.delay)
    # Not here: the scan must not wait for the mail server. Expires when the next scan enqueues it again.
    send_disabled_mails.apply_async(expires=_SCAN_INTERVAL_SECONDS)
    # Last, so that a scan that fails does not count as one.
    record_heartbeat("due_scan", now)


def _enqueue_accounts(*owner_ids: str) -> None:
    # Expires when the next scan enqueues the accounts again: a slow queue does not fill up with the same work.
    plan.apply_async(owner_ids, expires=_SCAN_INTERVAL_SECONDS)


@shared_task
def plan(*owner_ids: str) -> None:
    """Scan one batch of accounts."""
    owners = [UUID(text) for text in owner_ids]
    dispatch.scan_accounts_batch(owner_ids=owners, now=timezone.now(), enqueue=send.delay)


@shared_task
def send(*delivery_ids: str) -> None:
    """Send one batch of deliveries, and those of the backlog whose host has room again."""
    dispatch.send_queued(delivery_ids=[UUID(text) for text in delivery_ids], enqueue=send.delay)


@shared_task
def send_disabled_mails() -> None:
    """Send the mails about destinations that were switched off for failing."""
    send_disabled_notices()


@shared_task
def replan(owner_id: str) -> None:
    """Recompute an account's due times after a change of its settings."""
    end_pending(f"replan:{owner_id}")
    dispatch.reschedule(owner_id=UUID(owner_id), now=timezone.now())


def enqueue_replan(owner_id: UUID) -> None:
    """Enqueue it once for all changes that are made before it begins."""
    enqueue_once(f"replan:{owner_id}", partial(replan.delay, str(owner_id)))


@shared_task
def purge_deliveries() -> None:
    """Run each day: remove deliveries older than the history."""
    purge_history(now=timezone.now())


@receiver(preferences_changed, sender=User)
def reschedule_reminders(user_id: UUID, **kwargs: object) -> None:
    """Reschedule after a change of zone or reminder hour. If the task is lost, the due scan finds the mark."""
    if User.objects.filter(pk=user_id, reminders_stale=True).exists():
        enqueue_replan(user_id)
