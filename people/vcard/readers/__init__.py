"""What single content lines say, property by property. What no reader knows, no field holds."""

from people.vcard.content_lines import ContentLine
from people.vcard.readers import contact, dates, identity
from people.vcard.readers.context import Context, Reader, Statement, labels_of

__all__ = ["Context", "is_read", "labels_of", "read_line"]

_READERS: dict[str, Reader] = {**identity.READERS, **contact.READERS, **dates.READERS}


def is_read(name: str) -> bool:
    """Whether a field may hold what a property of this name says."""
    return name in _READERS


def read_line(line: ContentLine, context: Context) -> list[Statement]:
    """Everything that the line says for a field of Card. What is odd about it is told in the context's warnings."""
    reader = _READERS.get(line.name)
    if reader is None or not (line.value.strip() or line.name == "N"):
        return []
    return list(reader(line, context))
