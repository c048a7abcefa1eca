"""Three-way merge of a multi-value field, in which each side has a base of its own.

Entries are matched by normalised value, then by kind if one entry alone is left of it. Additions, removals and edits of
different entries, and of different parts of one entry, all survive; an edit wins over a removal. A conflict arises only
where both sides edited the same part of the same entry to different values; then each side keeps its own.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from people.entries import Key, match_entries

Entry = dict[str, Any]

_NON_NUMBER = re.compile(r"[^0-9+a-z]")
_WHITESPACE = re.compile(r"\s+")
_WEB_URL = re.compile(r"([a-z][a-z0-9+.-]*://[^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)


def _normalize_text(value: Any) -> str:
    return _WHITESPACE.sub(" ", str(value or "")).strip().casefold()


def _normalize_address(entry: Entry) -> Hashable:
    parts = ("streetLine1", "streetLine2", "locality", "region", "country", "postalCode")
    return tuple(_normalize_text(entry.get(part)) for part in parts)


def _normalize_url(entry: Entry) -> Hashable:
    found = _WEB_URL.fullmatch(str(entry["url"]).strip())
    return found.group(1).lower() + found.group(2).removesuffix("/") if found else str(entry["url"]).strip()


@dataclass(frozen=True)
class MatchRule:
    """How entries of one field are matched: by their normalised `value`, then by `kind` (type and label)."""

    value: Callable[[Entry], Hashable]
    kind: Callable[[Entry], Hashable]


def _normalize_type(entry: Entry) -> Hashable:
    return _normalize_text(entry.get("type"))


MATCH_RULES: Mapping[str, MatchRule] = {
    "phoneNumbers": MatchRule(
        lambda entry: _NON_NUMBER.sub("", str(entry["number"]).lower()) or entry["number"], _normalize_type
    ),
    "emails": MatchRule(lambda entry: _normalize_text(entry["email"]), _normalize_type),
    "addresses": MatchRule(_normalize_address, _normalize_type),
    "urls": MatchRule(_normalize_url, _normalize_type),
    "imHandles": MatchRule(
        lambda entry: (_normalize_text(entry["protocol"]), str(entry["handle"]).strip()),
        lambda entry: (_normalize_type(entry), _normalize_text(entry["protocol"])),
    ),
    "locations": MatchRule(
        lambda entry: (round(float(entry["latitude"]), 5), round(float(entry["longitude"]), 5)),
        lambda entry: (_normalize_type(entry), _normalize_text(entry["label"])),
    ),
    "customFields": MatchRule(
        lambda entry: (_normalize_text(entry["key"]), _WHITESPACE.sub(" ", str(entry["value"])).strip()),
        lambda entry: (_normalize_text(entry["key"]), _normalize_type(entry)),
    ),
    "importantDates": MatchRule(
        # A person has at most one date of a predefined type, so the type alone identifies it, whatever its day.
        lambda entry: entry["type"] or (_normalize_text(entry["title"]), entry["date"], entry["yearUnknown"]),
        lambda entry: (entry["type"], _normalize_text(entry["title"])),
    ),
    "groups": MatchRule(lambda entry: _normalize_text(entry["name"]), lambda entry: _normalize_text(entry["name"])),
}


@dataclass(slots=True)
class MergedEntries:
    """The entries of both sides after the merge, their new bases, and whether any entry is in conflict."""

    local: list[Entry] = field(default_factory=list)
    remote: list[Entry] = field(default_factory=list)
    base_local: list[Entry] = field(default_factory=list)
    base_remote: list[Entry] = field(default_factory=list)
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
    kind: MatchRule, base_local: list[Entry], local: list[Entry], base_remote: list[Entry], remote: list[Entry]
) -> MergedEntries:
    """Each side keeps its own order; entries from the other side are appended."""
    # Most lists are unchanged on both sides; this skips the matching.
    if local == base_local and remote == base_remote:
        return MergedEntries([*local], [*remote], [*base_local], [*base_remote])
    all_versions = _pair_versions(kind, base_local, local, base_remote, remote)
    outcomes = [(versions, _merge_versions(versions)) for versions in all_versions]
    merged = MergedEntries(is_conflict=any(outcome.is_conflict for _, outcome in outcomes))
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
    kind: MatchRule, base_local: list[Entry], local: list[Entry], base_remote: list[Entry], remote: list[Entry]
) -> list[_EntryVersions]:
    """Match the entries of the four lists: first by what is unchanged, then by equal values on both sides, and only
    then by kind."""
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
    kind: MatchRule, all_versions: list[_EntryVersions], entries: list[Entry], side: str, *, by_kind: bool
) -> list[Entry]:
    """Assign the entries that match the side's base to their versions; returns the entries that match none."""
    free = [
        versions
        for versions in all_versions
        if getattr(versions, f"base_{side}") is not None and getattr(versions, side) is None
    ]
    bases = [getattr(versions, f"base_{side}") for versions in free]
    remaining = []
    for entry, number in zip(entries, _match(kind, entries, bases, kind.kind if by_kind else None), strict=True):
        if number is None:
            remaining.append(entry)
        else:
            setattr(free[number], side, entry)
    return remaining


