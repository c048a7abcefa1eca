"""Buffers for bodies and responses between a client and a thread: small ones in memory, large ones on disk."""

import logging
import threading
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import ClassVar

from contacts_project.server.refusals import RefusedError

log = logging.getLogger(__name__)

CHUNK_BYTES = 64 * 1024
# A page of a hundred people takes about two chunks. It stays in memory: a file costs ten times the CPU.
MAX_IN_MEMORY_BYTES = 256 * 1024


class Spool:
    """Bytes that are written once and then read once. Must be closed after use.

    More than MAX_IN_MEMORY_BYTES go to an unnamed temporary file; more than CHUNK_BYTES do so once all spools of the
    process together hold more than BUSY_TOTAL_BYTES.
    """

    MAX_TOTAL_BYTES: ClassVar[int] = 1024 * 1024 * 1024
    BUSY_TOTAL_BYTES: ClassVar[int] = 32 * 1024 * 1024
    total_bytes: ClassVar[int] = 0
    _lock: ClassVar[threading.Lock] = threading.Lock()  # of total_bytes: threads and the event loop write

    def __init__(self) -> None:
        self.file = SpooledTemporaryFile(max_size=MAX_IN_MEMORY_BYTES)  # noqa: SIM115 - closed by close()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Append `data`. Raises RefusedError (503) if the spools or the disk are full."""
        with Spool._lock:
            if Spool.total_bytes + len(data) > Spool.MAX_TOTAL_BYTES:
                raise RefusedError(503)
            Spool.total_bytes += len(data)
        # Before the write, which may fail: close() subtracts exactly what was added above.
        self.size += len(data)
        try:
            if self.size > CHUNK_BYTES and Spool.total_bytes > Spool.BUSY_TOTAL_BYTES:
                self.file.rollover()
            self.file.write(data)
        except OSError as error:  # the disk is full, or no folder for temporary files is writable
            log.warning("Cannot keep a body or an answer of %d bytes in a temporary file: %s", self.size, error)
            raise RefusedError(503) from error

    def chunks(self) -> Iterator[bytes]:
        """Return everything that was written, from the beginning."""
        self.file.seek(0)
        while chunk := self.file.read(CHUNK_BYTES):
            yield chunk

    def close(self) -> None:
        self.file.close()
        with Spool._lock:
            Spool.total_bytes -= self.size
        self.size = 0
