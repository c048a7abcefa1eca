"""The lines of a person's card that no field holds: read for `more` of the response, updated from a newer card.

`more` is computed from Person.card_lines on write; the lines are kept unchanged, for the cards that are sent.
Lines of mapped properties without a field (a group that the plan refuses, an invalid date) stay as they are.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from contacts_project.kernel.json import JsonMapping
from people.field_table import MAX_ENTRIES, OTHER
from people.models import Person
from people.names import keys_of_names
from people.vcard import Card, CardLine, values
from people.vcard.content_lines import ContentLine, parse_line
from people.vcard.labels import read_type
from people.vcard.line_merge import missing_lines, text_without_group
from people.vcard.line_updates.state import COMPANION_PROPERTIES
from people.vcard.parser import GENERATED_PROPERTIES
from people.vcard.readers import group_labels, has_reader
from people.vcard.sort_names import sort_names

Line = Mapping[str, Any]


def name_keys(person: Person) -> tuple[bytes, str]:
    """The sort key and the search key of a person, whose card may say what its name is sorted as."""
    kept = ((line["line"], bool(line.get("fields"))) for line in person.card_lines)
    return keys_of_names(person, sort_names(kept, person.name, person.surname))


MAX_VALUE: Final = 1000
_MAX_NAME: Final = 100
_BINARY_PROPERTIES: Final = frozenset({"PHOTO", "LOGO", "SOUND", "KEY"})
_HIDDEN_PROPERTIES: Final = COMPANION_PROPERTIES | GENERATED_PROPERTIES | _BINARY_PROPERTIES


def more_of(card_lines: Iterable[JsonMapping]) -> list[dict[str, str | None]]:
    """`more` of a response: `{ name, value, label }` of each line without a field, in the card's order: the first 100.

    Values are cut at 1,000 characters. `label` is the label of the line's item group, else its TYPE words, else null.
    """
    lines = [parse_line(kept["line"]) for kept in card_lines if not kept.get("fields")]
    labels = group_labels(lines)
    entries = [entry for line in lines if (entry := _build_entry(line, labels))]
    return entries[:MAX_ENTRIES]


def _build_entry(line: ContentLine, labels: Mapping[str, str]) -> dict[str, str | None] | None:
    # Any property may hold binary data: base64 in vCard 3.0, a data URI in 4.0.
    if line.name in _HIDDEN_PROPERTIES or line.encoding == "base64" or line.value[:5].lower() == "data:":
        return None
    value = values.text(line)
    if not value:
        return None
    label = read_type(line.types, labels.get(line.group.lower()) if line.group else None)
    return {
        "name": line.name[:_MAX_NAME],
        "value": value[:MAX_VALUE],
        "label": None if label == OTHER else label[:_MAX_NAME],
    }


def with_unmapped_lines(person: Person, card: Card) -> list[Line] | None:
    """The lines of `person` with the unmapped lines of `card`; None if they are unchanged.

    Lines that stay keep their position. New lines follow at the end, in item groups of their own.
    """
    # A line of a card has a field if a reader knows its property.
    without_field = [kept for kept in card.lines if not kept.fields]
    theirs = [parse_line(line.text) for line in without_field]
    card_keys = _unmapped_keys(theirs)
    present = {key for key in card_keys if key}
    candidates = [
        kept
        for kept, line, key in zip(without_field, theirs, card_keys, strict=True)
        if key or line.name in COMPANION_PROPERTIES
    ]
    own = [parse_line(line["line"]) for line in person.card_lines]
    known_keys = zip(person.card_lines, own, _unmapped_keys(own), strict=True)
    kept = _without_orphaned_labels([(kept, line) for kept, line, key in known_keys if key is None or key in present])
    known = [
        CardLine(line["line"], tuple(line.get("fields", ())), {"id": line["id"]} if "id" in line else None)
        for line in kept
    ]
    added = missing_lines(known, candidates)
    if not added and len(kept) == len(person.card_lines):
        return None
    return [*kept, *({"line": line.text} for line in added)]


def _unmapped_keys(lines: list[ContentLine]) -> list[tuple[str, str | None] | None]:
    """For each line of an unmapped property its text without item group, and its label; None for other lines."""
    labels = group_labels(lines)
    return [
        None
        if has_reader(line.name) or line.name in COMPANION_PROPERTIES
        else (text_without_group(line.text, line), labels.get(line.group.lower()) if line.group else None)
        for line in lines
    ]


def _without_orphaned_labels(lines: list[tuple[Line, ContentLine]]) -> list[Line]:
    """Remove labels (companion properties) whose item group has no other line left. The lines are given with what they
    say."""
    groups = {line.group.lower() for _, line in lines if line.group and line.name not in COMPANION_PROPERTIES}
    return [
        kept
        for kept, line in lines
        if line.name not in COMPANION_PROPERTIES or not line.group or line.group.lower() in groups
    ]
