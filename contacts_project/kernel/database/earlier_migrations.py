"""The steps that `0001_tables` of each app replaces, for databases and backups that have only some of them.

A new database, and one that has all steps, know `0001_tables` alone: its `replaces` names them, and Django records it
as applied. Where some are missing, the graph is that of the steps, `<app>.migrations._earlier`, and 0001_tables does
nothing at their end. Django itself would look for the steps in files of their own, and decides app by app; but steps of
one app depend on those of others, which depend on the tables of the first.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

_load_disk = MigrationLoader.load_disk
_is_forced = False


def use_earlier_migrations() -> None:
    """Let every MigrationLoader of this process know the steps where its database needs them."""
    # Django has no setting for it: it constructs its loaders itself.
    MigrationLoader.load_disk = load_disk  # type: ignore[assignment, method-assign]


@contextmanager
def earlier_migrations() -> Iterator[None]:
    """Within this context every loader with a connection knows the steps, also for an empty database."""
    global _is_forced  # noqa: PLW0603 - a loader is constructed by Django, which passes nothing
    _is_forced = True
    try:
        yield
    finally:
        _is_forced = False


def load_disk(loader: MigrationLoader) -> None:
    """Takes the place of MigrationLoader.load_disk."""
    _load_disk(loader)
    if loader.connection is not None and (_is_forced or _has_some_steps(loader, loader.connection)):
        for (app, name), migration in list(loader.disk_migrations.items()):
            if migration.replaces:
                _load_steps(loader, app, name)


def _has_some_steps(loader: MigrationLoader, connection: BaseDatabaseWrapper) -> bool:
    """Whether some of the replaced steps are applied, and others not."""
    applied = MigrationRecorder(connection).applied_migrations()
    replaced = {step for migration in loader.disk_migrations.values() for step in migration.replaces}
    return not replaced.isdisjoint(applied) and not replaced.issubset(applied)


def _load_steps(loader: MigrationLoader, app: str, name: str) -> None:
    """Put the steps of an app before its migration `name`, which then has nothing to do."""
    module, _ = loader.migrations_module(app)
    steps: dict[str, type[Migration]] = import_module(f"{module}._earlier").STEPS
    for step, migration in steps.items():
        loader.disk_migrations[app, step] = migration(step, app)
    last = [*steps][-1]
    end = type("End", (Migration,), {"dependencies": [(app, last)]})
    loader.disk_migrations[app, name] = end(name, app)
