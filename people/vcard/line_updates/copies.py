"""Copies of a value elsewhere in the card follow an edit of the value, or go.

Programs show them in place of the value: LABEL and `ADR;LABEL=`, the formatted address that Google writes as the eighth
component of ADR, places and codes of an address, SORT-STRING and `SORT-AS=`. Other lines stay as they came.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from people.countries import country_key
from people.vcard import values
from people.vcard.builder import LineBuilder, entry_text
from people.vcard.card import Card, Entry
from people.vcard.content_lines import ContentLine, parse_line
from people.vcard.full_name import respell, says_only_name
from people.vcard.labels import HIDDEN_TYPES
from people.vcard.line_updates.fields import NAME_FIELDS
from people.vcard.line_updates.state import LineUpdate
from people.vcard.parser import read_lines
from people.vcard.readers import ReaderContext, read_line

_MAX_CANDIDATES = 100  # a person has no more addresses
_PARTS_OF_ADDRESS = frozenset({"X-APPLE-SUBLOCALITY", "X-APPLE-SUBADMINISTRATIVEAREA"})
_SORT_PROPERTIES = frozenset({"SORT-STRING", "X-EVOLUTION-FILE-AS", "X-FILE-AS"})
#: What spells a part of the name or the organization in another way, and has no field.
_PHONETIC_PROPERTIES = {"X-PHONETIC-MIDDLE-NAME": "middle_name", "X-PHONETIC-ORG": "organization"}


_NAME_COPIES = _SORT_PROPERTIES.union(_PHONETIC_PROPERTIES)


def with_current_copies(card: Card) -> Card:
    """The card with those of its stored lines that copy the name and have no field as they are for its name now.

    Stored lines say the name that the person had when they came.
    """
    lines = [parse_line(kept.text) for kept in card.lines]
    if not any(line.name in _NAME_COPIES for line in lines):
        return card
    parsed = read_lines(lines, [], [bool(kept.fields) for kept in card.lines])
    update = LineUpdate(lines, parsed, card, LineBuilder("3.0", lines))
    _update_name_copies(update)
    kept = []
    for index, old in enumerate(card.lines):
        new = update.replacements.get(index) if lines[index].name in _NAME_COPIES else None
        kept += [old] if new is None else [replace(old, text=line.text) for line in new]
    return replace(card, lines=tuple(kept))


def update_copies(update: LineUpdate) -> None:
    """Update the copies of all values that were edited. The lines of the values are updated already."""
    _update_address_copies(update)
    _update_name_copies(update)


def _update_address_copies(update: LineUpdate) -> None:
    changed: set[int] = set()
    for index, kept in enumerate(update.target.lines):
        old, new = update.parsed.lines[index].entry, kept.entry
        if "addresses" not in kept.fields or not isinstance(old, dict):
            continue
        if new is None or any(new.get(key) != value for key, value in old.items() if key != "type"):  # type: ignore[union-attr]  # an address
            changed.add(index)
            _update_parts(update, index, old, new)  # type: ignore[arg-type]  # as above
    for index in label_indexes(update.lines, changed) if changed else ():
        update.replacements[index] = []


def _update_parts(update: LineUpdate, index: int, old: Entry, new: Entry | None) -> None:
    """Update the other parts of the address in its item group: those of Apple go, X-ABADR follows the country."""
    for other in update.groups.get((update.lines[index].group or "").lower(), ()):
        line = update.lines[other]
        if line.name in _PARTS_OF_ADDRESS:
            update.replacements[other] = []
        elif line.name == "X-ABADR" and new is not None and old.get("country") != new.get("country"):
            code = country_key(entry_text(new, "country"))
            update.replacements[other] = [line.with_value(code.lower())] if len(code) == 2 and code.isupper() else []


def reads_as(line: ContentLine, address: Entry) -> bool:
    """Whether the line says the address, whatever its type."""
    found = next((entry for _, entry in read_line(line, ReaderContext()) if isinstance(entry, dict)), {})
    return all(address.get(key) == value for key, value in found.items() if key != "type")


def label_indexes(lines: Sequence[ContentLine], addresses: Collection[int]) -> list[int]:
    """The indexes of the LABEL lines (RFC 2426, 3.2.2) that belong to the ADR lines with the indexes `addresses`.

    A label has the item group or the TYPE of its address. Of several addresses it has the one whose street it names.
    """
    labels = [index for index, line in enumerate(lines) if line.name == "LABEL"]
    if not labels:
        return []
    by_key: dict[object, list[int]] = {}
    streets: dict[int, str] = {}
    for index, line in enumerate(lines):
        if line.name == "ADR":
            streets[index] = _street(line)
            for key in _address_keys(line):
                by_key.setdefault(key, []).append(index)
    found = []
    for index in labels:
        key = next((key for key in _address_keys(lines[index]) if key in by_key), None)
        candidates = by_key.get(key, [])[:_MAX_CANDIDATES]
        text = values.text(lines[index]).casefold()
        named = [one for one in candidates if streets[one] and streets[one] in text]
        if key is None and len(candidates) > 1:  # nothing but the street can tell
            candidates = []
        if any(one in addresses for one in named or candidates):
            found.append(index)
    return found


def _address_keys(line: ContentLine) -> list[object]:
    """What an address and its label share, the best first."""
    types = frozenset(word for word in line.types if word not in HIDDEN_TYPES)
    return [*([("group", line.group.lower())] if line.group else []), types, None]


def _street(line: ContentLine) -> str:
    pieces = [*values.split(line.value, ";"), "", "", ""]
    return next(iter(values.street_lines(pieces[2])), "").casefold()


def _update_name_copies(update: LineUpdate) -> None:
    parsed, target = update.parsed, update.target
    fields = (*NAME_FIELDS, "nickname", "organization")
    if all(getattr(parsed, field) == getattr(target, field) for field in fields):
        return
    for index, line in enumerate(update.lines):
        if line.name in _SORT_PROPERTIES:
            text = values.single_line(values.text(line))
            new = _follow(text, parsed, target, is_spelling=line.name == "SORT-STRING")
            if new != text:
                update.replacements[index] = [line.with_value(values.escape(new))] if new else []
        elif (field := _PHONETIC_PROPERTIES.get(line.name)) and getattr(parsed, field) != getattr(target, field):
            update.replacements[index] = []
        elif line.name in {"N", "FN", "ORG"} and line.param("SORT-AS"):
            current = update.replacements.get(index, [line])
            update.replacements[index] = [_with_sort_as(one, parsed, target) for one in current]


def _with_sort_as(line: ContentLine, parsed: Card, target: Card) -> ContentLine:
    """The line with the SORT-AS of the new name: a text for each of its components (RFC 6350, 5.9), or none."""
    texts = [text.strip() for param in line.param("SORT-AS") for text in param.split(",")]
    fields = ("organization",) if line.name == "ORG" else ("surname", "name", "middle_name")
    if line.name == "FN" or len(texts) > len(fields):
        new = _follow(", ".join(texts), parsed, target, is_spelling=True)
        is_same = new == ", ".join(texts)
    else:
        versions = ((getattr(parsed, field), getattr(target, field)) for field in fields)
        parts = [_follow_part(text, old, new) for text, (old, new) in zip(texts, versions, strict=False)]
        new, is_same = "" if "" in parts else ",".join(parts), parts == texts
    if is_same:
        return line
    kept = line.without_params("SORT-AS").params
    return line.with_params((*kept, ("SORT-AS", (new,))) if new else kept)


def _follow_part(text: str, old: Any, new: Any) -> str:
    """The text that spells one part of the name: as it is, the new part, or empty where it spells the former one."""
    if old == new:
        return text
    return (new or "") if text.casefold() == (old or "").casefold() else ""


def _follow(text: str, parsed: Card, target: Card, *, is_spelling: bool) -> str:
    """The text by which a person is sorted for the new name; empty where it spells the former one.

    With `is_spelling` it says how the surname sounds, if it is no part of the name itself (SORT-STRING: やまだ).
    """
    for field in ("surname", "name", "organization"):
        old = getattr(parsed, field)
        if old and text.casefold() == old.casefold():
            return getattr(target, field) or ""
    if says_only_name(text, parsed):
        return respell(text, parsed, target)
    # A line that came later than the name that is stored with it.
    if text.casefold() == (target.surname or "").casefold() or says_only_name(text, target):
        return text
    changed = [field for field in ("surname", "name") if getattr(parsed, field) != getattr(target, field)]
    names_former = any((old := getattr(parsed, field)) and old.casefold() in text.casefold() for field in changed)
    sounds_former = is_spelling and changed and ("surname" in changed or not parsed.surname)
    return "" if names_former or sounds_former else text
