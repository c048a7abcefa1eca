"""The lines of a card and the edits to them."""

from collections import Counter
from collections.abc import Sequence

from people.vcard.builder import LineBuilder
from people.vcard.card import Card
from people.vcard.content_lines import ContentLine
from people.vcard.readers import group_labels

#: Properties that describe another line of their item group and are removed with it.
COMPANION_PROPERTIES = frozenset({"X-ABLABEL", "X-ABADR", "X-APPLE-SUBLOCALITY", "X-APPLE-SUBADMINISTRATIVEAREA"})


class LineUpdate:
    """The edits that turn the lines of a card into lines that describe `target`.

    `parsed` is the card as read from `lines`; `parsed.lines` and `target.lines` are parallel to `lines`.
    `replacements` maps the index of a line to the lines that replace it, an empty list where it is removed.
    `added` are new lines, whose position is not known yet.
    """

    def __init__(self, lines: Sequence[ContentLine], parsed: Card, target: Card, builder: LineBuilder) -> None:
        self.lines, self.parsed, self.target, self.builder = lines, parsed, target, builder
        self.replacements: dict[int, list[ContentLine]] = {}
        self.added: list[ContentLine] = []
        self.labels = group_labels(lines)
        self.groups: dict[str, list[int]] = {}
        # By item group, so that no edit of a line looks through all lines of its group: a hostile card may have one.
        self._label_indexes: dict[str, int] = {}
        self._main_counts: Counter[str] = Counter()
        for index, line in enumerate(lines):
            if line.group:
                group = line.group.lower()
                self.groups.setdefault(group, []).append(index)
                self._main_counts[group] += line.name not in COMPANION_PROPERTIES
                if line.name == "X-ABLABEL":
                    self._label_indexes.setdefault(group, index)

    def indexes_of(self, field: str) -> list[int]:
        """The indexes of the lines that set the field."""
        return [index for index, kept in enumerate(self.parsed.lines) if field in kept.fields]

    def label_of(self, line: ContentLine) -> str | None:
        """The label of the line's item group."""
        return self.labels.get((line.group or "").lower())

    def label_index(self, line: ContentLine) -> int | None:
        """The index of the X-ABLabel of the line's item group."""
        return self._label_indexes.get((line.group or "").lower())

    def is_shared(self, line: ContentLine) -> bool:
        """Whether the item group of the line contains more than one property that is not a companion."""
        return self._main_counts[(line.group or "").lower()] > 1

    def drop_companions(self) -> None:
        """Remove companions, such as labels, from groups whose other lines were all removed."""
        for indexes in self.groups.values():
            main = [index for index in indexes if self.lines[index].name not in COMPANION_PROPERTIES]
            if main and all(self.replacements.get(index) == [] for index in main):
                self.replacements.update((index, []) for index in indexes)

    def place_new_lines(self) -> list[ContentLine]:
        """Put each new line after the last line of its property. Returns the lines for which there is none."""
        last = {
            line.name: index for index, old in enumerate(self.lines) for line in self.replacements.get(index, [old])
        }
        rest: list[ContentLine] = []
        destination = rest
        for line in self.added:
            # A label stays with its line, which comes right before it.
            if line.name != "X-ABLabel":
                index = last.get(line.name)
                destination = rest if index is None else self.replacements.setdefault(index, [self.lines[index]])
            destination.append(line)
        return rest
