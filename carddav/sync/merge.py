"""Merge of one contact, field by field: two sides, each against a base of its own. Pure.

A change here is the person against `base.local`, a change there the card against `base.remote`. What a server drops or
spells in its own way differs from us and from its base in neither, so it is no change: no loop, no loss, no echo.
"""

from dataclasses import dataclass
from typing import Any

from carddav.sync.entries import KINDS, Entry, merge_entries
from carddav.sync.fields import EMPTY, Fields


@dataclass(frozen=True, slots=True)
class Sides:
    """What is said here and there."""

    local: Fields
    remote: Fields


#: The bases of two sides that never agreed on anything.
NEVER = Sides(EMPTY, EMPTY)


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that was changed on both sides to different values."""

    field: str
    base: Any
    local: Any
    remote: Any


@dataclass(frozen=True, slots=True)
class Merged:
    """`target`: what both sides shall say; `bases`: the bases once they do: a field in conflict keeps its old ones."""

    target: Sides
    bases: Sides
    conflicts: tuple[FieldConflict, ...]


def merge(bases: Sides, now: Sides, agreed: frozenset[str] = frozenset()) -> Merged:
    """The merge of all fields. `agreed` says the same on both sides, though it may be spelled differently (photos)."""
    target, next_bases = Sides({}, {}), Sides({}, {})
    conflicts = []
    for field in EMPTY:
        # A field that this version of ours does not know from the base did not change.
        base_local, base_remote = (
            base.get(field, side[field]) for base, side in ((bases.local, now.local), (bases.remote, now.remote))
        )
        if field in KINDS:
            result = merge_entries(
                KINDS[field], *map(as_entries, (base_local, now.local[field], base_remote, now.remote[field]))
            )
            is_conflict = result.is_conflict
            merged = [as_values(side) for side in (result.local, result.remote, result.base_local, result.base_remote)]
        else:
            is_same = field in agreed
            is_conflict, merged = _merge_value(
                base_local, now.local[field], base_remote, now.remote[field], is_same=is_same
            )
        target.local[field], target.remote[field], next_bases.local[field], next_bases.remote[field] = merged
        if is_conflict:
            conflicts.append(FieldConflict(field, base_local, now.local[field], now.remote[field]))
    return Merged(target, next_bases, tuple(conflicts))


def _merge_value(
    base_local: Any, local: Any, base_remote: Any, remote: Any, *, is_same: bool
) -> tuple[bool, list[Any]]:
    is_here, is_there = local != base_local, remote != base_remote
    if is_here and not is_there:
        return False, [local, local, local, local]
    if is_there and not is_here:
        return False, [remote, remote, remote, remote]
    if not is_here or is_same or _text(local) == _text(remote):
        return False, [local, remote, local, remote]
    if base_local == base_remote is None and not (local and remote):
        # They never met: one that says nothing contradicts nobody.
        known = local or remote
        return False, [known, known, known, known]
    return True, [local, remote, base_local, base_remote]


def _text(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value


def as_entries(values: list[Any]) -> list[Entry]:
    """The values of a list as entries: names of groups, too."""
    return [value if isinstance(value, dict) else {"name": value} for value in values]


def as_values(entries: list[Entry]) -> list[Any]:
    """The entries as a field map has them."""
    return [entry["name"] if entry.keys() == {"name"} else entry for entry in entries]


def resolve_bases(bases: Sides, now: Sides, fields: set[str], *, keep_local: bool) -> Sides:
    """Bases against which the next merge takes these fields from one side: the other one's word counts as known."""
    local, remote = dict(bases.local), dict(bases.remote)
    for field in fields:
        kept = now.remote if keep_local else now.local
        local[field], remote[field] = (
            (kept[field], now.remote[field]) if keep_local else (now.local[field], kept[field])
        )
    return Sides(local, remote)
