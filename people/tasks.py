"""Celery tasks of this app. Each one makes one service call and may run twice."""

from contextlib import suppress

from celery import shared_task
from django.utils import timezone

from contacts_project.kernel.pending_messages import end_pending, enqueue_once
from people import trash
from people.dates import next_dates
from people.geocoding import gazetteer
from people.geocoding.geocoder import GeocodingRun, geocode_exclusively

_GEOCODE = "geocode"


@shared_task
def purge_deleted() -> None:
    """Once a day: remove records that were deleted before the retention period."""
    trash.purge_deleted(now=timezone.now())


@shared_task
def geocode() -> None:
    """Geocode pending addresses: after new addresses, after a change of the preference, and every minute."""
    end_pending(_GEOCODE)
    with suppress(OSError):  # `manage.py doctor` says why
        gazetteer.unpack()  # a second or two of a worker, once, instead of those of whoever opens the map first
    geocode_exclusively(GeocodingRun(seconds=50))


@shared_task
def refresh_next_dates() -> None:
    """Every minute: the next days of people whose dates have changed, or have passed."""
    next_dates.refresh_next_dates(now=timezone.now())


def enqueue_geocode() -> None:
    """Enqueue a run, for all that asks for one before it begins."""
    enqueue_once(_GEOCODE, geocode.delay)
