"""The lines of a person's card whose properties no field holds, as a newer card has them.

Those of other properties that no field holds (a group that the plan refuses, a date that is none) stay as they are.
"""

from collections.abc import Mapping
from typing import Any

from people.models import Person
from people.vcard import Card, KeptLine
from people.vcard.content_lines import ContentLine, parse_line
from people.vcard.line_merge import missing_lines, text_without_group
from people.vcard.readers import group_labels, has_reader
from people.vcard.revision.state import COMPANION_PROPERTIES

Line = Mapping[str, Any]


def with_unmapped_lines(person: Person, card: Card) -> list[Line] | None:
    """The card lines of `person` with those that no field holds as in `card`; None where they say the same.

    What stays, stays where it stood; what is new comes at the end, in item groups of its own.
    """
    said = _said([kept.text for kept in card.lines])
    there = {key for key in said if key}
    wanted = zip(card.lines, said, strict=True)
    theirs = [one for one, key in wanted if key or parse_line(one.text).name in COMPANION_PROPERTIES]
    mine = _said([line["line"] for line in person.card_lines])
    kept = [line for line, key in zip(person.card_lines, mine, strict=True) if key is None or key in there]
    kept = _without_loose_companions(kept)
    known = [KeptLine(line["line"], tuple(line.get("fields", ())), _entry(line)) for line in kept]
    added = missing_lines(known, theirs)
    if not added and len(kept) == len(person.card_lines):
        return None
    return [*kept, *({"line": one.text} for one in added)]


def _entry(line: Line) -> Mapping[str, str] | None:
    return {"id": line["id"]} if "id" in line else None


def _said(texts: list[str]) -> list[tuple[str, str | None] | None]:
    """Text without item group, and label, of each line of a property that is not read; None for others."""
    parsed = [parse_line(text) for text in texts]
    labels = group_labels(parsed)
    return [
        None
        if has_reader(line.name) or line.name in COMPANION_PROPERTIES
        else (text_without_group(text, line), labels.get(line.group.lower()) if line.group else None)
        for text, line in zip(texts, parsed, strict=True)
    ]


def _without_loose_companions(lines: list[Line]) -> list[Line]:
    """A label goes with the last line of its item group."""
    parsed = [parse_line(line["line"]) for line in lines]
    groups = {_group(line) for line in parsed if line.name not in COMPANION_PROPERTIES}
    return [
        kept
        for kept, line in zip(lines, parsed, strict=True)
        if line.name not in COMPANION_PROPERTIES or not line.group or _group(line) in groups
    ]


def _group(line: ContentLine) -> str:
    return (line.group or "").lower()
