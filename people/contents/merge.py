"""Three-way merge of one contact, field by field. Each side is compared with a base of its own. Pure.

A local change is a difference between the person and `base.local`, a remote change one between the card and
`base.remote`. A value that a server drops or re-spells equals its own base, so it is no change: it is neither copied
back nor sent again.

The entries of a multi-value field are paired by people.entries: by value, then by kind if one entry alone is left of
it. Additions, removals and edits of different entries, and of different parts of one entry, all survive; an edit wins
over a removal. A conflict arises only where both sides edited the same part of the same entry to different values; then
each side keeps its own.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from people.contents.fields import COLUMNS_OF_ENTRIES, EMPTY_FIELDS, SCALARS, Fields
from people.entries import is_same_part, is_same_value, pair_entries

Entry = dict[str, Any]


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


def merge(
    bases: Sides, now: Sides, agreed: frozenset[str] = frozenset(), names: Iterable[str] = EMPTY_FIELDS
) -> Merged:
    """Merge all fields, or those with these names.

    The fields in `agreed` count as equal on both sides even if their values differ (a photo in two encodings).
    """
    target, next_bases = Sides({}, {}), Sides({}, {})
    conflicts = []
    for field in names:
        # A base stored by an older version may lack a field; then the field counts as unchanged.
        base_local, base_remote = (
            base.get(field, side[field]) for base, side in ((bases.local, now.local), (bases.remote, now.remote))
        )
        local, remote = now.local[field], now.remote[field]
        if local == base_local and remote == base_remote:
            # As most fields are: each side keeps its own spelling, as target and as base.
            is_conflict, merged = False, [local, remote, local, remote]
        elif field in COLUMNS_OF_ENTRIES:
            result = merge_entries(
                COLUMNS_OF_ENTRIES[field], *map(as_entries, (base_local, local, base_remote, remote))
            )
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
        present = local or remote
        return False, [present, present, present, present]
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


@dataclass(slots=True)
class MergedList:
    """The entries of both sides after the merge, their new bases, and whether any entry is in conflict."""

    local: list[Entry] = dataclasses.field(default_factory=list)
    remote: list[Entry] = dataclasses.field(default_factory=list)
    base_local: list[Entry] = dataclasses.field(default_factory=list)
    base_remote: list[Entry] = dataclasses.field(default_factory=list)
    is_conflict: bool = False


@dataclass(slots=True)
class _EntryVersions:
    """The four versions of one entry; None where a version does not have it."""

    base_local: Entry | None = None
    local: Entry | None = None
    base_remote: Entry | None = None
    remote: Entry | None = None


@dataclass(slots=True)
class _MergedEntry:
    local: Entry | None
    remote: Entry | None
    base_local: Entry | None
    base_remote: Entry | None
    is_conflict: bool = False


def merge_entries(
    column: str, base_local: list[Entry], local: list[Entry], base_remote: list[Entry], remote: list[Entry]
) -> MergedList:
    """Each side keeps its own order; entries from the other side are appended."""
    # Most lists are unchanged on both sides; this skips the matching.
    if local == base_local and remote == base_remote:
        return MergedList([*local], [*remote], [*base_local], [*base_remote])
    all_versions = _pair_versions(column, base_local, local, base_remote, remote)
    outcomes = [(versions, _merge_versions(column, versions)) for versions in all_versions]
    merged = MergedList(is_conflict=any(outcome.is_conflict for _, outcome in outcomes))
    local_order = [(_index_of(local, versions.local), outcome) for versions, outcome in outcomes]
    remote_order = [(_index_of(remote, versions.remote), outcome) for versions, outcome in outcomes]
    for _, outcome in sorted(local_order, key=lambda pair: pair[0]):
        merged.local += [outcome.local] if outcome.local else []
        merged.base_local += [outcome.base_local] if outcome.base_local else []
    for _, outcome in sorted(remote_order, key=lambda pair: pair[0]):
        merged.remote += [outcome.remote] if outcome.remote else []
        merged.base_remote += [outcome.base_remote] if outcome.base_remote else []
    return merged


def _index_of(entries: Sequence[Entry], entry: Entry | None) -> int:
    # By identity: two entries of a list may be equal.
    return next((number for number, other in enumerate(entries) if other is entry), len(entries))


def _pair_versions(
    column: str, base_local: list[Entry], local: list[Entry], base_remote: list[Entry], remote: list[Entry]
) -> list[_EntryVersions]:
    """Match the entries of the four lists: first by what is unchanged, then by equal values on both sides, and only
    then by kind."""
    all_versions = [_EntryVersions(base_local=entry) for entry in base_local]
    for entry, number in zip(base_remote, pair_entries(column, base_remote, base_local, edits=True), strict=True):
        if number is None:
            all_versions.append(_EntryVersions(base_remote=entry))
        else:
            all_versions[number].base_remote = entry
    new_local = _assign_matching(column, all_versions, local, "local", by_kind=False)
    new_remote = _assign_matching(column, all_versions, remote, "remote", by_kind=False)
    joined = _pair_new(column, all_versions, new_local, new_remote)
    left_local = _assign_matching(column, all_versions, new_local, "local", by_kind=True)
    left_remote = _assign_matching(column, all_versions, new_remote, "remote", by_kind=True)
    new = [
        *(_EntryVersions(local=entry) for entry in left_local),
        *(_EntryVersions(remote=entry) for entry in left_remote),
    ]
    return [*all_versions, *joined, *new]


def _assign_matching(
    column: str, all_versions: list[_EntryVersions], entries: list[Entry], side: str, *, by_kind: bool
) -> list[Entry]:
    """Assign the entries that match the side's base to their versions; returns the entries that match none."""
    free = [
        versions
        for versions in all_versions
        if getattr(versions, f"base_{side}") is not None and getattr(versions, side) is None
    ]
    bases = [getattr(versions, f"base_{side}") for versions in free]
    remaining = []
    for entry, number in zip(entries, pair_entries(column, entries, bases, edits=by_kind), strict=True):
        if number is None:
            remaining.append(entry)
        else:
            setattr(free[number], side, entry)
    return remaining


