"""Sheets of labels that shops sell, by their makers' numbers (Avery). All lengths are in millimetres.

The measures are those of the makers' templates: A4 for the L numbers, US Letter for the others, which are in inches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

_Item = TypeVar("_Item")
_INCH = 25.4
_A4, _LETTER = (210.0, 297.0), (8.5 * _INCH, 11 * _INCH)


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """A sheet: columns and rows of labels of one size; no gap between rows."""

    page: tuple[float, float]
    columns: int
    rows: int
    width: float
    height: float
    left: float
    top: float
    gap: float
    """Between two columns."""

    @property
    def labels(self) -> int:
        return self.columns * self.rows

    def pages(self, items: Sequence[_Item]) -> list[Sequence[_Item]]:
        """The items of each sheet of paper, row by row."""
        return [items[start : start + self.labels] for start in range(0, len(items), self.labels)]

    def css(self, name: str) -> str:
        """The styles of the page to print, for a body of the class `sheet-<name>`."""
        width, height = self.page
        return (
            f"@page sheet-{name} {{ size: {width:g}mm {height:g}mm; margin: 0; }}\n"
            f".sheet-{name} .labels {{ page: sheet-{name}; width: {width:g}mm; height: {height:g}mm; "
            f"padding: {self.top:g}mm {self.left:g}mm; column-gap: {self.gap:g}mm; "
            f"grid-template-columns: repeat({self.columns}, {self.width:g}mm); grid-auto-rows: {self.height:g}mm; }}\n"
        )


SHEETS: Mapping[str, LabelSheet] = {
    "l7160": LabelSheet(_A4, 3, 7, 63.5, 38.1, left=7.25, top=15.15, gap=2.5),
    "l7163": LabelSheet(_A4, 2, 7, 99.1, 38.1, left=4.65, top=15.15, gap=2.5),
    "l7159": LabelSheet(_A4, 3, 8, 63.5, 33.9, left=7.25, top=12.9, gap=2.5),
    "5160": LabelSheet(
        _LETTER, 3, 10, 2.625 * _INCH, 1 * _INCH, left=0.1875 * _INCH, top=0.5 * _INCH, gap=0.125 * _INCH
    ),
    "5163": LabelSheet(_LETTER, 2, 5, 4 * _INCH, 2 * _INCH, left=0.15625 * _INCH, top=0.5 * _INCH, gap=0.1875 * _INCH),
}

_COMMON_CSS = """\
.labels-page { margin: 0; background: #fff; color: #000; font: 10pt/1.25 "Helvetica Neue", Arial, sans-serif; }
.labels { display: grid; box-sizing: border-box; overflow: hidden; break-after: page; align-content: start; }
.label { box-sizing: border-box; overflow: hidden; padding: 2mm 4mm; display: flex; flex-direction: column; \
justify-content: center; overflow-wrap: anywhere; }
.label.long { font-size: 7.5pt; line-height: 1.15; }
.hint { padding: 4mm; }
@media print { .hint { display: none; } }
"""


def labels_css() -> str:
    """The styles of all sheets: contacts_project/static/pages/labels.css, and inside the page of the command."""
    return _COMMON_CSS + "".join(sheet.css(name) for name, sheet in SHEETS.items())
