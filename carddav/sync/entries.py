"""Three-way merge of a multi-value field whose two sides each have a base of their own.

Entries are matched by normalised value, then by kind, where one alone is left of it. Adds, removals and edits of
different entries, and of different parts of one entry, all survive; an edit beats a removal. Only the same part of the
same entry edited to two different values is a conflict, and then both sides keep theirs.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from people.entries import Key, match_entries

Entry = dict[str, Any]

_NO_DIGIT = re.compile(r"[^0-9+a-z]")
_SPACE = re.compile(r"\s+")
_WEB = re.compile(r"([a-z][a-z0-9+.-]*://[^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)


def _text(value: Any) -> str:
    return _SPACE.sub(" ", str(value or "")).strip().casefold()


def _address(entry: Entry) -> Hashable:
    parts = ("streetLine1", "streetLine2", "locality", "region", "country", "postalCode")
    return tuple(_text(entry.get(part)) for part in parts)


def _url(entry: Entry) -> Hashable:
    found = _WEB.fullmatch(str(entry["url"]).strip())
    return found.group(1).lower() + found.group(2).removesuffix("/") if found else str(entry["url"]).strip()


def _coordinates(entry: Entry) -> Hashable:
    return round(float(entry["latitude"]), 5), round(float(entry["longitude"]), 5)


@dataclass(frozen=True)
class Kind:
    """How entries of one field are told apart: their `value` normalised, and what sorts them, their kind and label."""

    value: Callable[[Entry], Hashable]
    kind: Callable[[Entry], Hashable]


def _of_type(entry: Entry) -> Hashable:
    return _text(entry.get("type"))


KINDS: Mapping[str, Kind] = {
    "phoneNumbers": Kind(lambda entry: _NO_DIGIT.sub("", str(entry["number"]).lower()) or entry["number"], _of_type),
    "emails": Kind(lambda entry: _text(entry["email"]), _of_type),
    "addresses": Kind(_address, _of_type),
    "urls": Kind(_url, _of_type),
    "imHandles": Kind(
        lambda entry: (_text(entry["protocol"]), str(entry["handle"]).strip()),
        lambda entry: (_of_type(entry), _text(entry["protocol"])),
    ),
    "locations": Kind(_coordinates, lambda entry: (_of_type(entry), _text(entry["label"]))),
    "customFields": Kind(
        lambda entry: (_text(entry["key"]), _SPACE.sub(" ", str(entry["value"])).strip()),
        lambda entry: (_text(entry["key"]), _of_type(entry)),
    ),
    "importantDates": Kind(
        # A predefined date stands once on a person: its type is what it is known by, whatever day it says.
        lambda entry: entry["type"] or (_text(entry["title"]), entry["date"], entry["yearUnknown"]),
        lambda entry: (entry["type"], _text(entry["title"])),
    ),
    "groups": Kind(lambda entry: _text(entry["name"]), lambda entry: _text(entry["name"])),
}


@dataclass(slots=True)
class MergedEntries:
    """What both sides shall say, what their bases are then, and whether something stays in conflict."""

    local: list[Entry] = field(default_factory=list)
    remote: list[Entry] = field(default_factory=list)
    base_local: list[Entry] = field(default_factory=list)
    base_remote: list[Entry] = field(default_factory=list)
    is_conflict: bool = False


@dataclass(slots=True)
class _EntryVersions:
    """One entry as its four versions; None where it is not there."""

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
    kind: Kind, base_local: list[Entry], local: list[Entry], base_remote: list[Entry], remote: list[Entry]
) -> MergedEntries:
    """Each side keeps its own order; what comes from the other side stands at the end."""
    if local == base_local and remote == base_remote:  # as most lists are, whatever the two say
        return MergedEntries([*local], [*remote], [*base_local], [*base_remote])
    all_versions = _pair_versions(kind, base_local, local, base_remote, remote)
    outcomes = [(versions, _merge_versions(versions)) for versions in all_versions]
    merged = MergedEntries(is_conflict=any(outcome.is_conflict for _, outcome in outcomes))
    mine = [(_position(local, versions.local), outcome) for versions, outcome in outcomes]
    theirs = [(_position(remote, versions.remote), outcome) for versions, outcome in outcomes]
    for _, outcome in sorted(mine, key=lambda pair: pair[0]):
        merged.local += [outcome.local] if outcome.local else []
        merged.base_local += [outcome.base_local] if outcome.base_local else []
    for _, outcome in sorted(theirs, key=lambda pair: pair[0]):
        merged.remote += [outcome.remote] if outcome.remote else []
        merged.base_remote += [outcome.base_remote] if outcome.base_remote else []
    return merged


def _position(entries: Sequence[Entry], entry: Entry | None) -> int:
    return next((number for number, other in enumerate(entries) if other is entry), len(entries))


def _pair_versions(
    kind: Kind, base_local: list[Entry], local: list[Entry], base_remote: list[Entry], remote: list[Entry]
) -> list[_EntryVersions]:
    """Which entry is which: by what stayed of it, then by what both sides say now, and only then by its kind."""
    all_versions = [_EntryVersions(base_local=entry) for entry in base_local]
    for entry, number in zip(base_remote, _match(kind, base_remote, base_local, kind.kind), strict=True):
        if number is None:
            all_versions.append(_EntryVersions(base_remote=entry))
        else:
            all_versions[number].base_remote = entry
    new_local = _assign_known(kind, all_versions, local, "local", by_kind=False)
    new_remote = _assign_known(kind, all_versions, remote, "remote", by_kind=False)
    joined = _pair_new(kind, all_versions, new_local, new_remote)
    left_local = _assign_known(kind, all_versions, new_local, "local", by_kind=True)
    left_remote = _assign_known(kind, all_versions, new_remote, "remote", by_kind=True)
    new = [
        *(_EntryVersions(local=entry) for entry in left_local),
        *(_EntryVersions(remote=entry) for entry in left_remote),
    ]
    return [*all_versions, *joined, *new]


def _assign_known(
    kind: Kind, all_versions: list[_EntryVersions], entries: list[Entry], side: str, *, by_kind: bool
) -> list[Entry]:
    """Put the entries that are in the side's base to their versions; returns the others."""
    free = [
        versions
        for versions in all_versions
        if getattr(versions, f"base_{side}") is not None and getattr(versions, side) is None
    ]
    bases = [getattr(versions, f"base_{side}") for versions in free]
    left = []
    for entry, number in zip(entries, _match(kind, entries, bases, kind.kind if by_kind else None), strict=True):
        if number is None:
            left.append(entry)
        else:
            setattr(free[number], side, entry)
    return left