def _pair_new(
    column: str, all_versions: list[_EntryVersions], new_local: list[Entry], new_remote: list[Entry]
) -> list[_EntryVersions]:
    """Pair entries that are new on both sides, and remove them from the lists. An entry of one base may be new on the
    side that had dropped it."""
    _assign_dropped(column, all_versions, new_remote, "remote", other="local")
    _assign_dropped(column, all_versions, new_local, "local", other="remote")
    pairs = pair_entries(column, new_local, new_remote)
    joined = [
        _EntryVersions(local=entry, remote=new_remote[number])
        for entry, number in zip(new_local, pairs, strict=True)
        if number is not None
    ]
    new_local[:] = [entry for entry, number in zip(new_local, pairs, strict=True) if number is None]
    new_remote[:] = [entry for number, entry in enumerate(new_remote) if number not in pairs]
    return joined


def _assign_dropped(
    column: str, all_versions: list[_EntryVersions], new: list[Entry], side: str, *, other: str
) -> None:
    """Assign new entries of a side to versions of which that side had none; removes them from `new`."""
    free = [
        versions
        for versions in all_versions
        if getattr(versions, f"base_{side}") is None
        and getattr(versions, side) is None
        and getattr(versions, other) is not None
    ]
    pairs = pair_entries(column, new, [getattr(versions, other) for versions in free])
    for entry, number in zip(new, pairs, strict=True):
        if number is not None:
            setattr(free[number], side, entry)
    new[:] = [entry for entry, number in zip(new, pairs, strict=True) if number is None]


def _merge_versions(column: str, versions: _EntryVersions) -> _MergedEntry:
    local, remote = versions.local, versions.remote
    if local is not None and remote is not None:
        if versions.base_local is None or versions.base_remote is None:
            # Added on both sides: each side keeps its own spelling.
            return _MergedEntry(local, remote, local, remote)
        return _merge_parts(column, versions.base_local, local, versions.base_remote, remote)
    if local is not None:
        new_local, new_remote = _merge_one_sided(local, versions.base_local, versions.base_remote)
        return _MergedEntry(new_local, new_remote, new_local, new_remote)
    if remote is not None:
        new_remote, new_local = _merge_one_sided(remote, versions.base_remote, versions.base_local)
        return _MergedEntry(new_local, new_remote, new_local, new_remote)
    return _MergedEntry(None, None, None, None)


def _merge_one_sided(entry: Entry, base: Entry | None, other_base: Entry | None) -> tuple[Entry | None, Entry | None]:
    """The result for an entry that only one side has: on that side, and on the other one.

    A new or edited entry is copied to the other side, even if that side removed it. An unchanged entry was either
    removed on the other side, and is removed here, too, or the other side never had it, and it stays on this side
    alone.
    """
    if entry != base:
        return entry, entry
    return (entry, None) if other_base is None else (None, None)


def _merge_parts(column: str, base_local: Entry, local: Entry, base_remote: Entry, remote: Entry) -> _MergedEntry:
    """Merge part by part: a one-sided edit is copied to the other side. For a part that is in conflict both values and
    both bases stay. Two spellings of one value are no conflict: each side keeps its own."""
    new_local, new_remote = dict(local), dict(remote)
    new_base_local, new_base_remote = dict(local), dict(remote)
    is_conflict = False
    for part in local.keys() | remote.keys():
        is_local_edit = local.get(part) != base_local.get(part)
        is_remote_edit = remote.get(part) != base_remote.get(part)
        if is_local_edit and is_remote_edit:
            if is_same_part(column, part, local, remote):
                continue
            is_conflict = True
            new_base_local[part], new_base_remote[part] = base_local.get(part), base_remote.get(part)
        elif is_local_edit and not is_remote_edit:
            new_remote[part] = new_base_remote[part] = local.get(part)
        elif is_remote_edit and not is_local_edit:
            new_local[part] = new_base_local[part] = remote.get(part)
    return _MergedEntry(new_local, new_remote, new_base_local, new_base_remote, is_conflict)
