"""The service as a CardDAV and CalDAV server: people and dates for phones, desks and mail programs (docs/dav.md)."""
