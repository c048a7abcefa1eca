"""The layout of a person's direct relationships: the person on the left, the related people in a column on the right.

In a column rather than in a circle, names are horizontal and do not overlap, however many there are, and the diagram
fits a phone. This module only computes; the template writes the SVG.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final
from unicodedata import east_asian_width

from django.utils.functional import cached_property

MAX_PEOPLE: Final = 40
WIDTH: Final = 420
_ROW, _MARGIN = 34, 14
_CENTER_X, _NODE_X, _GAP = 44, 126, 16
# Font sizes as in pages.css, and the width of a letter in hundredths of them, an estimate on the wide side. Characters
# of East Asian scripts are square.
_NAME_SIZE, _LABEL_SIZE, _LETTER_WIDTH, _SQUARE_WIDTH = 15, 12.5, 58, 100
_TEXT_WIDTH: Final = WIDTH - _NODE_X - _GAP
_MAX_LABEL_WIDTH: Final = _TEXT_WIDTH // 2


@dataclass(frozen=True, slots=True)
class RelatedPerson:
    """A related person. `label` is what they are to the person; `href` is empty for the user."""

    name: str
    label: str
    color: str | None = None
    href: str = ""


@dataclass(frozen=True)
class PlacedPerson:
    """A related person with their position. `path` is the line to them, in units of the view box."""

    person: RelatedPerson
    y: int
    path: str

    @cached_property
    def label(self) -> str:
        return _truncate(self.person.label, _LABEL_SIZE, _MAX_LABEL_WIDTH)

    @property
    def name(self) -> str:
        return _truncate(self.person.name, _NAME_SIZE, _TEXT_WIDTH - _width(f" {self.label}", _LABEL_SIZE))


@dataclass(frozen=True, slots=True)
class NetworkDiagram:
    """What the template draws. `more` is the number of people left out."""

    people: list[PlacedPerson]
    height: int
    middle: int
    more: int
    width: int = WIDTH
    center_x: int = _CENTER_X
    node_x: int = _NODE_X
    text_x: int = _NODE_X + _GAP


def build_diagram(related: Iterable[RelatedPerson]) -> NetworkDiagram | None:
    """The diagram of the first MAX_PEOPLE people, each once with all their labels; None if there are none."""
    # By link, since two people may have the same name.
    people: dict[str, list[RelatedPerson]] = {}
    for person in related:
        people.setdefault(person.href, []).append(person)
    if not people:
        return None
    shown = [
        replace(entries[0], label=", ".join(entry.label for entry in entries))
        for entries in islice(people.values(), MAX_PEOPLE)
    ]
    height = max(len(shown) * _ROW, 2 * _ROW) + 2 * _MARGIN
    middle = height // 2
    top = middle - len(shown) * _ROW // 2
    bend = (_CENTER_X + _NODE_X) // 2
    placed = []
    for index, person in enumerate(shown):
        y = top + index * _ROW + _ROW // 2
        placed.append(PlacedPerson(person, y, f"M{_CENTER_X} {middle}C{bend} {middle} {bend} {y} {_NODE_X} {y}"))
    return NetworkDiagram(placed, height, middle, len(people) - len(shown))


def _truncate(text: str, size: float, max_width: float) -> str:
    """The text, or its longest beginning that fits with an ellipsis. Reads no more of it than fits."""
    width, fitting = 0, 0
    for index, char in enumerate(text):
        width += _letter_width(char)
        if size * width / 100 > max_width:
            return f"{text[:fitting].rstrip()}…"
        if size * (width + _letter_width("…")) / 100 <= max_width:
            fitting = index + 1
    return text


def _width(text: str, size: float) -> float:
    """The estimated width of a text, in units of the view box."""
    return size * sum(map(_letter_width, text)) / 100


def _letter_width(char: str) -> int:
    return _SQUARE_WIDTH if east_asian_width(char) in "WF" else _LETTER_WIDTH
