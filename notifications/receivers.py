"""Receivers of the signals of lower apps. They only enqueue."""

from uuid import UUID

from django.dispatch import receiver

from accounts.models import User
from accounts.signals import preferences_changed
from notifications.tasks import enqueue_replan


@receiver(preferences_changed, sender=User)
def replan_reminders(user_id: UUID, **kwargs: object) -> None:
    """Replan after a change of zone or reminder hour. If the task is lost, the due scan finds the mark."""
    if User.objects.filter(pk=user_id, reminders_stale=True).exists():
        enqueue_replan(user_id)
