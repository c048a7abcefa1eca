"""Builds `more` of a person's response: readable values of the card lines that no field holds.

It is computed from Person.card_lines on write. The lines themselves are kept unchanged, for the cards that are sent.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from contacts_project.kernel.json import JsonMapping
from people.field_table import MAX_ENTRIES, OTHER
from people.vcard import values
from people.vcard.content_lines import ContentLine, parse_line
from people.vcard.labels import read_type
from people.vcard.line_updates.state import COMPANION_PROPERTIES
from people.vcard.parser import GENERATED_PROPERTIES
from people.vcard.readers import group_labels

MAX_VALUE: Final = 1000
_MAX_NAME: Final = 100
_BINARY_PROPERTIES: Final = frozenset({"PHOTO", "LOGO", "SOUND", "KEY"})
_HIDDEN_PROPERTIES: Final = COMPANION_PROPERTIES | GENERATED_PROPERTIES | _BINARY_PROPERTIES


def more_of(card_lines: Iterable[JsonMapping]) -> list[dict[str, str | None]]:
    """`{ name, value, label }` of each line without a field, in the card's order: the first 100.

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
