"""Undoing an entry of a share's log: an edit of one's own person, which then travels like any other."""

import datetime as dt
from collections.abc import Sequence
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import DomainError, MissingError
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.texts import define_text
from people.contents.fields import Fields
from people.photos.files import upload_photo
from sharing.carry.batch import batch_of
from sharing.carry.edits import edit_person, read_sides
from sharing.carry.holds import mark_answer
from sharing.carry.neutral import write_log
from sharing.carry.pictures import read_picture
from sharing.models import CopyState, LogAction, LogEntry, SharedCopy, ShareMembership
from sharing.services.log import entries_of

_PHOTO = "photo"


class NotUndoableError(DomainError):
    """The entry is no change, or not of somebody whom the account has."""

    message = define_text("not_undoable", "This cannot be undone here.")


class ChangedSinceError(DomainError):
    """Fields of the entry, which are named, were changed again since."""

    message = define_text("changed_since", "Changed again since: %(fields)s.")

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__(self.message.format(fields=list(fields)))


def undo_entry(*, owner: User, share_id: UUID, entry_id: UUID, force: bool, now: dt.datetime) -> None:
    """Set the fields of the entry back to before it, as far as they travel from here. `force`: also those that were
    changed again since.

    Raises MissingError, NotUndoableError, ChangedSinceError. Not inside a transaction: a picture is read.
    """
    membership = ShareMembership.objects.owned_by(owner).find_share(share_id)
    entry = entries_of(membership, now).filter(pk=entry_id).first()
    if entry is None:
        raise MissingError
    if entry.action != LogAction.CHANGED or entry.before is None or entry.person_id is None:
        raise NotUndoableError
    names = [name for name in entry.fields if name not in membership.private]
    jpeg = _load_picture(owner, share_id, entry.before) if _PHOTO in names else None
    if _PHOTO in names and entry.before[_PHOTO] and jpeg is None:
        names.remove(_PHOTO)  # the picture is not kept any more
    if not names:
        raise NotUndoableError
    with account_write(owner) as write:
        membership = ShareMembership.objects.owned_by(owner).find_share(share_id)
        batch = batch_of(write, membership)
        copy = _find_copy(owner, membership, entry)
        local = read_sides(batch, copy).local
        if not force and (changed := [name for name in names if not _is_as_left(copy, entry, local, name)]):
            raise ChangedSinceError(changed)
        mark_answer(write)
        edit_person(batch, copy, {name: entry.before[name] for name in names}, jpeg)
        write_log(batch.share, batch.member, LogAction.UNDONE, copy.shared, names)


def _load_picture(owner: User, share_id: UUID, before: Fields) -> bytes | None:
    jpeg = read_picture(share_id, before[_PHOTO]) if before[_PHOTO] else None
    if jpeg is not None:
        upload_photo(owner_id=owner.pk, jpeg=jpeg)
    return jpeg


def _find_copy(owner: User, membership: ShareMembership, entry: LogEntry) -> SharedCopy:
    rows = SharedCopy.objects.owned_by(owner).filter(
        membership=membership, shared=entry.person_id, state=CopyState.LINKED, person__deleted_at=None
    )
    copy = rows.select_related("shared", "person").first()
    if copy is None:
        raise NotUndoableError
    return copy


def _is_as_left(copy: SharedCopy, entry: LogEntry, local: Fields, name: str) -> bool:
    """Whether the field says what the entry made of it: as the share spells it, or in the own spelling of what the two
    agreed on."""
    after = (entry.after or {}).get(name)
    is_agreed = copy.base_remote.get(name) == after and copy.base_local.get(name) == local[name]
    return bool(is_agreed or local[name] == after)
