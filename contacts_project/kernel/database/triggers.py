"""Triggers of the database that say what the ORM cannot: written once, for SQLite and PostgreSQL.

Installed after every migration run, so that SQLite's table rebuilds cannot lose them, and taken away before; `manage.py
doctor` checks that they are there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper


class Installable(Protocol):
    """What can be installed: one trigger, or the several that a database needs for it."""

    @property
    def tables(self) -> tuple[str, ...]: ...
    def names(self, vendor: str) -> list[str]: ...
    def statements(self, vendor: str) -> Iterator[str]: ...
    def dropping(self, vendor: str) -> Iterator[str]: ...


@dataclass(frozen=True)
class Trigger:
    """`body`, SQL statements over OLD and NEW, runs for each row of `event`: INSERT, DELETE or UPDATE OF columns.

    It runs AFTER the event, or BEFORE it with `before`; only if `when` holds, or if one of the columns `changed` gets
    another value. `writes` is the table that the body writes to. `statement_body` does for all rows of an INSERT (the
    transition table `added`) or of a DELETE (`removed`) what `body` does for one row: PostgreSQL runs it instead, once
    per statement. `disabled_by` is a session setting of PostgreSQL: while it is 'yes', a row trigger does nothing.
    """

    name: str
    table: str
    event: str
    body: str
    changed: tuple[str, ...] = ()
    when: str = ""
    before: bool = False
    writes: str = ""
    statement_body: str = ""
    disabled_by: str = ""

    @property
    def tables(self) -> tuple[str, ...]:
        """Those that must be there before it is installed."""
        return (self.table, self.writes) if self.writes else (self.table,)

    def names(self, vendor: str) -> list[str]:
        return [self.name]

    def statements(self, vendor: str) -> Iterator[str]:
        """The SQL that makes it, in place of what has its name."""
        yield from self.dropping(vendor)
        moment = "BEFORE" if self.before else "AFTER"
        differ = "IS DISTINCT FROM" if vendor == "postgresql" else "IS NOT"
        condition = self.when or " OR ".join(f"OLD.{column} {differ} NEW.{column}" for column in self.changed)
        if vendor == "postgresql" and self.disabled_by:
            condition = f"current_setting('{self.disabled_by}', true) IS DISTINCT FROM 'yes' AND ({condition})"
        when = f"WHEN ({condition}) " if condition else ""
        if vendor == "postgresql":
            rows = _ROWS.get(self.event)
            runs = f"REFERENCING {rows} FOR EACH STATEMENT " if self.statement_body else f"FOR EACH ROW {when}"
            yield (
                f"CREATE OR REPLACE FUNCTION {self.name}() RETURNS trigger AS $$ "
                f"BEGIN {self.statement_body or self.body}; RETURN NEW; END $$ LANGUAGE plpgsql"
            )
            yield (
                f'CREATE TRIGGER "{self.name}" {moment} {self.event} ON "{self.table}" '
                f"{runs}EXECUTE FUNCTION {self.name}()"
            )
            return
        yield f'CREATE TRIGGER "{self.name}" {moment} {self.event} ON "{self.table}" {when}BEGIN {self.body}; END'

    def dropping(self, vendor: str) -> Iterator[str]:
        of_table = f' ON "{self.table}"' if vendor == "postgresql" else ""
        yield f'DROP TRIGGER IF EXISTS "{self.name}"{of_table}'


# What PostgreSQL calls the rows of a statement, as `statement_body` knows them.
_ROWS = {"INSERT": "NEW TABLE AS added", "DELETE": "OLD TABLE AS removed"}

_triggers: dict[tuple[str, ...], Installable] = {}


def register_triggers(*triggers: Installable) -> None:
    """Have them installed with the next migration run; called in AppConfig.ready()."""
    for trigger in triggers:
        _triggers[tuple(trigger.names(""))] = trigger


def install_triggers(*, using: str = "default", plan: Any = None, **kwargs: Any) -> None:
    """Receiver of post_migrate: (re)creates the triggers whose tables are all there, when a migration ran, or when one
    was killed before it came to this.
    """
    connection = connections[using]
    if not plan and not missing_triggers(using=using):
        return
    existing = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for trigger in _triggers.values():
            if existing.issuperset(trigger.tables):
                for statement in trigger.statements(connection.vendor):
                    cursor.execute(statement)


def drop_triggers(*, using: str = "default", plan: Any = None, **kwargs: Any) -> None:
    """Receiver of pre_migrate: on SQLite takes the triggers away when a migration is to run.

    SQLite rebuilds the table that a migration alters, and cannot while a trigger elsewhere names it.
    """
    connection = connections[using]
    if not plan or connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        for name in _present(connection):
            cursor.execute(f'DROP TRIGGER "{name}"')


@contextmanager
def without_triggers(*, using: str = "default") -> Iterator[None]:
    """For rows that come with all that triggers would make of them. Inside a transaction, which others wait for."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for trigger in _triggers.values():
            for statement in trigger.dropping(connection.vendor):
                cursor.execute(statement)
    yield
    install_triggers(using=using, plan=["restored"])


def missing_triggers(*, using: str = "default") -> list[str]:
    """The names of those that are not in the database."""
    connection = connections[using]
    names = {name for trigger in _triggers.values() for name in trigger.names(connection.vendor)}
    return sorted(names - _present(connection))


def _present(connection: BaseDatabaseWrapper) -> set[str]:
    """The names of all triggers in the database; all are ours."""
    query = {
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        return {name for (name,) in cursor.fetchall()}
