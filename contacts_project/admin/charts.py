"""Geometry of charts: positions of bars and lines in an SVG. Templates draw them; CSS colours them by class."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 600, 150
_GAP = 0.25  # as a fraction of a day's width


@dataclass(frozen=True)
class Bar:
    """A rectangle of the chart. `kind` is its CSS class."""

    kind: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class DayColumn:
    """One day: its bars from the bottom up, and `text`, its tooltip."""

    text: str
    x: float
    width: float
    bars: Sequence[Bar]


@dataclass(frozen=True)
class DayChart:
    """Stacked bars by day. `legend`: kind and sum over all days. `maximum`: the largest sum of a day."""

    columns: Sequence[DayColumn]
    legend: Sequence[tuple[str, int]]
    maximum: int
    first: dt.date
    last: dt.date

    @property
    def legend_labels(self) -> list[tuple[str, str]]:
        """The legend as text, without kinds whose sum is 0, except the first."""
        return [(kind, f"{number:,}") for kind, number in self.legend if number or kind == self.legend[0][0]]

    @property
    def scale_label(self) -> str:
        return f"at most {self.maximum:,} a day"

    @property
    def text(self) -> str:
        """A text alternative for screen readers."""
        parts = ", ".join(f"{kind} {number:,}" for kind, number in self.legend)
        return f"{self.first} to {self.last}: {parts}"


@dataclass(frozen=True)
class Line:
    """A line over days: the points of a polyline, and of the polygon below it. `latest`: the last value as text."""

    points: str
    area: str
    latest: str
    first: dt.date
    last: dt.date


@dataclass(frozen=True)
class Share:
    """One item of a list, with its bar in percent of the largest item."""

    name: str
    number: str
    percent: float


def build_day_chart(days: Mapping[dt.date, Mapping[str, int]], kinds: Sequence[str]) -> DayChart:
    """Stacks `kinds` in this order, the first at the bottom."""
    maximum = max([1, *(sum(numbers.get(kind, 0) for kind in kinds) for numbers in days.values())])
    width = WIDTH / max(1, len(days))
    columns = [
        _build_column(day, numbers, kinds, index * width, width, maximum)
        for index, (day, numbers) in enumerate(days.items())
    ]
    legend = [(kind, sum(numbers.get(kind, 0) for numbers in days.values())) for kind in kinds]
    return DayChart(columns, legend, maximum, min(days), max(days))


def _build_column(
    day: dt.date, numbers: Mapping[str, int], kinds: Sequence[str], left: float, width: float, maximum: int
) -> DayColumn:
    bars, top = [], float(HEIGHT)
    for kind in kinds:
        if height := HEIGHT * numbers.get(kind, 0) / maximum:
            top -= height
            x, bar_width = left + width * _GAP / 2, width * (1 - _GAP)
            bars.append(Bar(kind, round(x, 2), round(top, 2), round(bar_width, 2), round(height, 2)))
    text = ", ".join(f"{kind} {numbers.get(kind, 0):,}" for kind in kinds)
    return DayColumn(f"{day}: {text}", round(left, 2), round(width, 2), bars)


def build_line(days: Mapping[dt.date, int], latest: str) -> Line:
    """A line scaled from 0 to the maximum. Over missing days it is drawn straight."""
    maximum = max([1, *days.values()])
    first, last = (min(days), max(days)) if days else (dt.date.min, dt.date.min)
    span = max(1, (last - first).days)
    points = [(WIDTH * (day - first).days / span, HEIGHT * (1 - number / maximum)) for day, number in days.items()]
    if len(points) == 1:
        # A polyline of one point is not drawn: make it a horizontal line.
        points = [(0.0, points[0][1]), (float(WIDTH), points[0][1])]
    polyline = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return Line(polyline, f"0,{HEIGHT} {polyline} {WIDTH},{HEIGHT}" if points else "", latest, first, last)


def build_shares(numbers: Iterable[tuple[str, float, str]]) -> list[Share]:
    """The shares of (name, number, number as text), the largest first."""
    ordered = sorted(numbers, key=lambda item: -item[1])
    maximum = max([number for _, number, _ in ordered], default=0) or 1
    return [Share(name, text, round(100 * number / maximum, 1)) for name, number, text in ordered]
