"""A memory-mapped file of values that one process writes and any process reads.

A process takes the first file of the folder that no running process has locked (flock, which the kernel releases if the
process is killed), and adds to the values in it. So a total never falls because a process ended, and there are only as
many files as processes have run at the same time. All blocks of the file are allocated when it is created: on a full
disk, a write to a mapped page without a block would kill the process (SIGBUS).

The file begins with MAGIC and the number of bytes used. Records follow: length of the key, number of values, key
(UTF-8, padded to a multiple of eight bytes), values (64-bit floats).
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
SIZE = 512 * 1024  # bytes, for some thousand series; those that do not fit are counted in memory
_HEAD = struct.Struct("<8sQ")
_RECORD = struct.Struct("<II")
Values: TypeAlias = "memoryview[float]"


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
