"""Database triggers, described once for SQLite and PostgreSQL.

They are dropped before a migration run and installed after it, because SQLite loses the triggers of a table that it
rebuilds. `manage.py doctor` checks that all are there.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper


class Installable(Protocol):
    """One trigger, or several if a database needs several for the same rule."""

    @property
    def tables(self) -> tuple[str, ...]: ...
    def names(self, vendor: str) -> list[str]: ...
    def statements(self, vendor: str) -> Iterator[str]: ...
    def drop_statements(self, vendor: str) -> Iterator[str]: ...


@dataclass(frozen=True)
class Trigger:
    """A trigger that runs the SQL statements `body`, over OLD and NEW, for each row of `event`.

    `event` is INSERT, DELETE or UPDATE OF columns. The trigger runs AFTER the event, or BEFORE it with `before`; only
    if `when` holds, or if one of the columns `changed` gets another value. `writes` is the table that the body writes
    to. `statement_body` does the same for all rows of an INSERT (the transition table `added`) or of a DELETE
    (`removed`): PostgreSQL runs it instead of `body`, once per statement. `postgresql_body` replaces `body` there for
    each row. `disabled_by` is a session setting of PostgreSQL: while it is 'yes', a row trigger does nothing.
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
    postgresql_body: str = ""
    disabled_by: str = ""

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that must exist before the trigger can be installed."""
        return (self.table, self.writes) if self.writes else (self.table,)

    def names(self, vendor: str) -> list[str]:
        return [self.name]

    def statements(self, vendor: str) -> Iterator[str]:
        """The SQL that creates the trigger and replaces an older one of that name."""
        yield from self.drop_statements(vendor)
        timing = "BEFORE" if self.before else "AFTER"
        # A comparison that treats NULL like any other value.
        differ = "IS DISTINCT FROM" if vendor == "postgresql" else "IS NOT"
        condition = self.when or " OR ".join(f"OLD.{column} {differ} NEW.{column}" for column in self.changed)
        if vendor == "postgresql" and self.disabled_by:
            condition = f"current_setting('{self.disabled_by}', true) IS DISTINCT FROM 'yes' AND ({condition})"
        when = f"WHEN ({condition}) " if condition else ""
        if vendor == "postgresql":
            transition_table = _TRANSITION_TABLES.get(self.event)
            level = (
                f"REFERENCING {transition_table} FOR EACH STATEMENT " if self.statement_body else f"FOR EACH ROW {when}"
            )
            # A connection keeps the plan that it made while the tables were small, when reading one whole was cheapest.
            settings = " SET enable_seqscan = off" if self.statement_body or self.postgresql_body else ""
            yield (
                f"CREATE OR REPLACE FUNCTION {self.name}() RETURNS trigger AS $$ "
                f"BEGIN {self.statement_body or self.postgresql_body or self.body}; RETURN NEW; END $$ "
                f"LANGUAGE plpgsql{settings}"
            )
            yield (
                f'CREATE TRIGGER "{self.name}" {timing} {self.event} ON "{self.table}" '
                f"{level}EXECUTE FUNCTION {self.name}()"
            )
            return
        yield f'CREATE TRIGGER "{self.name}" {timing} {self.event} ON "{self.table}" {when}BEGIN {self.body}; END'

    def drop_statements(self, vendor: str) -> Iterator[str]:
        of_table = f' ON "{self.table}"' if vendor == "postgresql" else ""
        yield f'DROP TRIGGER IF EXISTS "{self.name}"{of_table}'


# PostgreSQL's tables of all rows of a statement, under the names that `statement_body` uses.
_TRANSITION_TABLES = {"INSERT": "NEW TABLE AS added", "DELETE": "OLD TABLE AS removed"}

_triggers: dict[tuple[str, ...], Installable] = {}


def register_triggers(*triggers: Installable) -> None:
    """Add triggers to those that the next migration run installs. Called in AppConfig.ready()."""
    for trigger in triggers:
        # By name, so that registering a trigger again replaces it.
        _triggers[tuple(trigger.names(""))] = trigger


def install_triggers(*, using: str = "default", plan: Sequence[object] = (), **kwargs: object) -> None:
    """Receiver of post_migrate: create or replace the triggers whose tables all exist, and drop former ones.

    Runs after a migration, and if triggers are missing because an earlier run was killed after its migrations.
    """
    connection = connections[using]
    if not plan and not missing_triggers(using=using):
        return
    # After a migration to an older state some tables do not exist.
    existing = set(connection.introspection.table_names())
    former = _installed_triggers(connection)
    for trigger in _triggers.values():
        for name in trigger.names(connection.vendor):
            former.pop(name, None)
    with connection.cursor() as cursor:
        for name, table in former.items():
            of_table = f' ON "{table}"' if connection.vendor == "postgresql" else ""
            cursor.execute(f'DROP TRIGGER "{name}"{of_table}')
            if connection.vendor == "postgresql":
                cursor.execute(f'DROP FUNCTION IF EXISTS "{name}"()')
        for trigger in _triggers.values():
            if existing.issuperset(trigger.tables):
                for statement in trigger.statements(connection.vendor):
                    cursor.execute(statement)


def drop_triggers(*, using: str = "default", plan: Sequence[object] = (), **kwargs: object) -> None:
    """Receiver of pre_migrate: drop all triggers on SQLite if a migration is going to run.

    SQLite rebuilds the table that a migration alters, which fails while a trigger of another table refers to it.
    """
    connection = connections[using]
    if not plan or connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        for name in _installed_triggers(connection):
            cursor.execute(f'DROP TRIGGER "{name}"')


@contextmanager
def without_triggers(*, using: str = "default") -> Iterator[None]:
    """Drop all triggers while rows are copied together with the rows that triggers would write.

    Must be used inside a transaction, which undoes everything after an error. Other writers wait for its end.
    """
    connection = connections[using]
    with connection.cursor() as cursor:
        for trigger in _triggers.values():
            for statement in trigger.drop_statements(connection.vendor):
                cursor.execute(statement)
    yield
    install_triggers(using=using, plan=["restored"])


def missing_triggers(*, using: str = "default") -> list[str]:
    """The names of the registered triggers that are not in the database."""
    connection = connections[using]
    names = {name for trigger in _triggers.values() for name in trigger.names(connection.vendor)}
    return sorted(names - _installed_triggers(connection).keys())


def _installed_triggers(connection: BaseDatabaseWrapper) -> dict[str, str]:
    """The tables of all triggers in the database, by name. Nobody else creates any."""
    query = {
        "postgresql": (
            "SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE NOT tgisinternal"
        ),
        "sqlite": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        return dict(cursor.fetchall())
