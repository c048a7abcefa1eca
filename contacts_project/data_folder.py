"""The folder that holds an instance's data: nobody but the service's user may look into it."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def prepare_data_folder(folder: Path) -> bool:
    """Make the folder where it is missing, and say whether it was. What this process makes from now on is private."""
    os.umask(_OTHERS)
    is_new = not folder.exists()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_private([folder, *folder.iterdir()])
    return is_new


def make_private(paths: Iterable[Path]) -> None:
    """Take the rights of others away, as far as the files are ours: `manage.py doctor` names those that are not."""
    for path in readable_by_others(paths):
        with suppress(OSError):
            path.chmod(path.stat().st_mode & stat.S_IRWXU)


def readable_by_others(paths: Iterable[Path]) -> Iterator[Path]:
    """Those that group or world may read, write or enter; a link is as private as what it points to."""
    for path in paths:
        with suppress(OSError):  # SQLite's -wal and -shm come and go
            if path.stat().st_mode & _OTHERS and not path.is_symlink():
                yield path
