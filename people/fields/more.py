"""What a card said that no field of a person holds, in words for its reader: `more` of the person's answer.

The lines themselves stay as they are (Person.card_lines) and go back into cards; this is made of them on write.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from people.field_table import MAX_ENTRIES, OTHER
from people.vcard import values
from people.vcard.content_lines import ContentLine, parse_line
from people.vcard.labels import read_type
from people.vcard.parser import GENERATED_PROPERTIES
from people.vcard.readers import group_labels
from people.vcard.revision.state import COMPANION_PROPERTIES

MAX_VALUE: Final = 1000
_MAX_NAME: Final = 100
# What no reader of text has a use for: pictures, sounds and keys, by whatever property of theirs.
_BINARY: Final = frozenset({"PHOTO", "LOGO", "SOUND", "KEY"})
_UNSAID: Final = COMPANION_PROPERTIES | GENERATED_PROPERTIES | _BINARY


def more_of(card_lines: Iterable[Mapping[str, Any]]) -> list[dict[str, str | None]]:
    """`{ name, value, label }` of each line without a field, in the card's order; the first 100, values cut at 1,000
    characters. `label` is that of the line's item group, else its TYPE words, else null.
    """
    lines = [parse_line(kept["line"]) for kept in card_lines if not kept.get("fields")]
    labels = group_labels(lines)
    said = [entry for line in lines if (entry := _entry(line, labels))]
    return said[:MAX_ENTRIES]


def _entry(line: ContentLine, labels: Mapping[str, str]) -> dict[str, str | None] | None:
    if line.name in _UNSAID or line.encoding == "base64" or line.value[:5].lower() == "data:":
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
