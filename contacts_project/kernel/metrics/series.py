"""Counters and histograms, summed up over processes when they are read. To count costs about a microsecond.

Events are counted, not rows: a total must not fall when old rows are purged. Labels come from closed vocabularies; a
metric that has more series than it may counts the rest under `other`.
"""

import os
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from contacts_project.kernel.metrics.count_file import CountFile, Values, read_files

MOST_SERIES = 3000
_SEPARATOR = "\x1f"
_lock = threading.Lock()
_declared: "dict[str, Metric]" = {}


@dataclass(frozen=True)
class Sample:
    """One series as it is read: its labels' values, and its numbers over all processes."""

    labels: tuple[str, ...]
    values: tuple[float, ...]


class Metric:
    """A name, and the values of one series for each combination of labels."""

    def __init__(self, name: str, text: str, labels: Sequence[str], width: int) -> None:
        self.name, self.text, self.labels, self.width = name, text, tuple(labels), width
        self.series: dict[tuple[str, ...], Values] = {}
        _declared[name] = self

    def _values(self, labels: tuple[str, ...]) -> Values:
        """The values of a series that this process has not counted in yet. Under the lock."""
        if len(self.series) >= MOST_SERIES:
            labels = ("other",) * len(self.labels)
        values = self.series.get(labels)
        if values is None:
            values = self.series[labels] = _process.values(_key(self.name, labels), self.width)
        return values


class Counter(Metric):
    """How often something happened."""

    def __init__(self, name: str, text: str, labels: Sequence[str]) -> None:
        super().__init__(name, text, labels, 1)

    def count(self, *labels: str, number: int = 1) -> None:
        with _lock:
            values = self.series.get(labels) or self._values(labels)
            values[0] += number


class Histogram(Metric):
    """How long something took: in each bucket those that took at most so many seconds; last, the sum of all."""

    def __init__(self, name: str, text: str, labels: Sequence[str], buckets: Sequence[float]) -> None:
        super().__init__(name, text, labels, len(buckets) + 2)
        self.buckets = tuple(buckets)

    def observe(self, seconds: float, *labels: str) -> None:
        with _lock:
            values = self.series.get(labels) or self._values(labels)
            values[bisect_left(self.buckets, seconds)] += 1
            values[-1] += seconds


class _Process:
    """The values of this process: in its file, or in memory where it can have none."""

    def __init__(self) -> None:
        self.file: CountFile | None = None
        self.is_open = False
        self.kept: dict[str, Values] = {}

    def values(self, key: str, width: int) -> Values:
        if not self.is_open:
            self._open()
        values = None
        if self.file is not None:
            values = self.file.values.get(key)
            if values is None or len(values) != width:
                values = self.file.add(key, width)
        if values is None:
            values = self.kept[key] = memoryview(bytearray(8 * width)).cast("d")
        return values

    def _open(self) -> None:
        self.is_open = True
        try:
            self.file = CountFile(folder())
        except OSError:  # the disk is full: what this process counts only it can show
            self.file = None


_process = _Process()


def folder() -> Path:
    """Where the processes of this machine count."""
    path: Path = settings.DATA_DIR / "metrics"
    return path


def declared() -> Iterable[Metric]:
    """All metrics, by name."""
    return [_declared[name] for name in sorted(_declared)]


def read_all() -> dict[str, list[Sample]]:
    """The series of each metric that is declared, over all processes that have ever counted in the folder."""
    sums: dict[str, list[float]] = {}
    for key, values in _all_values():
        metric = _declared.get(key.partition(_SEPARATOR)[0])
        if metric is not None and len(values) == metric.width:
            old = sums.setdefault(key, [0.0] * metric.width)
            sums[key] = [one + other for one, other in zip(old, values, strict=True)]
    found: dict[str, list[Sample]] = defaultdict(list)
    for key in sorted(sums):
        name, *labels = key.split(_SEPARATOR)
        found[name].append(Sample(tuple(labels), tuple(sums[key])))
    return found


def _all_values() -> Iterator[tuple[str, tuple[float, ...]]]:
    yield from read_files(folder())
    with _lock:
        kept = [(key, tuple(values)) for key, values in _process.kept.items()]
    yield from kept


def _key(name: str, labels: tuple[str, ...]) -> str:
    return _SEPARATOR.join((name, *labels))


def _after_fork() -> None:
    """The child counts in a file of its own."""
    global _lock, _process  # noqa: PLW0603 - what belongs to the process
    _lock = threading.Lock()
    if _process.file is not None:
        _process.file.close()
    _process = _Process()
    for metric in _declared.values():
        metric.series.clear()


os.register_at_fork(after_in_child=_after_fork)
