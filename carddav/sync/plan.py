"""The sync plan: what is done with each contact, decided from what both sides did since they last agreed. Pure.

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
class SyncPlan:
    """What is done with one contact, or with new cards. `here` is what it changes here; `there` what it changes on the
    server if that takes the card, which a run counts from the replies. `mapping_id`: the contact is planned as a whole,
    its card is sent because of this action."""

    action: "SyncAction"
    here: Counts = NOTHING_COUNTED
    there: Callable[[], Counts] = lambda: NOTHING_COUNTED
    mapping_id: UUID | None = None


class SideState(Enum):
    """What happened to a contact on one side."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    GONE = "gone"  # local: deleted with deleteFromCardDav; remote: confirmed by a 404 or 410
    SUSPENDED = "suspended"  # local: deleted without the flag, or sync disabled


class SyncAction(Enum):
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
_SYNC_PLAN: Mapping[tuple[SideState, SideState], SyncAction] = {
    (SideState.UNCHANGED, SideState.UNCHANGED): SyncAction.NOTHING,
    (SideState.CHANGED, SideState.UNCHANGED): SyncAction.MERGE,
    (SideState.UNCHANGED, SideState.CHANGED): SyncAction.MERGE,
    (SideState.CHANGED, SideState.CHANGED): SyncAction.MERGE,
    (SideState.UNCHANGED, SideState.GONE): SyncAction.TRASH,
    (SideState.CHANGED, SideState.GONE): SyncAction.CONFLICT_REMOTE_DELETED,
    (SideState.GONE, SideState.UNCHANGED): SyncAction.DELETE,
    (SideState.GONE, SideState.CHANGED): SyncAction.CONFLICT_LOCAL_DELETED,
    (SideState.GONE, SideState.GONE): SyncAction.FORGET,
    (SideState.SUSPENDED, SideState.UNCHANGED): SyncAction.NOTHING,
    (SideState.SUSPENDED, SideState.CHANGED): SyncAction.STORE_CARD,
    (SideState.SUSPENDED, SideState.GONE): SyncAction.FORGET,
}


def plan_contact(local: SideState, remote: SideState, *, is_guarded: bool = False) -> SyncAction:
    """The action for a contact. `is_guarded`: the deletion guard turns remote deletions into conflicts."""
    action = _SYNC_PLAN[local, remote]
    return SyncAction.CONFLICT_REMOTE_DELETED if action is SyncAction.TRASH and is_guarded else action


def plan_new_cards(number: int, quota: int | None) -> SyncPlan:
    """Import as many new cards as the account's price plan has room for; `quota` is None without a limit."""
    return SyncPlan(SyncAction.IMPORT, here=Counts(imported=number if quota is None else min(number, max(0, quota))))


def plan_remote_deletion(
    local: SideState, *, is_guarded: bool, is_held: bool, has_conflict: bool, mapping_id: UUID
) -> SyncPlan:
    """The action for a contact whose card is gone. `is_held`: the user has been asked already."""
    action = plan_contact(local, SideState.GONE, is_guarded=is_guarded)
    if action is SyncAction.CONFLICT_REMOTE_DELETED and is_held:
        action = SyncAction.NOTHING
    is_new_conflict = action is SyncAction.CONFLICT_REMOTE_DELETED and not has_conflict
    here = Counts(updated_locally=action is SyncAction.TRASH, conflicts=is_new_conflict)
    return SyncPlan(action, here=here, mapping_id=mapping_id)


def plan_card_deletion(remote: SideState, *, can_ask: bool) -> SyncPlan:
    """The action for the card of a person who was deleted with deleteFromCardDav. `can_ask`: the contact has no open
    conflict yet."""
    action = plan_contact(SideState.GONE, remote)
    if action is SyncAction.DELETE:
        return SyncPlan(action, there=lambda: Counts(updated_remotely=1))
    return SyncPlan(action, here=Counts(conflicts=action is SyncAction.CONFLICT_LOCAL_DELETED and can_ask))


#: More contacts than these may not vanish in one run: a broken or reset server would otherwise empty the account.
_GUARD_MIN_CONTACTS, _GUARD_SHARE = 5, 0.2


@dataclass(frozen=True, slots=True)
class BookState:
    """The input of the deletion guard: how many contacts and how many cards, contacts or not, there were at the last
    sync, and how many of each are missing now."""

    contacts: int
    missing_contacts: int
    cards: int
    missing_cards: int
    is_same_book: bool = True


def is_deletion_guarded(book: BookState) -> bool:
    """Whether too many cards are gone to delete anything here: more than max(5, 20 %), all of them, or it is another
    book."""
    if not book.missing_contacts:
        return False
    too_many = book.missing_contacts > max(_GUARD_MIN_CONTACTS, book.contacts * _GUARD_SHARE)
    return too_many or book.missing_cards >= book.cards or not book.is_same_book
