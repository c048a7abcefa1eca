"""Signal receivers that enqueue geocoding."""

from collections.abc import Collection

from django.dispatch import receiver

from accounts.signals import preferences_changed
from people.signals import addresses_enqueued
from people.tasks import enqueue_geocode


@receiver(addresses_enqueued)
def geocode_new_addresses(**kwargs: object) -> None:
    enqueue_geocode()


@receiver(preferences_changed)
def follow_geocoding_preference(*, fields: Collection[str], **kwargs: object) -> None:
    if "geocoding_enabled" in fields:
        enqueue_geocode()
