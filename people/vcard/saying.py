"""What the readers of single properties share: the card around a line, and the form of what a line says."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from people.vcard import values
from people.vcard.labels import read_type
from people.vcard.lines import ContentLine

#: (field of Card, value), or ("extra", the line as it stood).
Saying = tuple[str, object]


@dataclass(slots=True)
class Context:
    """What a line needs to know of its card. `old` is vCard 2.1; labels are by item group, in lower case."""

    old: bool = False
    labels: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def label(self, line: ContentLine) -> str | None:
        return self.labels.get(line.group.lower()) if line.group else None

    def text(self, line: ContentLine) -> str:
        return values.text(line, old=self.old)

    def single(self, line: ContentLine) -> str:
        return values.single_line(self.text(line))

    def kind(self, line: ContentLine) -> str:
        """The `type` of an entry."""
        return read_type(line.types, self.label(line) or _android_label(line))


Handler = Callable[[ContentLine, Context], Iterator[Saying]]


def _android_label(line: ContentLine) -> str | None:
    """Android's own: `TEL;X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=C3=84):1`."""
    for name, (charset, *more) in line.params:
        if name == "X-CUSTOM(CHARSET" and more:
            return values.unquote_printable(more[-1].rstrip(")"), charset).strip() or None
    return None


def extra(line: ContentLine, context: Context) -> Iterator[Saying]:
    yield "extra", line.spelled()
