"""Creates the tables of a new database directly, in the state in which the migrations would leave them.

One transaction does it: after a crash the database is still empty. Beside tables, indexes and constraints, migrations
only change rows, and a new database has none.
tests/contacts_project/test_upgrade.py compares the result with that of the migrations. It fails for a migration whose
SQL adds something to the schema that is not in the models; such SQL must be repeated here.
"""

from collections.abc import Sequence

from django.core.management.sql import emit_post_migrate_signal
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model

from contacts_project.kernel.database.replaced_migrations import MigrationKey


def is_empty_database(connection: BaseDatabaseWrapper) -> bool:
    """Whether the database has no table at all."""
    return not connection.introspection.table_names()


def create_tables(connection: BaseDatabaseWrapper, targets: Sequence[MigrationKey] = ()) -> None:
    """Create the tables as of the migrations `targets` (default: the newest), in one transaction.

    The receivers of post_migrate (triggers, statistics, the schedule) run only for the newest migrations.
    """
    executor = MigrationExecutor(connection)
    nodes = list(targets) or executor.loader.graph.leaf_nodes()
    plan = executor.migration_plan(nodes, clean_start=True)
    state = executor.loader.project_state(nodes)
    models: list[type[Model]] = [*state.apps.get_models(), executor.recorder.Migration]
    # The migrations are recorded in the same transaction: after a crash the database is still empty.
    with connection.schema_editor() as editor:
        for model in models:
            if model._meta.can_migrate(connection):
                editor.create_model(model)
        for migration, _ in plan:
            executor.record_migration(migration)
    # Triggers and statistics are defined for the newest tables only.
    if not targets:
        emit_post_migrate_signal(0, False, connection.alias, apps=state.apps, plan=plan)
