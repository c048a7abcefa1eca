"""Counters and histograms, summed over all processes of a machine when they are read.

Counting takes about a microsecond. They count events, not rows, because a total must not fall when old rows are purged.
Label values come from closed vocabularies; beyond MAX_SERIES a metric counts under the label `other`
(docs/monitoring.md).

Each process writes its values to a memory-mapped file of its own, which any process reads. It takes the first file of
the folder that no running process has locked (flock, which the kernel releases if the process is killed), and adds to
the values in it. So a total never falls because a process ended, and there are only as many files as processes have run
at the same time. All blocks of the file are allocated when it is created: on a full disk, a write to a mapped page
without a block would kill the process (SIGBUS).

The file begins with MAGIC and the number of bytes used. Records follow: length of the key, number of values, key
(UTF-8, padded to a multiple of eight bytes), values (64-bit floats).
"""

import fcntl
import mmap
import os
import struct
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from django.conf import settings

MAX_SERIES = 3000
_SEPARATOR = "\x1f"
_lock = threading.Lock()
_declared: "dict[str, Metric]" = {}
MAGIC = b"counts01"
SIZE = 512 * 1024  # bytes, for some thousand series; those that do not fit are counted in memory
_HEAD = struct.Struct("<8sQ")
_RECORD = struct.Struct("<II")
Values: TypeAlias = "memoryview[float]"


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


class CountFile:
    """The file of this process, with its values by key."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError if the disk is full, or the file system cannot lock or map files."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.descriptor = _lock_file(folder)
        try:
            os.posix_fallocate(self.descriptor, 0, SIZE)
            self._map = mmap.mmap(self.descriptor, SIZE)
        except OSError:
            os.close(self.descriptor)
            raise
        self._view = memoryview(self._map)
        self.values: dict[str, Values] = {}
        self.used = _HEAD.size
        self._resume()

    def add(self, key: str, width: int) -> "Values | None":
        """Append a record of `width` zeros and return its values; None if the file is full."""
        name = key.encode()
        start = self.used + _RECORD.size + _padded(len(name))
        end = start + 8 * width
        if end > SIZE:
            return None
        _RECORD.pack_into(self._map, self.used, len(name), width)
        self._map[self.used + _RECORD.size : start] = name.ljust(_padded(len(name)), b"\0")
        values = self._view[start:end].cast("d")
        values[:] = memoryview(bytes(8 * width)).cast("d")
        self.used = end
        # Last, so that a concurrent reader sees only complete records.
        _HEAD.pack_into(self._map, 0, MAGIC, end)
        self.values[key] = values
        return values

    def close(self) -> None:
        """Close the file. Called in a forked child, this leaves the lock of the parent in place."""
        os.close(self.descriptor)

    def _resume(self) -> None:
        # A file in another format, or damaged by a crash of the machine, is started anew.
        with suppress(ValueError):
            for key, start, width in records(self._map):
                self.values[key] = self._view[start : start + 8 * width].cast("d")
                self.used = start + 8 * width
            return
        self.values.clear()
        self.used = _HEAD.size
        _HEAD.pack_into(self._map, 0, MAGIC, self.used)


def _lock_file(folder: Path) -> int:
    """Lock the first free file of the folder and return its descriptor."""
    number = 0
    while True:
        number += 1
        descriptor = os.open(folder / f"{number}.counts", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
        except OSError:
            os.close(descriptor)
            raise
        else:
            return descriptor


def _padded(length: int) -> int:
    return -(-length // 8) * 8


def records(data: bytes | mmap.mmap) -> Iterator[tuple[str, int, int]]:
    """Yield key, offset of the first value and number of values of each record. Raises ValueError if malformed."""
    try:
        magic, used = _HEAD.unpack_from(data)
        if magic != MAGIC or used > len(data):
            raise ValueError("no file of counts")
        offset = _HEAD.size
        while offset < used:
            length, width = _RECORD.unpack_from(data, offset)
            start = offset + _RECORD.size + _padded(length)
            if start + 8 * width > used:
                raise ValueError("a record that does not end")
            key_start = offset + _RECORD.size
            yield data[key_start : key_start + length].decode(), start, width
            offset = start + 8 * width
    except struct.error as error:
        raise ValueError("no file of counts") from error


def read_files(folder: Path) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield key and values of each record of each file. Malformed files are skipped."""
    for path in sorted(folder.glob("*.counts")):
        with suppress(ValueError, OSError):
            data = path.read_bytes()
            for key, start, width in records(data):
                yield key, struct.unpack_from(f"{width}d", data, start)


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
