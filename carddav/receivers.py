"""Receivers of changes of people: they only enqueue a run that sends the changes."""

from uuid import UUID

from django.dispatch import receiver
from django.utils import timezone

from carddav.models import Connection
from carddav.sync.context import IS_SYNC_WRITE
from carddav.tasks import enqueue_edits
from people.signals import people_changed, people_deleted


@receiver([people_changed, people_deleted])
def send_edits(*, owner_id: UUID, **kwargs: object) -> None:
    """Enqueue a run. If the task is lost, the minute sweep finds the connection by next_sync_at."""
    if IS_SYNC_WRITE.get():
        return
    rows = Connection.objects.owned_by(owner_id).filter(sync_enabled=True)
    if rows.update(next_sync_at=timezone.now()):
        enqueue_edits(owner_id)
