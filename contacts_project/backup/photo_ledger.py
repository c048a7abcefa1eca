"""Records which photos a backup contains. Uses a temporary file: millions of names would take much memory."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager


class PhotoLedger:
    """Stores by name whether the photo was written, and the last round in which a row named it."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database, self._round = database, 0
        database.execute("CREATE TABLE photos (name TEXT PRIMARY KEY, written INTEGER, round INTEGER) WITHOUT ROWID")

    def begin_round(self) -> None:
        self._round += 1

    def is_written(self, name: str) -> bool | None:
        """Return None for a name that was not seen in any round."""
        row = self._database.execute("SELECT written FROM photos WHERE name = ?", [name]).fetchone()
        return None if row is None else bool(row[0])

    def record(self, name: str, *, written: bool) -> None:
        """Record that a row of this round names the photo."""
        self._database.execute("INSERT OR REPLACE INTO photos VALUES (?, ?, ?)", [name, written, self._round])

    def unreferenced(self) -> Iterator[str]:
        """Return the names of written photos that no row of this round names."""
        rows = self._database.execute("SELECT name FROM photos WHERE written AND round < ?", [self._round])
        return (name for (name,) in rows)

    def count(self, *, written: bool) -> int:
        """Count the names of this round that were written, or were not."""
        query = "SELECT count(*) FROM photos WHERE written = ? AND round = ?"
        return int(self._database.execute(query, [written, self._round]).fetchone()[0])


@contextmanager
def open_photo_ledger() -> Iterator[PhotoLedger]:
    # An empty name makes SQLite use a temporary file, which it deletes when the connection is closed.
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        # One transaction for all: a commit for each name would cost a write to the disk.
        database.execute("BEGIN")
        yield PhotoLedger(database)
