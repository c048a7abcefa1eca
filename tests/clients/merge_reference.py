"""What the merge of the TypeScript kit (clients/typescript/src/merge.ts) must do, spelled a second time.

A three-way merge of a record's fields: the base that the user saw, the user's version, the service's version. If
both sides have changed the same field, the service's value stays, and the user's becomes a Clash.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

JSON = dict[str, Any]


class Clash(NamedTuple):
    """A field that both sides have changed to different values."""

    field: str
    base: Any
    mine: Any
    theirs: Any


class Merged(NamedTuple):
    """`body` has the fields that can be sent."""

    body: JSON
    clashes: list[Clash]


def merge(base: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> Merged:
    """Merge the fields of `mine` into `theirs`; `base` has the values that the user saw."""
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
    """Compare as the service does: "" equals null, texts are trimmed, and lists are equal if their entries match."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_entries_match, one, other))
    return bool(_normalize(one) == _normalize(other))


def _entries_match(one: Any, other: Any) -> bool:
    """Whether two entries have the same content. One without an id was made here: it may lack fields of the service."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return bool(one == other)
    content, other_content = _entry_content(one), _entry_content(other)
    if "id" in one and "id" in other:
        return content == other_content
    if "id" in one:
        content, other_content = other_content, content
    return content.items() <= other_content.items()


def _normalize(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip() or None
    return None if value == [] else value


def _entry_content(entry: JSON) -> JSON:
    """Return the fields of an entry without its id and what the service adds (the coordinates of an address)."""
    content = {name: _normalize(value) for name, value in entry.items() if name not in _ADDED_BY_SERVICE}
    return {name: value for name, value in content.items() if value is not None}


_ADDED_BY_SERVICE = {"id", "latitude", "longitude", "geocodeStatus", "template"}


def _merge_lists(base: list[Any], mine: list[Any], theirs: list[Any]) -> tuple[list[Any], bool]:
    """Apply my additions, changes and removals to their list. Returns the list, and whether there was a clash.

    Entries are matched by id, custom values by template, texts by themselves. If both sides changed an entry, theirs
    stays. If one side changed an entry that the other removed, the entry stays: a removal never loses a changed value.
    It is a clash if something that I did is not in the result.
    """
    before, now = _index_entries(base), _index_entries(theirs)
    wanted = _index_entries(with_known_ids(mine, [*base, *theirs]))
    merged: list[Any] = []
    clashed = False
    for key, entry in now.items():
        if key not in before:
            merged.append(entry)
            clashed |= key in wanted and not _entries_match(wanted[key], entry)
        elif key not in wanted:
            is_unchanged = _entries_match(before[key], entry)
            clashed |= not is_unchanged
            merged += [] if is_unchanged else [entry]
        elif _entries_match(before[key], entry):
            merged.append(wanted[key])
        else:
            clashed |= not _entries_match(before[key], wanted[key]) and not _entries_match(wanted[key], entry)
            merged.append(entry)
    for key, entry in wanted.items():
        if key in now or (_is_new(entry) and any(_entries_match(entry, known) for known in theirs)):
            continue
        if key not in before or not _entries_match(before[key], entry):
            # No clash where they removed what I changed: mine is sent, so there would be nothing left to choose.
            merged.append(entry)
    return merged, clashed


def _is_new(entry: Any) -> bool:
    return isinstance(entry, dict) and not {"id", "templateId"} & set(entry)


def with_known_ids(entries: list[Any], known: list[Any]) -> list[Any]:
    """Replace each entry without an id by a known one with the same content, if there is one."""
    used = {entry["id"] for entry in entries if isinstance(entry, dict) and "id" in entry}
    result = []
    for entry in entries:
        match = None
        if _is_new(entry):
            unused = (e for e in known if "id" in e and e["id"] not in used)
            match = next((e for e in unused if _entries_match(entry, e)), None)
        if match is not None:
            used.add(match["id"])
        result.append(entry if match is None else match)
    return result


def _index_entries(entries: list[Any]) -> dict[str, Any]:
    """Return entries by their identity: the id, the template of a custom value, else the content."""
    indexed: dict[str, Any] = {}
    for entry in entries:
        if isinstance(entry, dict):
            key = entry.get("templateId") or entry.get("id") or json.dumps(_entry_content(entry), sort_keys=True)
        else:
            key = str(entry)
        indexed[key] = entry
    return indexed
