"""Background work of people. Each task makes one service call and may run twice."""

from celery import shared_task
from django.utils import timezone

from people.geocoding.geocoder import Run, geocode_exclusively
from people.trash import purge


@shared_task
def purge_deleted() -> None:
    """Once a day: what is beyond the retention goes for good."""
    purge.purge_deleted(now=timezone.now())


@shared_task
def geocode() -> None:
    """When an address is new or the preference changed, and each minute: what waits for the geocoder."""
    geocode_exclusively(Run(seconds=50))
