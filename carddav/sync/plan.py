"""What the sync does with each contact: decided from what is known of both sides since they last agreed. Pure.

A run decides under the account's lock and carries the decision out, a dry run decides the same and counts it
(carddav.sync.context, carddav.sync.context). The merge of single fields is in people.contents.merge.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Counts:
    """What an action adds to the counts of a `complete` event."""

    imported: int = 0
    exported: int = 0
    updated_locally: int = 0
    updated_remotely: int = 0
    conflicts: int = 0
    discovered: int = 0


NOTHING_COUNTED = Counts()


@dataclass(frozen=True, slots=True)
class Planned:
    """The action for one contact, or for new cards. `here` is what it changes here; `there` what it changes on the
    server if that takes the card, which a run counts from the replies. `mapping_id`: the contact is planned as a whole,
    its card is sent because of this action."""

    action: "Action"
    here: Counts = NOTHING_COUNTED
    there: Callable[[], Counts] = lambda: NOTHING_COUNTED
    mapping_id: UUID | None = None


class SideState(Enum):
    """What happened to a contact on one side."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"  # local: deleted with deleteFromCardDav; remote: confirmed by a 404 or 410
    SUSPENDED = "suspended"  # local: deleted without the flag, or sync disabled


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
    IMPORT = "import"  # create a person from a new card
    WAIT = "wait"  # store a new card as a pending import


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
}


def plan_contact(local: SideState, remote: SideState, *, is_guarded: bool = False) -> Action:
    """The action for a contact. `is_guarded`: the deletion guard turns remote deletions into conflicts."""
    action = _PLAN[local, remote]
    return Action.CONFLICT_REMOTE_DELETED if action is Action.TRASH and is_guarded else action


def plan_new_cards(number: int, quota: int | None) -> Planned:
    """Import as many new cards as the account's plan has room for; `quota` is None without a limit."""
    return Planned(Action.IMPORT, here=Counts(imported=number if quota is None else min(number, max(0, quota))))


def plan_remote_deletion(
    local: SideState, *, is_guarded: bool, is_held: bool, has_conflict: bool, mapping_id: UUID
) -> Planned:
    """The action for a contact whose card is gone. `is_held`: the user has been asked already."""
    action = plan_contact(local, SideState.GONE, is_guarded=is_guarded)
    if action is Action.CONFLICT_REMOTE_DELETED and is_held:
        action = Action.NOTHING
    is_new_conflict = action is Action.CONFLICT_REMOTE_DELETED and not has_conflict
    here = Counts(updated_locally=action is Action.TRASH, conflicts=is_new_conflict)
    return Planned(action, here=here, mapping_id=mapping_id)


def plan_card_deletion(remote: SideState, *, can_ask: bool) -> Planned:
    """The action for the card of a person who was deleted with deleteFromCardDav. `can_ask`: the contact has no open
    conflict yet."""
    action = plan_contact(SideState.GONE, remote)
    if action is Action.DELETE:
        return Planned(action, there=lambda: Counts(updated_remotely=1))
    return Planned(action, here=Counts(conflicts=action is Action.CONFLICT_LOCAL_DELETED and can_ask))


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
