"""The models of the sync: connection, mappings, journal, runs, conflicts and pending imports."""

from carddav.models.conflict import Conflict, ConflictKind, Resolution
from carddav.models.connection import Connection, ImportMode, NameFormat, Pause, Provider
from carddav.models.journal import JournalEntry, JournalOp, JournalState
from carddav.models.mapping import UNSENT, Mapping, MappingStatus, Todo, Tombstone, TombstoneState
from carddav.models.other_card import OtherCard, OtherKind
from carddav.models.pending_import import PendingImport
from carddav.models.run import RUN_COUNTS, Run, RunAction, RunChange, RunState, Trigger

__all__ = [
    "RUN_COUNTS",
    "UNSENT",
    "Conflict",
    "ConflictKind",
    "Connection",
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
