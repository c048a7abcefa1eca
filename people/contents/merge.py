"""Three-way merge of one contact, field by field. Each side is compared with a base of its own. Pure.

A local change is a difference between the person and `base.local`, a remote change one between the card and
`base.remote`. A value that a server drops or re-spells equals its own base, so it is no change: it is neither copied
back nor sent again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from people.contents.entries import Entry, merge_entries
from people.contents.fields import EMPTY_FIELDS, ENTRY_FIELDS, SCALARS, Fields
from people.entries import is_same_value


@dataclass(frozen=True, slots=True)
class Sides:
    """One field map for each side."""

    local: Fields
    remote: Fields


#: The bases of a person and a card that are merged for the first time.
NO_BASES = Sides(EMPTY_FIELDS, EMPTY_FIELDS)


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that both sides changed to different values."""

    field: str
    base: Any
    local: Any
    remote: Any


@dataclass(frozen=True, slots=True)
class Merged:
    """`target` are the field maps that both sides shall have, `bases` the bases once they do. A field in conflict keeps
    its old bases."""

    target: Sides
    bases: Sides
    conflicts: tuple[FieldConflict, ...]


def merge(bases: Sides, now: Sides, agreed: frozenset[str] = frozenset()) -> Merged:
    """Merge all fields. The fields in `agreed` count as equal on both sides even if their values differ (a photo in two
    encodings)."""
    target, next_bases = Sides({}, {}), Sides({}, {})
    conflicts = []
    for field in EMPTY_FIELDS:
        # A base stored by an older version may lack a field; then the field counts as unchanged.
        base_local, base_remote = (
            base.get(field, side[field]) for base, side in ((bases.local, now.local), (bases.remote, now.remote))
        )
        local, remote = now.local[field], now.remote[field]
        if local == base_local and remote == base_remote:
            # As most fields are: each side keeps its own spelling, as target and as base.
            is_conflict, merged = False, [local, remote, local, remote]
        elif field in ENTRY_FIELDS:
            result = merge_entries(ENTRY_FIELDS[field].card, *map(as_entries, (base_local, local, base_remote, remote)))
            is_conflict = result.is_conflict
            merged = [as_values(side) for side in (result.local, result.remote, result.base_local, result.base_remote)]
        else:
            is_conflict, merged = _merge_scalar(
                field, base_local, local, base_remote, remote, is_agreed=field in agreed
            )
        target.local[field], target.remote[field], next_bases.local[field], next_bases.remote[field] = merged
        if is_conflict:
            conflicts.append(FieldConflict(field, base_local, local, remote))
    return Merged(target, next_bases, tuple(conflicts))


def _merge_scalar(
    field: str, base_local: Any, local: Any, base_remote: Any, remote: Any, *, is_agreed: bool
) -> tuple[bool, list[Any]]:
    is_local_change, is_remote_change = local != base_local, remote != base_remote
    if is_local_change and not is_remote_change:
        return False, [local, local, local, local]
    if is_remote_change and not is_local_change:
        return False, [remote, remote, remote, remote]
    if local == remote or is_agreed or (field in SCALARS and is_same_value(SCALARS[field], local, remote)):
        # Equal or the same: each side keeps its own spelling, as target and as base.
        return False, [local, remote, local, remote]
    if base_local == base_remote is None and not (local and remote):
        # Merged for the first time: an empty value does not contradict the other side.
        known = local or remote
        return False, [known, known, known, known]
    return True, [local, remote, base_local, base_remote]


def as_entries(values: Sequence[Entry | str]) -> list[Entry]:
    """The values of a list as entries; group names become entries, too."""
    return [value if isinstance(value, dict) else {"name": value} for value in values]


def as_values(entries: list[Entry]) -> list[Entry | str]:
    """The inverse of `as_entries`: entries in the form of a field map."""
    return [entry["name"] if entry.keys() == {"name"} else entry for entry in entries]


def resolve_bases(bases: Sides, now: Sides, fields: set[str], *, keep_local: bool) -> Sides:
    """Bases with which the next merge takes `fields` from one side: on the losing side the current value becomes the
    base, so that it counts as unchanged."""
    local, remote = dict(bases.local), dict(bases.remote)
    for field in fields:
        kept = now.remote if keep_local else now.local
        local[field], remote[field] = (
            (kept[field], now.remote[field]) if keep_local else (now.local[field], kept[field])
        )
    return Sides(local, remote)
