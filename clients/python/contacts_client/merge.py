"""Three-way merging of a record's fields: what its user saw, what the user made of it, what is there now.

Pure functions. Where both sides have changed the same thing the service keeps its value; the user's is a Clash, to be
shown.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

JSON = dict[str, Any]


class Clash(NamedTuple):
    """A field that both sides have changed, each in its own way."""

    field: str
    base: Any
    mine: Any
    theirs: Any


class Merged(NamedTuple):
    """What is still to be sent, and what cannot be."""

    body: JSON
    clashes: list[Clash]


def merge(base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> Merged:
    """The fields of `mine` as they may be written over `theirs`; `base` has the values that the user saw."""
    body: JSON = {}
    clashes: list[Clash] = []
    for field, wanted in mine.items():
        before, now = base.get(field), theirs.get(field)
        if is_same(wanted, now):
            continue
        if is_same(before, now):
            body[field] = wanted
        elif isinstance(wanted, list) and isinstance(now, list) and isinstance(before, list | None):
            result, clashed = _merge_lists(before or [], wanted, now)
            if not is_same(result, now):
                body[field] = result
            if clashed:
                clashes.append(Clash(field, before, wanted, now))
        else:
            clashes.append(Clash(field, before, wanted, now))
    return Merged(body, clashes)


def is_same(one: Any, other: Any) -> bool:
    """Equal to the service: "" is null, texts are trimmed, and of lists the entries agree, one after the other."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_agree, one, other))
    return bool(_plain(one) == _plain(other))


def _agree(one: Any, other: Any) -> bool:
    """Whether two entries say the same. One without an id was written here, and may leave out what the service adds."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return bool(one == other)
    said, known = _content(one), _content(other)
    if "id" in one and "id" in other:
        return said == known
    if "id" in one:
        said, known = known, said
    return said.items() <= known.items()


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip() or None
    return None if value == [] else value


def _content(entry: JSON) -> JSON:
    """What an entry says; ids and what the service adds (the place of an address) left out."""
    said = {name: _plain(value) for name, value in entry.items() if name not in _ADDED}
    return {name: value for name, value in said.items() if value is not None}


_ADDED = {"id", "latitude", "longitude", "geocodeStatus", "template"}


def _merge_lists(base: list[Any], mine: list[Any], theirs: list[Any]) -> tuple[list[Any], bool]:
    """Entries by their ids (texts and templates by themselves): their list with my additions, changes and removals.

    Where both changed one entry, or one side changed what the other removed, theirs stays (or mine, where they removed
    it: a value is never lost by being removed elsewhere), and that is a clash.
    """
    before, wanted, now = _by_key(base), _by_key(identified(mine, [*base, *theirs])), _by_key(theirs)
    merged: list[Any] = []
    clashed = False
    for key, entry in now.items():
        if key not in before:
            merged.append(wanted[key] if key in wanted and _agree(wanted[key], entry) else entry)
            clashed |= key in wanted and not _agree(wanted[key], entry)
        elif key not in wanted:
            is_unchanged = _agree(before[key], entry)
            clashed |= not is_unchanged
            merged += [] if is_unchanged else [entry]
        elif _agree(before[key], entry):
            merged.append(wanted[key])
        else:
            clashed |= not _agree(before[key], wanted[key]) and not _agree(wanted[key], entry)
            merged.append(entry)
    for key, entry in wanted.items():
        if key in now or (_is_new(entry) and any(_agree(entry, known) for known in theirs)):
            continue
        if key not in before or not _agree(before[key], entry):
            merged.append(entry)
    return merged, clashed


def _is_new(entry: Any) -> bool:
    return isinstance(entry, dict) and not {"id", "templateId"} & set(entry)


def identified(entries: list[Any], known: list[Any]) -> list[Any]:
    """Entries, those that were written anew replaced by a known one that says the same."""
    taken = {entry["id"] for entry in entries if isinstance(entry, dict) and "id" in entry}
    found = []
    for entry in entries:
        alike = [e for e in known if "id" in e and e["id"] not in taken and _agree(entry, e)] if _is_new(entry) else []
        taken |= {e["id"] for e in alike[:1]}
        found.append(alike[0] if alike else entry)
    return found


def _by_key(entries: list[Any]) -> dict[str, Any]:
    """Entries by what makes one the same: the id, the template of a custom value, else what it says."""
    found: dict[str, Any] = {}
    for entry in entries:
        if isinstance(entry, dict):
            key = entry.get("templateId") or entry.get("id") or json.dumps(_content(entry), sort_keys=True)
        else:
            key = str(entry)
        found[key] = entry
    return found
