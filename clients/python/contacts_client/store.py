"""The account on this device, in one SQLite file: records as the service has them, edits that wait, conflicts.

Whatever belongs together is one transaction, so that a program that is killed anywhere finds its file as it was before
or as it should be after. One program at a time syncs a file.
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
    PRIMARY KEY (type, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS edits (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, type TEXT NOT NULL, id TEXT NOT NULL,
    action TEXT NOT NULL, base TEXT NOT NULL, body TEXT NOT NULL, etag TEXT, state TEXT NOT NULL, problem TEXT);
CREATE INDEX IF NOT EXISTS edits_of_record ON edits (type, id);
CREATE TABLE IF NOT EXISTS conflicts (
    number INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, id TEXT NOT NULL, action TEXT NOT NULL,
    field TEXT, base TEXT NOT NULL, mine TEXT NOT NULL, theirs TEXT NOT NULL);
"""


class State(StrEnum):
    """Of an edit: not sent yet; sent, and perhaps carried out; refused by the service, and shown to the user."""

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
    """What the service had when it was last asked; `etag` is for If-Match."""

    etag: str
    record: JSON


@dataclass(frozen=True)
class Edit:
    """Something the user did. `base` has the values that were seen of what `body` changes (of a deletion: the record),
    `etag` the record's when it was deleted, `key` the Idempotency-Key; `problem` is the body of a refusal."""

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


@dataclass(frozen=True)
class Conflict:
    """What was done here and elsewhere, and could not be joined. The service has `theirs`; `mine` is kept here.

    `action` is what was done here. With `field` None it is about the whole record: of an UPDATE that it was deleted
    elsewhere (`base` is what it was, `mine` the changed fields), of a DELETE that it was changed elsewhere.
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
    """The tables. What makes sense of them is Copy."""

    def __init__(self, path: Path | str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=20)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")  # an edit that the user has seen saved is saved
        self._connection.executescript(_TABLES)

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the block or nothing; inside another it joins that one."""
        if self._connection.in_transaction:
            yield
            return
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    # Facts: the account, the cursor of the feed, and the number of the reading that is under way.

    def fact(self, name: str) -> str | None:
        row = self._one("SELECT value FROM facts WHERE name = ?", name)
        return None if row is None else str(row[0])

    def set_fact(self, name: str, value: str | None) -> None:
        if value is None:
            self._run("DELETE FROM facts WHERE name = ?", name)
        else:
            self._run("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, value)

    # Records.

    def record(self, type_: str, id_: str) -> Record | None:
        row = self._one("SELECT etag, record FROM records WHERE type = ? AND id = ?", type_, id_)
        return None if row is None else Record(row[0], json.loads(row[1]))

    def records(self, type_: str) -> Iterator[JSON]:
        for (text,) in self._connection.execute("SELECT record FROM records WHERE type = ? ORDER BY id", (type_,)):
            yield json.loads(text)

    def put_records(self, rows: Iterable[tuple[str, str, str, JSON]], reading: int) -> None:
        """Rows of type, id, etag, record."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?)",
            ((type_, id_, etag, json.dumps(record), reading) for type_, id_, etag, record in rows),
        )

    def remove_record(self, type_: str, id_: str) -> None:
        self._run("DELETE FROM records WHERE type = ? AND id = ?", type_, id_)

    def not_read_since(self, reading: int) -> list[tuple[str, str]]:
        """Type and id of what the reading with this number did not meet."""
        return list(self._connection.execute("SELECT type, id FROM records WHERE reading < ?", (reading,)))

    # Edits.

    def edits(self, type_: str | None = None, id_: str | None = None) -> list[Edit]:
        """All in the order in which they were made, or those of a type or record."""
        rows = self._connection.execute(
            "SELECT * FROM edits WHERE (?1 IS NULL OR type = ?1) AND (?2 IS NULL OR id = ?2) ORDER BY number",
            (type_, id_),
        )
        return [_edit(row) for row in rows]

    def edit(self, number: int) -> Edit | None:
        row = self._one("SELECT * FROM edits WHERE number = ?", number)
        return None if row is None else _edit(row)

    def next_edit(self, number: int) -> Edit | None:
        """The first edit after this number."""
        row = self._one("SELECT * FROM edits WHERE number > ? ORDER BY number LIMIT 1", number)
        return None if row is None else _edit(row)

    def last_edit(self) -> Edit | None:
        row = self._one("SELECT * FROM edits ORDER BY number DESC LIMIT 1")
        return None if row is None else _edit(row)

    def add_edit(
        self, key: str, type_: str, id_: str, action: Action, *, base: JSON, body: JSON, etag: str | None
    ) -> None:
        self._run(
            "INSERT INTO edits (key, type, id, action, base, body, etag, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(key, type_, id_, action, json.dumps(base), json.dumps(body), etag, State.WAITING),
        )

    def change_edit(self, number: int, **columns: Any) -> None:
        """Columns by their names; dictionaries become JSON."""
        values = [json.dumps(value) if isinstance(value, dict) else value for value in columns.values()]
        names = ", ".join(f"{name} = ?" for name in columns)
        self._run(f"UPDATE edits SET {names} WHERE number = ?", *values, number)  # noqa: S608 - names of our columns

    def remove_edit(self, number: int) -> None:
        self._run("DELETE FROM edits WHERE number = ?", number)

    # Conflicts.

    def conflicts(self) -> list[Conflict]:
        return [_conflict(row) for row in self._connection.execute("SELECT * FROM conflicts ORDER BY number")]

    def add_conflict(
        self, type_: str, id_: str, action: Action, *, field: str | None, base: Any, mine: Any, theirs: Any
    ) -> None:
        self._run(
            "INSERT INTO conflicts (type, id, action, field, base, mine, theirs) VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(type_, id_, action, field, json.dumps(base), json.dumps(mine), json.dumps(theirs)),
        )

    def move_conflicts(self, type_: str, id_: str, new_id: str) -> None:
        """To the record that was made in place of this one."""
        self._run("UPDATE conflicts SET id = ? WHERE type = ? AND id = ?", new_id, type_, id_)

    def remove_conflict(self, number: int) -> None:
        self._run("DELETE FROM conflicts WHERE number = ?", number)

    def _one(self, statement: str, *values: Any) -> Any:
        return self._connection.execute(statement, values).fetchone()

    def _run(self, statement: str, *values: Any) -> None:
        self._connection.execute(statement, values)


def _edit(row: Any) -> Edit:
    number, key, type_, id_, action, base, body, etag, state, problem = row
    told = None if problem is None else json.loads(problem)
    return Edit(number, key, type_, id_, Action(action), json.loads(base), json.loads(body), etag, State(state), told)


def _conflict(row: Any) -> Conflict:
    number, type_, id_, action, field, base, mine, theirs = row
    return Conflict(number, type_, id_, Action(action), field, json.loads(base), json.loads(mine), json.loads(theirs))


def shown(record: JSON | None, edits: Iterable[Edit]) -> JSON | None:
    """A record as its user sees it: with the edits that wait; None where there is none, or it was deleted here."""
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


def seen(record: Mapping[str, Any], fields: Iterable[str]) -> JSON:
    """The values of these fields."""
    return {field: record.get(field) for field in fields}
