"""CardDAV data in the export and import of an account (accounts.transfer)."""

from accounts.transfer.sections import leave_out, register_section
from carddav.transfer.conflicts import ConflictSection
from carddav.transfer.connections import ConnectionSection
from carddav.transfer.pending_imports import PendingImportSection
from carddav.transfer.runs import RunSection

_RELINKED = "Found again by the first sync after the import: by UID, then by content."


def register_transfer() -> None:
    """Register the sections of this app; called once."""
    register_section(ConnectionSection())
    register_section(RunSection())
    register_section(ConflictSection())
    register_section(PendingImportSection())
    leave_out("carddav.Mapping", _RELINKED)
    leave_out("carddav.Tombstone", _RELINKED)
    leave_out("carddav.OtherCard", "Cards of the server that are no contacts: the next run sees them again.")
    leave_out("carddav.Todo", "What is under way between this instance and the server.")
    leave_out("carddav.JournalEntry", "As above.")
    leave_out("carddav.RunChange", "Former fields for an undo, which this instance alone can do.")