def _pair_new(
    kind: Kind, all_versions: list[_EntryVersions], new_local: list[Entry], new_remote: list[Entry]
) -> list[_EntryVersions]:
    """New entries that both sides say, taken out of the lists; what one side did not hold so far may be new there."""
    for versions in all_versions:
        if versions.base_remote is None and versions.remote is None:
            versions.remote = _pop_match(kind, versions.local, new_remote)
        if versions.base_local is None and versions.local is None:
            versions.local = _pop_match(kind, versions.remote, new_local)
    joined = []
    for entry in list(new_local):
        if (found := _pop_match(kind, entry, new_remote)) is not None:
            new_local.remove(entry)
            joined.append(_EntryVersions(local=entry, remote=found))
    return joined


def _pop_match(kind: Kind, entry: Entry | None, among: list[Entry]) -> Entry | None:
    if entry is None:
        return None
    same = [other for other in among if kind.value(other) == kind.value(entry)]
    found = next((other for other in same if kind.kind(other) == kind.kind(entry)), same[0] if same else None)
    if found is not None:
        among.remove(found)
    return found


def _match(kind: Kind, new: Sequence[Any], old: Sequence[Any], last: Key | None) -> list[int | None]:
    keys: tuple[Key, ...] = (_as_tuple, lambda entry: (kind.value(entry), kind.kind(entry)), kind.value)
    return match_entries(new, old, keys=keys, kind=last or _as_tuple)


def _as_tuple(entry: Entry) -> Hashable:
    return tuple(sorted(entry.items()))


def _merge_versions(versions: _EntryVersions) -> _MergedEntry:
    local, remote = versions.local, versions.remote
    if local is not None and remote is not None:
        if versions.base_local is None or versions.base_remote is None:
            return _MergedEntry(local, remote, local, remote)  # the same on both sides, each in its own spelling
        return _merge_parts(versions.base_local, local, versions.base_remote, remote)
    if local is not None:
        mine, theirs = _merge_one_sided(local, versions.base_local, versions.base_remote)
        return _MergedEntry(mine, theirs, mine, theirs)
    if remote is not None:
        theirs, mine = _merge_one_sided(remote, versions.base_remote, versions.base_local)
        return _MergedEntry(mine, theirs, mine, theirs)
    return _MergedEntry(None, None, None, None)


def _merge_one_sided(entry: Entry, base: Entry | None, other_base: Entry | None) -> tuple[Entry | None, Entry | None]:
    """What becomes of an entry that one side alone says: there, and on the other side.

    New or edited, it goes to the other side, whatever that has removed. Else it was removed there, and goes here too,
    or the other side never held it, and it stays with this one.
    """
    if entry != base:
        return entry, entry
    return (entry, None) if other_base is None else (None, None)


def _merge_parts(base_local: Entry, local: Entry, base_remote: Entry, remote: Entry) -> _MergedEntry:
    """Part by part: one side's edit goes to the other; different ones stay, and the bases stay behind."""
    mine, theirs, bases = dict(local), dict(remote), (dict(local), dict(remote))
    is_conflict = False
    for part in local.keys() | remote.keys():
        here, there = local.get(part), remote.get(part)
        was_here, was_there = base_local.get(part), base_remote.get(part)
        is_here, is_there = here != was_here, there != was_there
        if is_here and is_there and here != there:
            is_conflict = True
            bases[0][part], bases[1][part] = was_here, was_there
        elif is_here and not is_there:
            theirs[part] = bases[1][part] = here
        elif is_there and not is_here:
            mine[part] = bases[0][part] = there
    return _MergedEntry(mine, theirs, *bases, is_conflict)
