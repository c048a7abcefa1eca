"""Files on this machine's disk that are there whole or not at all; what a store elsewhere raises when it is away."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

#: How the names of files end that are being written; a crash may leave one.
PART_SUFFIX = ".part"


class StorageUnavailableError(OSError):
    """The store of photos does not answer, or refuses. As a failing disk: what was asked for is `unavailable`."""


class DurableFileStorage(FileSystemStorage):
    """Writes aside, syncs, and renames: a full disk or a crash leaves no half file under the name.

    A file of the same name is replaced. Nobody but the service's user may read one.
    """

    def __init__(self, **options: object) -> None:
        super().__init__(**{"allow_overwrite": True, **options})  # type: ignore[arg-type]  # of Storage's own keywords

    def _save(self, name: str, content: "File[bytes]") -> str:
        path = Path(self.path(name))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, aside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART_SUFFIX, dir=path.parent)
        try:
            with os.fdopen(number, "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(number)
            Path(aside).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(aside).unlink()
            raise
        _sync_folder(path.parent)
        return name


def _sync_folder(folder: Path) -> None:
    """Make the new name last, too."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
