"""One message at a time for work that many changes ask for: a thousand edits enqueue one task, not a thousand.

    enqueue_once(f"replan:{owner_id}", partial(replan.delay, str(owner_id)))    # after the commit of the change
    end_pending(f"replan:{owner_id}")                                           # the first thing that the task does

Whoever finds the row leaves the work to the message that is in the queue already. The task removes the row before it
reads what is to be done, so that it sees that change, and a later one enqueues the next message.
"""

import datetime as dt
from collections.abc import Callable

from django.db import models
from django.utils import timezone

# After this time a message counts as lost with its queue.
LOST_AFTER = dt.timedelta(seconds=60)
_KEPT = dt.timedelta(hours=1)


class PendingMessage(models.Model):
    """A message that is in the queue, for all that ask for it. The key names the task, and the account or record."""

    key = models.CharField(max_length=80, primary_key=True)
    enqueued_at = models.DateTimeField()


def enqueue_once(key: str, enqueue: Callable[[], object]) -> bool:
    """Call `enqueue`, unless a message for the key is in the queue; returns whether it was called."""
    now = timezone.now()
    rows = PendingMessage.objects.filter(key=key)
    # Read first: the thousandth edit writes nothing here.
    enqueued_at = rows.values_list("enqueued_at", flat=True).first()
    if enqueued_at is not None and enqueued_at > now - LOST_AFTER:
        return False
    if enqueued_at is None:
        is_ours = PendingMessage.objects.get_or_create(key=key, defaults={"enqueued_at": now})[1]
    else:
        is_ours = rows.filter(enqueued_at=enqueued_at).update(enqueued_at=now) > 0
    if is_ours:
        enqueue()
    return is_ours


def end_pending(key: str) -> None:
    """Let the next change enqueue a message again."""
    PendingMessage.objects.filter(key=key).delete()


def purge_pending(*, now: dt.datetime) -> None:
    """Delete the rows of messages that were lost for good, as those of deleted accounts."""
    PendingMessage.objects.filter(enqueued_at__lt=now - _KEPT).delete()
