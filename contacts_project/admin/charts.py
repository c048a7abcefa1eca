"""Charts as numbers: where the bars and lines of an SVG stand. Templates draw them; styles colour them by class."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 600, 150
_GAP = 0.25  # of a day's room


@dataclass(frozen=True)
class Bar:
    """A rectangle of the chart, of the kind that its class names."""

    kind: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Column:
    """One day: its bars from below, and what it says when it is pointed at."""

    text: str
    x: float
    width: float
    bars: Sequence[Bar]


@dataclass(frozen=True)
class DayChart:
    """Stacked bars by day. `legend`: kind and sum of all days."""

    columns: Sequence[Column]
    legend: Sequence[tuple[str, int]]
    most: int
    first: dt.date
    last: dt.date

    @property
    def words(self) -> list[tuple[str, str]]:
        """The legend, without what did not happen; at least its first line."""
        return [(kind, f"{number:,}") for kind, number in self.legend if number or kind == self.legend[0][0]]

    @property
    def scale(self) -> str:
        return f"at most {self.most:,} a day"

    @property
    def text(self) -> str:
        """For who does not see it."""
        parts = ", ".join(f"{kind} {number:,}" for kind, number in self.legend)
        return f"{self.first} to {self.last}: {parts}"


@dataclass(frozen=True)
class Line:
    """A line over days, as the points of a polyline; `latest` in words."""

    points: str
    area: str
    latest: str
    first: dt.date
    last: dt.date


@dataclass(frozen=True)
class Share:
    """One of several in a list, with its bar in percent of the largest."""

    name: str
    number: str
    percent: float


def day_chart(days: Mapping[dt.date, Mapping[str, int]], kinds: Sequence[str]) -> DayChart:
    """Of `kinds`, in the order in which they are stacked."""
    most = max([1, *(sum(numbers.get(kind, 0) for kind in kinds) for numbers in days.values())])
    room = WIDTH / max(1, len(days))
    columns = [
        _column(day, numbers, kinds, index * room, room, most) for index, (day, numbers) in enumerate(days.items())
    ]
    legend = [(kind, sum(numbers.get(kind, 0) for numbers in days.values())) for kind in kinds]
    return DayChart(columns, legend, most, min(days), max(days))


def _column(
    day: dt.date, numbers: Mapping[str, int], kinds: Sequence[str], left: float, room: float, most: int
) -> Column:
    bars, top = [], float(HEIGHT)
    for kind in kinds:
        if height := HEIGHT * numbers.get(kind, 0) / most:
            top -= height
            bars.append(
                Bar(
                    kind, round(left + room * _GAP / 2, 2), round(top, 2), round(room * (1 - _GAP), 2), round(height, 2)
                )
            )
    said = ", ".join(f"{kind} {numbers.get(kind, 0):,}" for kind in kinds)
    return Column(f"{day}: {said}", round(left, 2), round(room, 2), bars)


def line(days: Mapping[dt.date, int], latest: str) -> Line:
    """From nought to the most; a day that is missing is passed over."""
    most = max([1, *days.values()])
    first, last = (min(days), max(days)) if days else (dt.date.min, dt.date.min)
    span = max(1, (last - first).days)
    places = [(WIDTH * (day - first).days / span, HEIGHT * (1 - number / most)) for day, number in days.items()]
    if len(places) == 1:
        places = [(0.0, places[0][1]), (float(WIDTH), places[0][1])]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return Line(points, f"0,{HEIGHT} {points} {WIDTH},{HEIGHT}" if places else "", latest, first, last)


def shares(numbers: Iterable[tuple[str, float, str]]) -> list[Share]:
    """Of (name, number, number in words), the largest first."""
    ordered = sorted(numbers, key=lambda item: -item[1])
    most = max([number for _, number, _ in ordered], default=0) or 1
    return [Share(name, words, round(100 * number / most, 1)) for name, number, words in ordered]
