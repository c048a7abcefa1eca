"""CardDAV in the document of an account (accounts.transfer)."""

from accounts.transfer.sections import leave_out, register_section
from carddav.transfer.connections import ConnectionSection
from carddav.transfer.pending_imports import PendingImportSection

_BY_UID = "Found again by the first sync after the import: by UID, then by content."


def register_transfer() -> None:
    """Register what this app carries; once."""
    register_section(ConnectionSection())
    register_section(PendingImportSection())
    leave_out("carddav.Mapping", _BY_UID)
    leave_out("carddav.Tombstone", _BY_UID)
    leave_out("carddav.Conflict", _BY_UID)
    leave_out("carddav.OtherCard", "Cards of the server that are no contacts: the next run sees them again.")
    leave_out("carddav.Todo", "What is under way between this instance and the server.")
    leave_out("carddav.JournalEntry", "As above.")
    leave_out("carddav.Run", "What this instance did; elsewhere nothing was.")
    leave_out("carddav.RunChange", "As above.")
