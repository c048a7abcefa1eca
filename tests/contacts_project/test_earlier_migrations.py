"""0001_tables of each app replaces the steps by which the tables came to be; a database may have any of them."""

from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from contacts_project.backup.contents import applied_migrations, known_migrations
from contacts_project.kernel.database.earlier_migrations import earlier_migrations
from contacts_project.kernel.database.new_tables import create_tables
from contacts_project.kernel.database.triggers import missing_triggers
from tests.contacts_project.schema import schema_of
from tests.databases import on_empty_database

APPS = ("accounts", "carddav", "contacts_project", "dav", "notifications", "people", "relationships")
TABLES = {(app, "0001_tables") for app in APPS}


def steps_of(app: str) -> list[str]:
    return [*import_module(f"{app}.migrations._earlier").STEPS]


@pytest.mark.parametrize("app", APPS)
def test_tables_replace_every_step(app: str) -> None:
    migration = MigrationLoader(None).disk_migrations[app, "0001_tables"]
    assert migration.replaces == [(app, step) for step in steps_of(app)]


def test_what_came_later_follows_the_tables_and_no_step() -> None:
    """Where the steps run, 0001_tables is their end: what depends on a step itself would stand beside it."""
    steps = {(app, step) for app in APPS for step in steps_of(app)}
    later = MigrationLoader(None).disk_migrations
    assert [name for name, migration in later.items() if not steps.isdisjoint(migration.dependencies)] == []


def nodes_with_steps(behind: str | None) -> list[tuple[str, str]]:
    """All steps of all apps, but the last of the app `behind` and what depends on it; within earlier_migrations()."""
    graph = MigrationLoader(connection).graph
    missing = set(graph.backwards_plan((behind, steps_of(behind)[-1]))) if behind else set()
    done = {node for node in graph.nodes if node[0] not in APPS or node[1] in steps_of(node[0])}
    return sorted(done - missing)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("behind", [None, "people", "accounts", "relationships"])
def test_database_with_steps_is_brought_up_to_date(tmp_path: Path, behind: str | None) -> None:
    """One that lacks the last step of the app `behind` and what depends on it, while other apps have all of theirs."""
    expected = schema_of(connection)
    with on_empty_database(tmp_path):
        with earlier_migrations():
            create_tables(connection, nodes_with_steps(behind))
        assert TABLES.isdisjoint(MigrationRecorder(connection).applied_migrations())
        call_command("migrate", verbosity=0)
        executor = MigrationExecutor(connection)
        assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
        assert set(MigrationRecorder(connection).applied_migrations()) >= TABLES
        assert applied_migrations() == known_migrations()
        assert missing_triggers() == []
        found = schema_of(connection)
        assert (sorted(found - expected), sorted(expected - found)) == ([], [])
