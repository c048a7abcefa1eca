"""CardDAV data in the export and import of an account (accounts.transfer)."""

from accounts.transfer.sections import exclude_table, register_section
from carddav.transfer.connections import ConnectionSection, RunSection
from carddav.transfer.decisions import ConflictSection, PendingImportSection

_RELINKED = "Found again by the first sync after the import: by UID, then by content."


def register_transfer() -> None:
    """Register the sections of this app; called once."""
    register_section(ConnectionSection())
    register_section(RunSection())
    register_section(ConflictSection())
    register_section(PendingImportSection())
    exclude_table("carddav.Mapping", _RELINKED)
    exclude_table("carddav.Tombstone", _RELINKED)
    exclude_table("carddav.OtherCard", "Cards that are no contacts: the next sync finds them again.")
    exclude_table("carddav.Todo", "Work of a sync that this instance has begun.")
    exclude_table("carddav.JournalEntry", "Writes to the server that this instance has begun.")
    exclude_table("carddav.RunChange", "Former values for an undo, which is possible on this instance only.")
