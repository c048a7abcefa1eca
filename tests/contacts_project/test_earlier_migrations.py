"""0001_tables of each app replaces the steps by which the tables came to be; a database may have any of them."""

from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from contacts_project.backup.contents import applied_migrations, known_migrations, migration_names
from contacts_project.kernel.database import earlier_migrations as earlier_migrations_module
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


def nodes_without(*missing: tuple[str, str]) -> list[tuple[str, str]]:
    """All steps of all apps, but those `missing` and what depends on them; within earlier_migrations()."""
    graph = MigrationLoader(connection).graph
    done = {node for node in graph.nodes if node[0] not in APPS or node[1] in steps_of(node[0])}
    return sorted(done.difference(*(graph.backwards_plan(node) for node in missing)))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("behind", [None, "people", "accounts", "relationships"])
def test_database_with_steps_is_brought_up_to_date(tmp_path: Path, behind: str | None) -> None:
    """One that lacks the last step of the app `behind` and what depends on it, while other apps have all of theirs."""
    expected = schema_of(connection)
    with on_empty_database(tmp_path):
        with earlier_migrations():
            create_tables(connection, nodes_without(*[(behind, steps_of(behind)[-1])] if behind else []))
        assert TABLES.isdisjoint(MigrationRecorder(connection).applied_migrations())
        migrate_and_check(expected)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "missing",
    [[], [("people", "0043_mark_and_count_people_in_groups"), ("dav", "0006_moved_tasks")]],
    ids=["all", "some"],
)
def test_database_whose_tables_replaced_fewer_steps_is_brought_up_to_date(
    tmp_path: Path, missing: list[tuple[str, str]]
) -> None:
    """Its 0001_tables is of before people 0042 and dav 0006 became steps; of these it has all, or 0042 alone."""
    expected = schema_of(connection)
    with on_empty_database(tmp_path):
        with earlier_migrations():
            create_tables(connection, nodes_without(*missing))
        recorder = MigrationRecorder(connection)
        for app, name in TABLES:
            recorder.record_applied(app, name)
        assert migration_names(missing) <= known_migrations() - applied_migrations()
        migrate_and_check(expected)


@pytest.mark.django_db
@pytest.mark.parametrize("is_recorded", [True, False])
def test_later_migration_comes_after_all_steps(monkeypatch: pytest.MonkeyPatch, is_recorded: bool) -> None:
    def load_disk(loader: MigrationLoader) -> None:
        load(loader)
        loader.disk_migrations[later] = later_migration(*reversed(later))

    load, later = earlier_migrations_module._load_disk, ("people", "0002_later")
    later_migration = type("Later", (Migration,), {"dependencies": [("people", "0001_tables")]})
    monkeypatch.setattr(earlier_migrations_module, "_load_disk", load_disk)
    unrecorded = [steps_of("people")[-1], *([] if is_recorded else ["0001_tables"])]
    MigrationRecorder(connection).migration_qs.filter(app="people", name__in=unrecorded).delete()
    graph = MigrationLoader(connection).graph
    assert graph.leaf_nodes("people") == [later]
    plan = MigrationExecutor(connection).migration_plan([later])
    assert [migration.name for migration, _ in plan] == [*unrecorded, "0002_later"]


def migrate_and_check(expected: Counter[Any]) -> None:
    call_command("migrate", verbosity=0)
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    assert set(MigrationRecorder(connection).applied_migrations()) >= TABLES
    assert applied_migrations() == known_migrations()
    assert missing_triggers() == []
    found = schema_of(connection)
    assert (sorted(found - expected), sorted(expected - found)) == ([], [])
