"""Updates the card lines whose properties are not mapped to a field from a newer card.

Lines of mapped properties without a field (a group that the plan refuses, an invalid date) stay as they are.
"""

from collections.abc import Mapping
from typing import Any

from people.models import Person
from people.vcard import Card, KeptLine
from people.vcard.content_lines import ContentLine, parse_line
from people.vcard.line_merge import missing_lines, text_without_group
from people.vcard.line_updates.state import COMPANION_PROPERTIES
from people.vcard.readers import group_labels, has_reader

Line = Mapping[str, Any]


def with_unmapped_lines(person: Person, card: Card) -> list[Line] | None:
    """The lines of `person` with the unmapped lines of `card`; None if they are unchanged.

    Lines that stay keep their position. New lines follow at the end, in item groups of their own.
    """
    # A line of a card has a field if a reader knows its property.
    without_field = [kept for kept in card.lines if not kept.fields]
    card_keys = _unmapped_keys([kept.text for kept in without_field])
    present = {key for key in card_keys if key}
    candidates = [
        line
        for line, key in zip(without_field, card_keys, strict=True)
        if key or parse_line(line.text).name in COMPANION_PROPERTIES
    ]
    own_keys = _unmapped_keys([line["line"] for line in person.card_lines])
    kept = [line for line, key in zip(person.card_lines, own_keys, strict=True) if key is None or key in present]
    kept = _without_orphaned_labels(kept)
    known = [
        KeptLine(line["line"], tuple(line.get("fields", ())), {"id": line["id"]} if "id" in line else None)
        for line in kept
    ]
    added = missing_lines(known, candidates)
    if not added and len(kept) == len(person.card_lines):
        return None
    return [*kept, *({"line": line.text} for line in added)]


def _unmapped_keys(texts: list[str]) -> list[tuple[str, str | None] | None]:
    """For each line of an unmapped property its text without item group, and its label; None for other lines."""
    parsed = [parse_line(text) for text in texts]
    labels = group_labels(parsed)
    return [
        None
        if has_reader(line.name) or line.name in COMPANION_PROPERTIES
        else (text_without_group(text, line), labels.get(line.group.lower()) if line.group else None)
        for text, line in zip(texts, parsed, strict=True)
    ]


def _without_orphaned_labels(lines: list[Line]) -> list[Line]:
    """Remove labels (companion properties) whose item group has no other line left."""
    parsed = [parse_line(line["line"]) for line in lines]
    groups = {_item_group(line) for line in parsed if line.name not in COMPANION_PROPERTIES}
    return [
        kept
        for kept, line in zip(lines, parsed, strict=True)
        if line.name not in COMPANION_PROPERTIES or not line.group or _item_group(line) in groups
    ]


def _item_group(line: ContentLine) -> str:
    return (line.group or "").lower()
