"""The account on this device, in one SQLite file: the service's records, edits that were not sent yet, conflicts.

Each step is one transaction: a program that is killed at any point finds the file as it was before the step or after
it. Only one program at a time may sync a file.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

JSON = dict[str, Any]

_TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    type TEXT NOT NULL, id TEXT NOT NULL, etag TEXT NOT NULL, record TEXT NOT NULL, reading INTEGER NOT NULL,
    revision INTEGER, PRIMARY KEY (type, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS edits (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, type TEXT NOT NULL, id TEXT NOT NULL,
    action TEXT NOT NULL, base TEXT NOT NULL, body TEXT NOT NULL, etag TEXT, state TEXT NOT NULL, problem TEXT,
    seen INTEGER);
CREATE INDEX IF NOT EXISTS edits_of_record ON edits (type, id);
CREATE TABLE IF NOT EXISTS conflicts (
    number INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, id TEXT NOT NULL, action TEXT NOT NULL,
    field TEXT, base TEXT NOT NULL, mine TEXT NOT NULL, theirs TEXT NOT NULL);
"""


# Columns that files of older versions lack.
_NEWER_COLUMNS = (("records", "revision"), ("edits", "seen"))


class State(StrEnum):
    """The state of an edit: not sent; sent, and perhaps executed; refused by the service, to be shown to the user."""

    WAITING = "waiting"
    SENDING = "sending"
    REFUSED = "refused"


