"""A person's direct graph as a picture: the person on the left, everybody tied to them in a column on the right.

A column and not a star: names stand straight and never on each other, however many they are, and the picture fits a
phone. Pure; the template writes the SVG.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from unicodedata import east_asian_width

MOST: Final = 40
WIDTH: Final = 420
_ROW, _MARGIN = 34, 14
_CENTER_X, _NODE_X, _GAP = 44, 126, 16
# Sizes of text in pages.css, and how wide a letter is, in parts of them; where fonts are wider the text is cut earlier.
_NAME_SIZE, _LABEL_SIZE, _LETTER = 15, 12.5, 0.58
_ROOM: Final = WIDTH - _NODE_X - _GAP
_MOST_OF_LABEL: Final = _ROOM // 2


@dataclass(frozen=True, slots=True)
class Tie:
    """Somebody at the other end: `label` is what they are to the person. No `href`: the user."""

    name: str
    label: str
    color: str | None = None
    href: str = ""


@dataclass(frozen=True)
class Spoke:
    """A tie with its place: `path` is the line, in the units of the view box."""

    tie: Tie
    y: int
    path: str

    @cached_property
    def label(self) -> str:
        return _cut(self.tie.label, _LABEL_SIZE, _MOST_OF_LABEL)

    @property
    def name(self) -> str:
        return _cut(self.tie.name, _NAME_SIZE, _ROOM - _width(f" {self.label}", _LABEL_SIZE))


@dataclass(frozen=True, slots=True)
class Picture:
    """What the template draws; `more` is how many it leaves out."""

    spokes: list[Spoke]
    height: int
    middle: int
    more: int
    width: int = WIDTH
    center_x: int = _CENTER_X
    node_x: int = _NODE_X
    text_x: int = _NODE_X + _GAP


def picture_of(ties: Iterable[Tie]) -> Picture | None:
    """The picture of the first 40, each person once with all that they are; None where there is nobody."""
    people: dict[str, Tie] = {}
    for tie in ties:
        known = people.get(tie.href)
        people[tie.href] = (
            tie if known is None else Tie(known.name, f"{known.label}, {tie.label}", known.color, known.href)
        )
    shown = list(people.values())[:MOST]
    if not shown:
        return None
    height = max(len(shown) * _ROW, 2 * _ROW) + 2 * _MARGIN
    middle = height // 2
    top = middle - len(shown) * _ROW // 2
    spokes = [_spoke(tie, top + place * _ROW + _ROW // 2, middle) for place, tie in enumerate(shown)]
    return Picture(spokes, height, middle, len(people) - len(shown))


def _spoke(tie: Tie, y: int, middle: int) -> Spoke:
    bend = (_CENTER_X + _NODE_X) // 2
    return Spoke(tie, y, f"M{_CENTER_X} {middle}C{bend} {middle} {bend} {y} {_NODE_X} {y}")


def _cut(text: str, size: float, room: float) -> str:
    if _width(text, size) <= room:
        return text
    while text and _width(f"{text}…", size) > room:
        text = text[:-1].rstrip()
    return f"{text}…"


def _width(text: str, size: float) -> float:
    """About how wide a text stands, in the units of the view box."""
    return size * sum(1 if east_asian_width(sign) in "WF" else _LETTER for sign in text)
