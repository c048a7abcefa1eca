"""The tables of a new database, made at once as the migrations would leave them.

Migrating from nothing takes four seconds of work, most of them for the models as they were after each of some
hundred migrations. What migrations do beside tables, indexes and constraints is for rows, of which there are none. A
test holds the outcome against that of the migrations (tests/contacts_project/test_upgrade.py): a migration whose SQL
makes more of the schema than its models say fails it, and is to be repeated here.
"""

from collections.abc import Sequence

from django.core.management.sql import emit_post_migrate_signal
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model

Node = tuple[str, str]  # app label and name of a migration


def is_empty_database(connection: BaseDatabaseWrapper) -> bool:
    """Whether the database has no table at all."""
    return not connection.introspection.table_names()


def create_tables(connection: BaseDatabaseWrapper, targets: Sequence[Node] = ()) -> None:
    """Bring a database without tables to `targets`, to the newest where none are given; all of it or nothing.

    What follows migrations (triggers, statistics, the schedule) is for the newest alone.
    """
    executor = MigrationExecutor(connection)
    nodes = list(targets) or executor.loader.graph.leaf_nodes()
    plan = executor.migration_plan(nodes, clean_start=True)
    state = executor.loader.project_state(nodes)
    models: list[type[Model]] = [*state.apps.get_models(), executor.recorder.Migration]
    with connection.schema_editor() as editor:
        for model in models:
            if model._meta.can_migrate(connection):
                editor.create_model(model)
        for migration, _ in plan:
            executor.record_migration(migration)
    if not targets:
        emit_post_migrate_signal(0, False, connection.alias, apps=state.apps, plan=plan)
