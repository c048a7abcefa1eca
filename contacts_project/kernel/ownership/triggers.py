"""The database itself refuses a row that points at another account's row.

For each foreign key from one owned table to another a trigger compares the owners: what a composite foreign key would
do, on databases and an ORM that cannot both express one. Installed after every migration run, so that SQLite's table
rebuilds cannot lose them, and taken away before: `manage.py doctor` checks that they are there.
"""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import ForeignKey

from contacts_project.kernel.ownership.models import OwnedModel


def owned_links() -> Iterator[tuple[str, str, str]]:
    """Yield (table, column, target table) for every foreign key between owned tables."""
    for model in apps.get_models():
        if not issubclass(model, OwnedModel):
            continue
        for field in model._meta.concrete_fields:
            target = field.related_model
            if isinstance(field, ForeignKey) and isinstance(target, type) and issubclass(target, OwnedModel):
                yield model._meta.db_table, field.column, target._meta.db_table


def drop_owner_triggers(*, using: str = "default", plan: Any = None, **kwargs: Any) -> None:
    """Receiver of pre_migrate: on SQLite takes the triggers away when a migration is to run.

    SQLite rebuilds the table that a migration alters, and cannot while a trigger elsewhere names it.
    """
    connection = connections[using]
    if not plan or connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'own\\_%' ESCAPE '\\'")
        for (name,) in cursor.fetchall():
            cursor.execute(f'DROP TRIGGER "{name}"')


def install_owner_triggers(*, using: str = "default", plan: Any = None, **kwargs: Any) -> None:
    """Receiver of post_migrate: (re)creates the triggers when a migration ran."""
    if not plan:
        return
    connection = connections[using]
    existing = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRESQL_FUNCTION)
        for table, column, target in owned_links():
            if table in existing and target in existing:
                for statement in _statements(connection, table, column, target):
                    cursor.execute(statement)


def missing_triggers(*, using: str = "default") -> list[str]:
    """Return "table.column" of every link whose trigger is not in the database."""
    connection = connections[using]
    query = {
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        names = {name for (name,) in cursor.fetchall()}
    suffix = "" if connection.vendor == "postgresql" else "_ins"
    return [f"{table}.{column}" for table, column, _ in owned_links() if f"own_{table}_{column}{suffix}" not in names]


def _statements(connection: BaseDatabaseWrapper, table: str, column: str, target: str) -> Iterator[str]:
    name = f"own_{table}_{column}"
    if connection.vendor == "postgresql":
        yield f'DROP TRIGGER IF EXISTS "{name}" ON "{table}"'
        yield (
            f'CREATE TRIGGER "{name}" BEFORE INSERT OR UPDATE OF "{column}", owner_id ON "{table}" '
            f'FOR EACH ROW WHEN (NEW."{column}" IS NOT NULL) '
            f"EXECUTE FUNCTION check_owner('{column}', '{target}')"
        )
        return
    for event in ("INSERT", f'UPDATE OF "{column}", owner_id'):
        trigger = f"{name}_{event[:3].lower()}"
        yield f'DROP TRIGGER IF EXISTS "{trigger}"'
        yield (
            f'CREATE TRIGGER "{trigger}" BEFORE {event} ON "{table}" '  # noqa: S608 - names of our own tables
            f'WHEN (SELECT owner_id FROM "{target}" WHERE id = NEW."{column}") <> NEW.owner_id '
            f"BEGIN SELECT RAISE(ABORT, 'owner mismatch: {table}.{column}'); END"
        )


_POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION check_owner() RETURNS trigger AS $$
DECLARE found uuid;
BEGIN
    EXECUTE format('SELECT owner_id FROM %I WHERE id = ($1).%I', TG_ARGV[1], TG_ARGV[0]) INTO found USING NEW;
    IF found <> NEW.owner_id THEN
        RAISE EXCEPTION 'owner mismatch: %.%', TG_TABLE_NAME, TG_ARGV[0] USING ERRCODE = '23000';
    END IF;
    RETURN NEW;
END $$ LANGUAGE plpgsql
"""
