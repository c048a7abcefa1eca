"""Atomic storage of files on the local disk, and the error that remote storage raises."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

#: Suffix of files that are being written. A crash may leave one behind.
PART_SUFFIX = ".part"


class StorageUnavailableError(OSError):
    """The store of photos is unreachable or refuses a request. An OSError like those of a failing disk, hence a 503."""


class DurableFileStorage(FileSystemStorage):
    """Writes to a temporary file, syncs and renames it: a full disk or a crash leaves no partial file under the name.

    An existing file is replaced. Only the user of the service can read the files.
    """

    def __init__(self, **options: object) -> None:
        super().__init__(**{"allow_overwrite": True, **options})  # type: ignore[arg-type]  # of Storage's own keywords

    def _save(self, name: str, content: "File[bytes]") -> str:
        path = Path(self.path(name))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART_SUFFIX, dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
                file.flush()
                os.fsync(descriptor)
            Path(temporary).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink()
            raise
        _sync_folder(path.parent)
        return name


def _sync_folder(folder: Path) -> None:
    """Sync the folder: without this, a power failure can undo the rename even though the file is synced."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
