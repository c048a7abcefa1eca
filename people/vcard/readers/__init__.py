"""Reads single content lines, with one reader for each property. Lines without a reader are kept but set no field."""

from people.vcard.content_lines import ContentLine
from people.vcard.readers import contact, dates, identity
from people.vcard.readers.context import Context, FieldValue, Reader, group_labels

__all__ = ["Context", "group_labels", "has_reader", "read_line"]

_READERS: dict[str, Reader] = {**identity.READERS, **contact.READERS, **dates.READERS}


def has_reader(name: str) -> bool:
    """Whether a property of this name can set a field."""
    return name in _READERS


def read_line(line: ContentLine, context: Context) -> list[FieldValue]:
    """The values for fields of Card that the line contains. Problems are appended to the warnings of `context`."""
    reader = _READERS.get(line.name)
    # An empty N counts as read: otherwise writing the card would add a second N.
    if reader is None or not (line.value.strip() or line.name == "N"):
        return []
    return list(reader(line, context))
