"""Bodies and answers on their way between a client and a thread: the small ones in memory, the others on disk."""

import threading
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import ClassVar

from contacts_project.server.refusals import RefusedError

PIECE = 64 * 1024


class Spool:
    """Bytes that are written once and then read once; beyond 64 KiB in a file without a name. Close it after use."""

    ROOM: ClassVar[int] = 1024 * 1024 * 1024
    taken: ClassVar[int] = 0
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self.file = SpooledTemporaryFile(max_size=PIECE)  # noqa: SIM115 - closed by close()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Add `data`. Raises RefusedError when there is no room."""
        with Spool._lock:
            if Spool.taken + len(data) > Spool.ROOM:
                raise RefusedError(503)
            Spool.taken += len(data)
        self.size += len(data)
        try:
            self.file.write(data)
        except OSError as error:  # the disk is full
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
