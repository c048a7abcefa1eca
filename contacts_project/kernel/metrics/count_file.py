"""A file of numbers that one process counts in and any process reads.

A process takes the first file of the folder that no living process holds (flock: the kernel lets go of it when its
holder is killed), and counts on from what stands there. So a total never falls because a process ended, and there are
as many files as processes ran at a time. The pages are allocated when the file is made: a write to a mapped page for
which a full disk has no room would kill the process.

The file begins with MAGIC and how many bytes are used; then come records: length of the key, number of values, key
(UTF-8, filled up to a multiple of eight), values (64-bit floats).
"""

import fcntl
import mmap
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

MAGIC = b"counts01"
SIZE = 512 * 1024  # of some thousand series; those that find no room are counted in memory
_HEAD = struct.Struct("<8sQ")
_RECORD = struct.Struct("<II")
Values: TypeAlias = "memoryview[float]"


class CountFile:
    """The file of this process, and in it the values by key."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError when there is no room, or the file system cannot do it."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.number = _take(folder)
        try:
            os.posix_fallocate(self.number, 0, SIZE)
            self._map = mmap.mmap(self.number, SIZE)
        except OSError:
            os.close(self.number)
            raise
        self._view = memoryview(self._map)
        self.values: dict[str, Values] = {}
        self.used = _HEAD.size
        self._resume()

    def add(self, key: str, width: int) -> "Values | None":
        """Room for `width` values, all 0; None where there is none left."""
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
        _HEAD.pack_into(self._map, 0, MAGIC, end)  # last: who reads meanwhile sees whole records
        self.values[key] = values
        return values

    def close(self) -> None:
        """Leave the file to other processes. After a fork the parent's is untouched."""
        os.close(self.number)

    def _resume(self) -> None:
        with suppress(ValueError):  # of another form, or damaged by a crash of the machine: begun anew
            for key, start, width in records(self._map):
                self.values[key] = self._view[start : start + 8 * width].cast("d")
                self.used = start + 8 * width
            return
        self.values.clear()
        self.used = _HEAD.size
        _HEAD.pack_into(self._map, 0, MAGIC, self.used)


def _take(folder: Path) -> int:
    """The descriptor of a file that is now ours."""
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
    """Key, place of the first value and number of values of each record. Raises ValueError for what is none."""
    try:
        magic, used = _HEAD.unpack_from(data)
        if magic != MAGIC or used > len(data):
            raise ValueError("no file of counts")
        at = _HEAD.size
        while at < used:
            length, width = _RECORD.unpack_from(data, at)
            start = at + _RECORD.size + _padded(length)
            if start + 8 * width > used:
                raise ValueError("a record that does not end")
            yield data[at + _RECORD.size : at + _RECORD.size + length].decode(), start, width
            at = start + 8 * width
    except struct.error as error:
        raise ValueError("no file of counts") from error


def read_files(folder: Path) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Key and values of each record of each file."""
    for path in sorted(folder.glob("*.counts")):
        with suppress(ValueError, OSError):
            data = path.read_bytes()
            for key, start, width in records(data):
                yield key, struct.unpack_from(f"{width}d", data, start)
