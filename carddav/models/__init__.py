"""CardDAV: contacts that wait to be imported. The connection and its mappings come with the sync."""

from carddav.models.pending_import import PendingImport

__all__ = ["PendingImport"]
