"""Types and helpers shared by the readers of single properties."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from contacts_project.kernel.texts import Text
from people.field_table import OTHER
from people.vcard import values
from people.vcard.content_lines import ContentLine
from people.vcard.labels import read_label, read_type

#: The name of a field of Card, or of one that the parser handles itself (`n`, `fn`, `kind` ...), and its value.
FieldValue = tuple[str, object]


@dataclass(slots=True)
class Context:
    """The parts of a card that the reader of a line needs. `labels` are by item group, in lower case."""

    labels: dict[str, str] = field(default_factory=dict)
    warnings: list[Text] = field(default_factory=list)

    def label(self, line: ContentLine) -> str | None:
        return self.labels.get(line.group.lower()) if line.group else None

    def entry_type(self, line: ContentLine) -> str:
        """The `type` of an entry."""
        return read_type(line.types, self.label(line) or _android_label(line)) if line.params or line.group else OTHER


Reader = Callable[[ContentLine, Context], Iterator[FieldValue]]


def group_labels(lines: Iterable[ContentLine]) -> dict[str, str]:
    """The X-ABLabel of each item group; if a group has several, the first one."""
    labels: dict[str, str] = {}
    for line in lines:
        if line.name == "X-ABLABEL" and line.group and (label := read_label(single_line_text(line))):
            labels.setdefault(line.group.lower(), label)
    return labels


def single_line_text(line: ContentLine) -> str:
    """The unescaped value as one line of text."""
    return values.single_line(values.text(line))


def _android_label(line: ContentLine) -> str | None:
    """The label in Android's form `TEL;X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=C3=84):1`, if there is one."""
    for name, (charset, *more) in line.params:
        if name == "X-CUSTOM(CHARSET" and more:
            return values.single_line(values.decode_quoted_printable(more[-1].rstrip(")"), charset)) or None
    return None
