"""Celery tasks of this app. Each one makes one service call and may run twice."""

from celery import shared_task
from django.utils import timezone

from people.geocoding.geocoder import Run, geocode_exclusively
from people.trash import purge


@shared_task
def purge_deleted() -> None:
    """Once a day: remove records that were deleted before the retention period."""
    purge.purge_deleted(now=timezone.now())


@shared_task
def geocode() -> None:
    """Geocode pending addresses: after new addresses, after a change of the preference, and every minute."""
    geocode_exclusively(Run(seconds=50))