def _pair_new(
    kind: MatchRule, all_versions: list[_EntryVersions], new_local: list[Entry], new_remote: list[Entry]
) -> list[_EntryVersions]:
    """Pair entries that are new on both sides, and remove them from the lists. An entry of one base may be new on the
    side that had dropped it."""
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


def _pop_match(kind: MatchRule, entry: Entry | None, among: list[Entry]) -> Entry | None:
    if entry is None:
        return None
    same = [other for other in among if kind.value(other) == kind.value(entry)]
    found = next((other for other in same if kind.kind(other) == kind.kind(entry)), same[0] if same else None)
    if found is not None:
        among.remove(found)
    return found


def _match(kind: MatchRule, new: Sequence[Any], old: Sequence[Any], last: Key | None) -> list[int | None]:
    keys: tuple[Key, ...] = (entry_key, lambda entry: (kind.value(entry), kind.kind(entry)), kind.value)
    return match_entries(new, old, keys=keys, kind=last or entry_key)


def entry_key(entry: Entry) -> Hashable:
    """The whole entry as a hashable value: equal only if all parts are."""
    return tuple(sorted(entry.items()))


def _merge_versions(versions: _EntryVersions) -> _MergedEntry:
    local, remote = versions.local, versions.remote
    if local is not None and remote is not None:
        if versions.base_local is None or versions.base_remote is None:
            # Added on both sides: each side keeps its own spelling.
            return _MergedEntry(local, remote, local, remote)
        return _merge_parts(versions.base_local, local, versions.base_remote, remote)
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


def _merge_parts(base_local: Entry, local: Entry, base_remote: Entry, remote: Entry) -> _MergedEntry:
    """Merge part by part: a one-sided edit is copied to the other side. For a part that is in conflict both values and
    both bases stay."""
    new_local, new_remote = dict(local), dict(remote)
    new_base_local, new_base_remote = dict(local), dict(remote)
    is_conflict = False
    for part in local.keys() | remote.keys():
        is_local_edit = local.get(part) != base_local.get(part)
        is_remote_edit = remote.get(part) != base_remote.get(part)
        if is_local_edit and is_remote_edit and local.get(part) != remote.get(part):
            is_conflict = True
            new_base_local[part], new_base_remote[part] = base_local.get(part), base_remote.get(part)
        elif is_local_edit and not is_remote_edit:
            new_remote[part] = new_base_remote[part] = local.get(part)
        elif is_remote_edit and not is_local_edit:
            new_local[part] = new_base_local[part] = remote.get(part)
    return _MergedEntry(new_local, new_remote, new_base_local, new_base_remote, is_conflict)
