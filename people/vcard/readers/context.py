"""What the readers of single properties share: the card around a line, and the form of what a line says."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from people.field_table import OTHER
from people.vcard import values
from people.vcard.content_lines import ContentLine
from people.vcard.labels import read_label, read_type

#: A field of Card and what the line says for it. `photo_url`, `kind` and `members` are said and held by no field.
Statement = tuple[str, object]


@dataclass(slots=True)
class Context:
    """What a line needs to know of its card. Labels are by item group, in lower case."""

    labels: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def label(self, line: ContentLine) -> str | None:
        return self.labels.get(line.group.lower()) if line.group else None

    def kind(self, line: ContentLine) -> str:
        """The `type` of an entry."""
        return read_type(line.types, self.label(line) or _android_label(line)) if line.params or line.group else OTHER


Reader = Callable[[ContentLine, Context], Iterator[Statement]]


def labels_of(lines: Iterable[ContentLine]) -> dict[str, str]:
    """The labels of item groups; the first one counts."""
    labels: dict[str, str] = {}
    for line in lines:
        if line.name == "X-ABLABEL" and line.group and (label := read_label(single(line))):
            labels.setdefault(line.group.lower(), label)
    return labels


def single(line: ContentLine) -> str:
    """The value as one line of text."""
    return values.single_line(values.text(line))


def _android_label(line: ContentLine) -> str | None:
    """Android's own: `TEL;X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=C3=84):1`."""
    for name, (charset, *more) in line.params:
        if name == "X-CUSTOM(CHARSET" and more:
            return values.unquote_printable(more[-1].rstrip(")"), charset).strip() or None
    return None
