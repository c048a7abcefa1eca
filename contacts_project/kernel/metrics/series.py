"""Counters and histograms, summed over processes when they are read. Counting takes about a microsecond.

They count events, not rows, because a total must not fall when old rows are purged. Label values come from closed
vocabularies; beyond MAX_SERIES a metric counts under the label `other`.
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

MAX_SERIES = 3000
_SEPARATOR = "\x1f"
_lock = threading.Lock()
_declared: "dict[str, Metric]" = {}


@dataclass(frozen=True)
class Sample:
    """A series as read: the values of its labels, and its numbers summed over all processes."""

    labels: tuple[str, ...]
    values: tuple[float, ...]


class Metric:
    """A metric with one series for each combination of label values. `width` is the number of values of a series."""

    def __init__(self, name: str, text: str, labels: Sequence[str], width: int) -> None:
        self.name, self.text, self.labels, self.width = name, text, tuple(labels), width
        self.series: dict[tuple[str, ...], Values] = {}
        _declared[name] = self

    def _values(self, labels: tuple[str, ...]) -> Values:
        """Return the values of a series that is new to this process. The caller holds `_lock`."""
        if len(self.series) >= MAX_SERIES:
            labels = ("other",) * len(self.labels)
        values = self.series.get(labels)
        if values is None:
            values = self.series[labels] = _process.values(_SEPARATOR.join((self.name, *labels)), self.width)
        return values


class Counter(Metric):
    """The number of times something happened."""

    def __init__(self, name: str, text: str, labels: Sequence[str]) -> None:
        super().__init__(name, text, labels, 1)

    def count(self, *labels: str, number: int = 1) -> None:
        with _lock:
            values = self.series.get(labels) or self._values(labels)
            values[0] += number


class Histogram(Metric):
    """Durations. A series has a count per bucket (upper bounds in seconds), one above all, and the sum of seconds."""

    def __init__(self, name: str, text: str, labels: Sequence[str], buckets: Sequence[float]) -> None:
        super().__init__(name, text, labels, len(buckets) + 2)
        self.buckets = tuple(buckets)

    def observe(self, seconds: float, *labels: str) -> None:
        with _lock:
            values = self.series.get(labels) or self._values(labels)
            values[bisect_left(self.buckets, seconds)] += 1
            values[-1] += seconds


class _Process:
    """The values of this process: in its file, or in memory if it has none or the file is full."""

    def __init__(self) -> None:
        self.file: CountFile | None = None
        self.is_open = False
        self.in_memory: dict[str, Values] = {}

    def values(self, key: str, width: int) -> Values:
        # At the first count, not in __init__: that runs at import and in every forked child, also if it counts nothing.
        if not self.is_open:
            self._open()
        values = None
        if self.file is not None:
            values = self.file.values.get(key)
            if values is None or len(values) != width:
                values = self.file.add(key, width)
        if values is None:
            values = self.in_memory[key] = memoryview(bytearray(8 * width)).cast("d")
        return values

    def _open(self) -> None:
        self.is_open = True
        try:
            self.file = CountFile(folder())
        except OSError:  # e.g. the disk is full: the counts of this process are then visible only in its own /metrics
            self.file = None


_process = _Process()


def folder() -> Path:
    """The folder with the files of all processes."""
    path: Path = settings.DATA_DIR / "metrics"
    return path


def declared() -> Iterable[Metric]:
    """All metrics, sorted by name."""
    return [_declared[name] for name in sorted(_declared)]


def read_all() -> dict[str, list[Sample]]:
    """Return the series of each declared metric, summed over all processes that have ever counted in the folder."""
    sums: dict[str, list[float]] = {}
    for key, values in _read_values():
        metric = _declared.get(key.partition(_SEPARATOR)[0])
        # Files may contain metrics of older versions: removed ones, or with other buckets.
        if metric is not None and len(values) == metric.width:
            old = sums.setdefault(key, [0.0] * metric.width)
            sums[key] = [one + other for one, other in zip(old, values, strict=True)]
    samples: dict[str, list[Sample]] = defaultdict(list)
    for key in sorted(sums):
        name, *labels = key.split(_SEPARATOR)
        samples[name].append(Sample(tuple(labels), tuple(sums[key])))
    return samples


def _read_values() -> Iterator[tuple[str, tuple[float, ...]]]:
    yield from read_files(folder())
    with _lock:
        in_memory = [(key, tuple(values)) for key, values in _process.in_memory.items()]
    yield from in_memory


def _after_fork() -> None:
    """Give the child its own file."""
    global _lock, _process  # noqa: PLW0603 - state of the process
    # Another thread of the parent may have held the lock at the fork; in the child nobody would release it.
    _lock = threading.Lock()
    if _process.file is not None:
        _process.file.close()
    _process = _Process()
    for metric in _declared.values():
        metric.series.clear()  # the cached values point into the file of the parent


os.register_at_fork(after_in_child=_after_fork)
