"""What is to be done with a contact: a pure function of what happened on both sides since they last agreed.

A dry run counts what this says; a real one does it. What MERGE does field by field is in carddav.sync.merge.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """What happened to a contact on one side."""

    SAME = "same"
    CHANGED = "changed"
    GONE = "gone"  # here: deleted with deleteFromCardDav; there: confirmed by a 404 or 410
    SUSPENDED = "suspended"  # here: in the trash without that, not to be synced, or waiting for a decision
    NEW = "new"
    ABSENT = "absent"


class Action(Enum):
    """What the sync does."""

    NOTHING = "nothing"
    MERGE = "merge"  # each side's edits go to the other; the same field edited on both is a conflict
    NOTE = "note"  # keep what the card says for later
    TRASH = "trash"  # soft-delete the person
    CONFLICT_REMOTE_DELETED = "conflict_remote_deleted"
    CONFLICT_LOCAL_DELETED = "conflict_local_deleted"
    DELETE = "delete"  # delete the card
    FORGET = "forget"  # both are gone
    CREATE = "create"  # write a new card
    TAKE = "take"  # link, import or keep as a pending import


#: By what happened here and there.
_PLAN: Mapping[tuple[Side, Side], Action] = {
    (Side.SAME, Side.SAME): Action.NOTHING,
    (Side.CHANGED, Side.SAME): Action.MERGE,
    (Side.SAME, Side.CHANGED): Action.MERGE,
    (Side.CHANGED, Side.CHANGED): Action.MERGE,
    (Side.SAME, Side.GONE): Action.TRASH,
    (Side.CHANGED, Side.GONE): Action.CONFLICT_REMOTE_DELETED,
    (Side.GONE, Side.SAME): Action.DELETE,
    (Side.GONE, Side.CHANGED): Action.CONFLICT_LOCAL_DELETED,
    (Side.GONE, Side.GONE): Action.FORGET,
    (Side.SUSPENDED, Side.SAME): Action.NOTHING,
    (Side.SUSPENDED, Side.CHANGED): Action.NOTE,
    (Side.SUSPENDED, Side.GONE): Action.FORGET,
    (Side.NEW, Side.ABSENT): Action.CREATE,
    (Side.ABSENT, Side.NEW): Action.TAKE,
}


def plan_contact(local: Side, remote: Side, *, is_guarded: bool = False) -> Action:
    """`is_guarded`: the deletion guard holds back what vanished on the server."""
    action = _PLAN[local, remote]
    return Action.CONFLICT_REMOTE_DELETED if action is Action.TRASH and is_guarded else action


@dataclass(frozen=True, slots=True)
class BookState:
    """What the guard looks at. `known` are all cards that were there, contacts or not, `gone` those that are not."""

    mapped: int
    mapped_gone: int
    known: int
    gone: int
    is_same_book: bool = True


def is_guarded(book: BookState) -> bool:
    """Whether so much vanished that nothing is deleted here: more than max(5, 20 %), everything, or another book."""
    if not book.mapped_gone:
        return False
    too_many = book.mapped_gone > max(5, book.mapped * 0.2)
    return too_many or book.gone >= book.known or not book.is_same_book
