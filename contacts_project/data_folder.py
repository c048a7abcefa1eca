"""The folder that holds an instance's data: nobody but the service's user may look into what is ours there."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

OWN = (
    "contacts.sqlite3",
    "broker.sqlite3",
    "metrics",
    "keys.json",
    "media",
    "static",
)  # and what SQLite writes beside: -wal, -shm
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def prepare_data_folder(folder: Path) -> bool:
    """Make the folder where it is missing, and say whether it was. What this process makes from now on is private."""
    os.umask(_OTHERS)
    is_new = not folder.exists()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "static").mkdir(exist_ok=True)
    make_private(own_entries(folder))
    return is_new


def own_entries(folder: Path) -> Iterator[Path]:
    """What of the folder is this service's; the folder itself unless somebody keeps other things in it, too."""
    entries = list(folder.iterdir())
    own = [entry for entry in entries if entry.name.startswith(OWN)]
    yield from own
    if len(own) == len(entries):
        yield folder


def everything_in(folder: Path) -> Iterator[Path]:
    """The entries that are ours, and all that is below them."""
    for entry in own_entries(folder):
        yield entry
        if entry != folder:
            yield from entry.rglob("*")


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