class Action(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    RESTORE = "restore"


@dataclass(frozen=True)
class Record:
    """A record as the service last returned it; `etag` is for If-Match.

    `revision` is that of the feed; None in a response to an edit, and for files of older versions.
    """

    etag: str
    record: JSON
    revision: int | None = None


@dataclass(frozen=True)
class Edit:
    """A change by the user. `base` has the previous values of the fields in `body`; for a deletion, the whole record.

    `etag` is that of the deleted record, `seen` the revision up to which its user had seen the account, `key` the
    Idempotency-Key, `problem` the body of the refusal.
    """

    number: int
    key: str
    type: str
    id: str
    action: Action
    base: JSON
    body: JSON
    etag: str | None
    state: State
    problem: JSON | None
    seen: int | None = None


@dataclass(frozen=True)
class Conflict:
    """Changes here and elsewhere that could not be merged. The service has `theirs`; `mine` is kept only here.

    `action` is what was done here. If `field` is None, the conflict is about the whole record: for an UPDATE it was
    deleted elsewhere (`base` is the record, `mine` the changed fields), for a DELETE it was changed elsewhere.
    """

    number: int
    type: str
    id: str
    action: Action
    field: str | None
    base: Any
    mine: Any
    theirs: Any


class Store:
    """The tables. Copy has the logic."""

    def __init__(self, path: Path | str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=20)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute(
            "PRAGMA synchronous = FULL"
        )  # an edit that was shown as saved must survive a power failure
        self._connection.executescript(_TABLES)
        for table, column in _NEWER_COLUMNS:
            if column not in {row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")}:
                self._execute(f"ALTER TABLE {table} ADD COLUMN {column} INTEGER")

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in a transaction; a nested one joins the outer one."""
        if self._connection.in_transaction:
            yield
            return
        # IMMEDIATE takes the write lock now: what is read in the transaction cannot change before it is written.
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    # Facts: the account, the cursor of the feed, and the number of the current full reading of the feed.

    def fact(self, name: str) -> str | None:
        row = self._fetch_one("SELECT value FROM facts WHERE name = ?", name)
        return None if row is None else str(row[0])

    def set_fact(self, name: str, value: str | None) -> None:
        if value is None:
            self._execute("DELETE FROM facts WHERE name = ?", name)
        else:
            self._execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, value)

    # Records.

    def record(self, type_: str, id_: str) -> Record | None:
        row = self._fetch_one("SELECT etag, record, revision FROM records WHERE type = ? AND id = ?", type_, id_)
        return None if row is None else Record(row[0], json.loads(row[1]), row[2])

    def records(self, type_: str) -> Iterator[JSON]:
        for (text,) in self._connection.execute("SELECT record FROM records WHERE type = ? ORDER BY id", (type_,)):
            yield json.loads(text)

    def mentioning(self, type_: str, id_: str) -> Iterator[Record]:
        """The records of a type that contain this id anywhere."""
        statement = "SELECT etag, record, revision FROM records WHERE type = ? AND instr(record, ?)"
        for etag, text, revision in self._connection.execute(statement, (type_, id_)):
            yield Record(etag, json.loads(text), revision)

    def put_records(self, rows: Iterable[tuple[str, str, str, JSON, int | None]], reading: int) -> None:
        """Insert or replace rows of type, id, etag, record, revision."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO records (type, id, etag, record, revision, reading) VALUES (?, ?, ?, ?, ?, ?)",
            ((type_, id_, etag, json.dumps(record), revision, reading) for type_, id_, etag, record, revision in rows),
        )

    def remove_record(self, type_: str, id_: str) -> None:
        self._execute("DELETE FROM records WHERE type = ? AND id = ?", type_, id_)

    def not_read_since(self, reading: int) -> list[tuple[str, str]]:
        """Return type and id of the records that the reading with this number did not contain."""
        return list(self._connection.execute("SELECT type, id FROM records WHERE reading < ?", (reading,)))

    # Edits.

    def edits(self, type_: str | None = None, id_: str | None = None) -> list[Edit]:
        """Return the edits, of all records, of a type or of one record, in the order in which they were made."""
        rows = self._connection.execute(
            "SELECT * FROM edits WHERE (?1 IS NULL OR type = ?1) AND (?2 IS NULL OR id = ?2) ORDER BY number",
            (type_, id_),
        )
        return [_parse_edit(row) for row in rows]

    def edit(self, number: int) -> Edit | None:
        row = self._fetch_one("SELECT * FROM edits WHERE number = ?", number)
        return None if row is None else _parse_edit(row)

    def next_edit(self, number: int) -> Edit | None:
        """Return the first edit with a higher number."""
        row = self._fetch_one("SELECT * FROM edits WHERE number > ? ORDER BY number LIMIT 1", number)
        return None if row is None else _parse_edit(row)

    def last_edit(self) -> Edit | None:
        row = self._fetch_one("SELECT * FROM edits ORDER BY number DESC LIMIT 1")
        return None if row is None else _parse_edit(row)

    def add_edit(
        self, key: str, type_: str, id_: str, action: Action, *, base: JSON, body: JSON, etag: str | None,
        seen: int | None = None,
    ) -> None:  # fmt: skip
        self._execute(
            "INSERT INTO edits (key, type, id, action, base, body, etag, state, seen)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(key, type_, id_, action, json.dumps(base), json.dumps(body), etag, State.WAITING, seen),
        )

    def change_edit(self, number: int, **columns: Any) -> None:
        """Set columns by name; dictionaries are stored as JSON."""
        values = [json.dumps(value) if isinstance(value, dict) else value for value in columns.values()]
        names = ", ".join(f"{name} = ?" for name in columns)
        self._execute(f"UPDATE edits SET {names} WHERE number = ?", *values, number)  # noqa: S608 - names of our columns

    def remove_edit(self, number: int) -> None:
        self._execute("DELETE FROM edits WHERE number = ?", number)

    # Conflicts.

    def conflicts(self) -> list[Conflict]:
        return [_parse_conflict(row) for row in self._connection.execute("SELECT * FROM conflicts ORDER BY number")]

    def add_conflict(
        self, type_: str, id_: str, action: Action, *, field: str | None, base: Any, mine: Any, theirs: Any
    ) -> None:
        self._execute(
            "INSERT INTO conflicts (type, id, action, field, base, mine, theirs) VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(type_, id_, action, field, json.dumps(base), json.dumps(mine), json.dumps(theirs)),
        )

    def move_conflicts(self, type_: str, id_: str, new_id: str) -> None:
        """Assign the conflicts of a record to the one that replaces it."""
        self._execute("UPDATE conflicts SET id = ? WHERE type = ? AND id = ?", new_id, type_, id_)

    def remove_conflict(self, number: int) -> None:
        self._execute("DELETE FROM conflicts WHERE number = ?", number)

    def _fetch_one(self, statement: str, *values: Any) -> Any:
        return self._connection.execute(statement, values).fetchone()

    def _execute(self, statement: str, *values: Any) -> None:
        self._connection.execute(statement, values)


def _parse_edit(row: Any) -> Edit:
    number, key, type_, id_, action, base, body, etag, state, problem, seen = row
    refusal = None if problem is None else json.loads(problem)
    return Edit(
        number, key, type_, id_, Action(action), json.loads(base), json.loads(body), etag, State(state), refusal, seen
    )


def _parse_conflict(row: Any) -> Conflict:
    number, type_, id_, action, field, base, mine, theirs = row
    return Conflict(number, type_, id_, Action(action), field, json.loads(base), json.loads(mine), json.loads(theirs))


def apply_edits(record: JSON | None, edits: Iterable[Edit]) -> JSON | None:
    """Return the record as the user sees it, with the edits; None if there is none or it was deleted here."""
    for edit in edits:
        if edit.action is Action.DELETE:
            record = None if edit.state is not State.REFUSED else record
        elif edit.action is Action.CREATE:
            record = {"id": edit.id, **edit.body}
        elif edit.action is Action.RESTORE:
            record = record or {**edit.base, **edit.body, "id": edit.id}
        elif record is not None:
            record = {**record, **edit.body}
    return record


def pick_fields(record: Mapping[str, Any], fields: Iterable[str]) -> JSON:
    """Return the values of these fields; None for one that is missing."""
    return {field: record.get(field) for field in fields}
