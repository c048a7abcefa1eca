"""The folder with an instance's data: only the service's user may access its files."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

# As prefixes, for SQLite's additional files: -wal, -shm, and our -turn.
OWN_NAMES = (
    "contacts.sqlite3",
    "broker.sqlite3",
    "exchanges.lock",
    "gazetteer",
    "metrics",
    "keys.json",
    "vapid.json",
    "media",
    "static",
)
_GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def prepare_data_folder(folder: Path) -> bool:
    """Create the folder if it is missing, and return whether it was. Sets the umask of the process to private."""
    os.umask(_GROUP_AND_OTHERS)
    is_new = not folder.exists()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "static").mkdir(exist_ok=True)  # WhiteNoise warns if STATIC_ROOT is missing
    make_private(own_entries(folder))
    return is_new


def own_entries(folder: Path) -> Iterator[Path]:
    """Return the entries that belong to the service, and the folder itself unless it contains anything else."""
    entries = list(folder.iterdir())
    own = [entry for entry in entries if entry.name.startswith(OWN_NAMES)]
    yield from own
    if len(own) == len(entries):
        yield folder


def own_paths(folder: Path) -> Iterator[Path]:
    """Return the entries that belong to the service, and everything in them."""
    for entry in own_entries(folder):
        yield entry
        if entry != folder:
            yield from entry.rglob("*")


def make_private(paths: Iterable[Path]) -> None:
    """Remove the permissions of group and others. Skips files of another user, which `manage.py doctor` reports."""
    for path in readable_by_others(paths):
        with suppress(OSError):
            path.chmod(path.stat().st_mode & stat.S_IRWXU)


def readable_by_others(paths: Iterable[Path]) -> Iterator[Path]:
    """Return the paths that group or others may read, write or enter. Skips symbolic links, which have no own mode."""
    for path in paths:
        with suppress(OSError):  # SQLite deletes -wal and -shm with the last connection
            if path.stat().st_mode & _GROUP_AND_OTHERS and not path.is_symlink():
                yield path
