"""The photos that a backup has, noted in a file of its own: millions of names need no memory."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager


class PhotoLedger:
    """Per name: whether the photo was written, and the last round in which a row named it."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database, self._round = database, 0
        database.execute("CREATE TABLE photos (name TEXT PRIMARY KEY, written INTEGER, round INTEGER) WITHOUT ROWID")

    def begin_round(self) -> None:
        self._round += 1

    def is_written(self, name: str) -> bool | None:
        """Whether it was written; None for a name that no round has met."""
        row = self._database.execute("SELECT written FROM photos WHERE name = ?", [name]).fetchone()
        return None if row is None else bool(row[0])

    def note(self, name: str, *, written: bool) -> None:
        """A row of this round names it."""
        self._database.execute("INSERT OR REPLACE INTO photos VALUES (?, ?, ?)", [name, written, self._round])

    def superfluous(self) -> Iterator[str]:
        """Those that were written, but that no row of this round names."""
        rows = self._database.execute("SELECT name FROM photos WHERE written AND round < ?", [self._round])
        return (name for (name,) in rows)

    def count(self, *, written: bool) -> int:
        """How many names of this round have been written, or not."""
        query = "SELECT count(*) FROM photos WHERE written = ? AND round = ?"
        return int(self._database.execute(query, [written, self._round]).fetchone()[0])


@contextmanager
def open_photo_ledger() -> Iterator[PhotoLedger]:
    """In a temporary file that SQLite makes, and that is gone with the connection."""
    with closing(sqlite3.connect("", isolation_level=None)) as database:
        database.execute("BEGIN")
        yield PhotoLedger(database)
