"""Where addresses are: noted with the person, looked up in the background, copied back (docs/geocoding.md)."""

from people.geocoding.addresses import note_addresses

__all__ = ["note_addresses"]
