"""What the sync does with a contact: a pure function of what happened on both sides since they last agreed.

A dry run counts these actions; a real run carries them out. The merge of single fields is in carddav.sync.merge.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class SideState(Enum):
    """What happened to a contact on one side."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"  # local: deleted with deleteFromCardDav; remote: confirmed by a 404 or 410
    SUSPENDED = "suspended"  # local: deleted without the flag, or sync disabled
    NEW = "new"
    ABSENT = "absent"


class Action(Enum):
    """What the sync does."""

    NOTHING = "nothing"
    MERGE = "merge"  # copy the edits of each side to the other; a field edited on both is a conflict
    STORE_CARD = "store_card"  # store the card's new text, for when the person is synced again
    TRASH = "trash"  # soft-delete the person
    CONFLICT_REMOTE_DELETED = "conflict_remote_deleted"
    CONFLICT_LOCAL_DELETED = "conflict_local_deleted"
    DELETE = "delete"  # delete the card
    FORGET = "forget"  # both are gone: remove the mapping
    CREATE = "create"  # write a new card
    LINK_OR_IMPORT = "link_or_import"  # link to a person, import, or store as a pending import


#: The key is the local and the remote state.
_PLAN: Mapping[tuple[SideState, SideState], Action] = {
    (SideState.UNCHANGED, SideState.UNCHANGED): Action.NOTHING,
    (SideState.CHANGED, SideState.UNCHANGED): Action.MERGE,
    (SideState.UNCHANGED, SideState.CHANGED): Action.MERGE,
    (SideState.CHANGED, SideState.CHANGED): Action.MERGE,
    (SideState.UNCHANGED, SideState.GONE): Action.TRASH,
    (SideState.CHANGED, SideState.GONE): Action.CONFLICT_REMOTE_DELETED,
    (SideState.GONE, SideState.UNCHANGED): Action.DELETE,
    (SideState.GONE, SideState.CHANGED): Action.CONFLICT_LOCAL_DELETED,
    (SideState.GONE, SideState.GONE): Action.FORGET,
    (SideState.SUSPENDED, SideState.UNCHANGED): Action.NOTHING,
    (SideState.SUSPENDED, SideState.CHANGED): Action.STORE_CARD,
    (SideState.SUSPENDED, SideState.GONE): Action.FORGET,
    (SideState.NEW, SideState.ABSENT): Action.CREATE,
    (SideState.ABSENT, SideState.NEW): Action.LINK_OR_IMPORT,
}


def plan_contact(local: SideState, remote: SideState, *, is_guarded: bool = False) -> Action:
    """The action for a contact. `is_guarded`: the deletion guard turns remote deletions into conflicts."""
    action = _PLAN[local, remote]
    return Action.CONFLICT_REMOTE_DELETED if action is Action.TRASH and is_guarded else action


#: More contacts than these may not vanish in one run: a broken or reset server would otherwise empty the account.
_GUARD_MIN_CONTACTS, _GUARD_SHARE = 5, 0.2


@dataclass(frozen=True, slots=True)
class BookState:
    """The input of the deletion guard. `known` counts all cards that were there before, contacts or not, `gone` those
    that are missing now."""

    mapped: int
    mapped_gone: int
    known: int
    gone: int
    is_same_book: bool = True


def is_deletion_guarded(book: BookState) -> bool:
    """Whether too many cards are gone to delete anything here: more than max(5, 20 %), all of them, or it is another
    book."""
    if not book.mapped_gone:
        return False
    too_many = book.mapped_gone > max(_GUARD_MIN_CONTACTS, book.mapped * _GUARD_SHARE)
    return too_many or book.gone >= book.known or not book.is_same_book
