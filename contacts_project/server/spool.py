"""Bodies and answers on their way between a client and a thread: the small ones in memory, the others on disk."""

import logging
import threading
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import ClassVar

from contacts_project.server.refusals import RefusedError

log = logging.getLogger(__name__)

PIECE = 64 * 1024
# A page of a hundred people is twice as long as a piece, and a file takes ten times the CPU that memory does.
IN_MEMORY = 256 * 1024


class Spool:
    """Bytes that are written once and then read once; beyond 256 KiB (64 KiB once many are kept) in a file without a
    name. Close it after use.
    """

    ROOM: ClassVar[int] = 1024 * 1024 * 1024
    MANY: ClassVar[int] = 32 * 1024 * 1024
    taken: ClassVar[int] = 0
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self.file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - closed by close()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Add `data`. Raises RefusedError when there is no room."""
        with Spool._lock:
            if Spool.taken + len(data) > Spool.ROOM:
                raise RefusedError(503)
            Spool.taken += len(data)
        self.size += len(data)
        try:
            if self.size > PIECE and Spool.taken > Spool.MANY:
                self.file.rollover()
            self.file.write(data)
        except OSError as error:  # the disk is full, or no folder for temporary files may be written to
            log.warning("Cannot keep a body or an answer of %d bytes in a temporary file: %s", self.size, error)
            raise RefusedError(503) from error

    def pieces(self) -> Iterator[bytes]:
        """What was written, from its beginning."""
        self.file.seek(0)
        while piece := self.file.read(PIECE):
            yield piece

    def close(self) -> None:
        self.file.close()
        with Spool._lock:
            Spool.taken -= self.size
        self.size = 0
