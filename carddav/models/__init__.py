"""The models of the sync: connection, mappings, journal, runs, conflicts and pending imports."""

from carddav.models.connection import CardDavProvider, Connection, ImportMode, NameFormat, Pause
from carddav.models.decisions import Conflict, ConflictKind, OtherCard, OtherKind, PendingImport
from carddav.models.mapping import UNSENT, HeldBack, Mapping, MappingStatus, Todo, Tombstone, TombstoneState
from carddav.models.run import (
    RUN_COUNTS,
    JournalEntry,
    JournalOp,
    JournalState,
    Run,
    RunAction,
    RunChange,
    RunState,
    RunTrigger,
)

__all__ = [
    "RUN_COUNTS",
    "UNSENT",
    "CardDavProvider",
    "Conflict",
    "ConflictKind",
    "Connection",
    "HeldBack",
    "ImportMode",
    "JournalEntry",
    "JournalOp",
    "JournalState",
    "Mapping",
    "MappingStatus",
    "NameFormat",
    "OtherCard",
    "OtherKind",
    "Pause",
    "PendingImport",
    "Run",
    "RunAction",
    "RunChange",
    "RunState",
    "RunTrigger",
    "Todo",
    "Tombstone",
    "TombstoneState",
]
