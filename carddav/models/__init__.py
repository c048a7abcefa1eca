"""The models of the sync: connection, mappings, journal, runs, conflicts and pending imports."""

from carddav.models.connection import Connection, ImportMode, NameFormat, Pause, Provider
from carddav.models.decisions import Conflict, ConflictKind, OtherCard, OtherKind, PendingImport, Resolution
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
    Trigger,
)

__all__ = [
    "RUN_COUNTS",
    "UNSENT",
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
    "Provider",
    "Resolution",
    "Run",
    "RunAction",
    "RunChange",
    "RunState",
    "Todo",
    "Tombstone",
    "TombstoneState",
    "Trigger",
]
