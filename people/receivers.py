"""Signal receivers that enqueue geocoding."""

from collections.abc import Collection
from typing import Any

from django.dispatch import receiver

from accounts.signals import preferences_changed
from people.signals import addresses_enqueued
from people.tasks import geocode


@receiver(addresses_enqueued)
def geocode_new_addresses(**kwargs: Any) -> None:
    geocode.delay()


@receiver(preferences_changed)
def follow_geocoding_preference(*, fields: Collection[str], **kwargs: Any) -> None:
    if "geocoding_enabled" in fields:
        geocode.delay()
