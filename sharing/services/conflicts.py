"""Resolves a conflict of a share as the member decides: what is decided is merged at once."""

import datetime as dt
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from accounts.models import User
from contacts_project.kernel.errors import FieldError, MissingError
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.ownership.account_lock import account_write
from contacts_project.kernel.ownership.models import Tombstone
from people.contents.conflicts import NOT_IN_CONFLICT, OF_NEITHER_SIDE, AlreadyResolvedError, Chosen, merge_values
from people.contents.fields import EMPTY_FIELDS
from people.contents.merge import Sides, resolve_bases
from people.vocabularies import Resolution
from sharing.carry.batch import batch_of
from sharing.carry.contact import sync_copies
from sharing.carry.edits import edit_person, read_sides
from sharing.carry.holds import has_held
from sharing.decisions import RELATIONS
from sharing.models import ShareConflict, ShareMembership


def find_conflict(owner: User, conflict_id: UUID) -> ShareConflict:
    """An open conflict of a share that the account is in. Raises MissingError, AlreadyResolvedError."""
    rows = ShareConflict.objects.owned_by(owner).select_related("membership__member")
    row = rows.filter(pk=conflict_id, membership__deleted_at=None, membership__member__ended_at=None).first()
    if row is None:
        raise AlreadyResolvedError if _is_resolved(owner, conflict_id) else MissingError
    return row


def _is_resolved(owner: User, conflict_id: UUID) -> bool:
    """The row of a conflict goes when it is resolved, or with the membership, in the write that ends that."""
    rows = Tombstone.objects.owned_by(owner).filter(kind=ShareConflict.FEED_TYPE, record_id=conflict_id)
    revision = rows.values_list("revision", flat=True).first()
    if revision is None:
        return False
    return not ShareMembership.objects.owned_by(owner).deleted().filter(revision=revision).exists()


def choose_relations(value: Any, fields: Sequence[JsonMapping]) -> list[Any] | None:
    """The relationships that a resolution names, which must be entries of either side; None if it names none. `fields`
    are those of the conflict. Raises FieldError."""
    if value is None:
        return None
    sides = [entry[side] for entry in fields if entry["field"] == RELATIONS for side in ("local", "remote")]
    if not isinstance(value, list) or not all(any(one in side for side in sides) for one in value):
        raise FieldError(f"values.{RELATIONS}", OF_NEITHER_SIDE if sides else NOT_IN_CONFLICT)
    return value


def resolve_conflict(
    *,
    owner: User,
    conflict_id: UUID,
    resolution: str,
    chosen: Chosen,
    relations: list[Any] | None,
    now: dt.datetime,
) -> None:
    """Keep one side's values, or merge both.

    `chosen` and `relations` (of choose_relations) go with `merged`. A list of which nothing is chosen becomes the union
    of both sides, a scalar keeps the local value. Raises MissingError, AlreadyResolvedError.
    """
    with account_write(owner) as write:
        row = find_conflict(owner, conflict_id)
        batch = batch_of(write, row.membership)
        copy = batch.linked().select_related("shared").filter(pk=row.copy_id, person__deleted_at=None).first()
        if copy is None or copy.person_id is None or copy.shared is None:
            raise MissingError
        names = {entry["field"] for entry in row.fields}
        if resolution == Resolution.MERGED:
            remote = {**EMPTY_FIELDS, **copy.shared.fields}
            # Relationships of both sides are united already: what is left are two versions of one.
            merge_values(owner, write, copy.person_id, names - {RELATIONS}, remote, chosen, now)
            if relations is not None:
                edit_person(batch, copy, {RELATIONS: relations}, None)
        sides = read_sides(batch, copy)
        theirs = names if resolution == Resolution.KEEP_REMOTE else set(chosen.remote)
        bases = resolve_bases(Sides(copy.base_local, copy.base_remote), sides, names - theirs, keep_local=True)
        bases = resolve_bases(bases, sides, theirs, keep_local=False)
        copy.base_local, copy.base_remote = bases.local, bases.remote
        copy.save(update_fields=["base_local", "base_remote", "updated_at"])
        if has_held(batch, copy):
            row.delete()
            batch.is_visible = True
        else:
            sync_copies(batch, [copy])
        batch.finish()
