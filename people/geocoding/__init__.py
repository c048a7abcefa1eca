"""Geocoding: addresses are enqueued with the person, looked up in the background, copied back (docs/geocoding.md)."""

from people.geocoding.addresses import enqueue_addresses

__all__ = ["enqueue_addresses"]
