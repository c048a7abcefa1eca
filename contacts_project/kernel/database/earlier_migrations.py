"""The steps that `0001_tables` of each app replaces, for databases and backups that have only some of them.

A new database, and one that has all steps, know `0001_tables` alone: its `replaces` names them, and Django records it
as applied. Where some are missing, the graph is that of the steps, `<app>.migrations._earlier`, and 0001_tables does
nothing at their end. Django itself would look for the steps in files of their own, and decides app by app; but steps of
one app depend on those of others, which depend on the tables of the first.

A migration that came after 0001_tables can become a step too: its class moves to the end of `_earlier`, its name to the
end of `replaces`, and what it makes into the operations of 0001_tables.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

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
    if loader.connection is None:
        return
    applied = set(MigrationRecorder(loader.connection).applied_migrations())
    if _is_forced or _has_some_steps(loader, applied):
        for (app, name), migration in list(loader.disk_migrations.items()):
            if migration.replaces:
                _load_steps(loader, app, name, is_recorded=(app, name) in applied)


def _has_some_steps(loader: MigrationLoader, applied: set[tuple[str, str]]) -> bool:
    """Whether some of the replaced steps are applied, and others not."""
    replaced = {step for migration in loader.disk_migrations.values() for step in migration.replaces}
    return not replaced.isdisjoint(applied) and not replaced.issubset(applied)


def _load_steps(loader: MigrationLoader, app: str, name: str, *, is_recorded: bool) -> None:
    """Put the steps of an app before its migration `name`, which then has nothing to do."""
    module, _ = loader.migrations_module(app)
    steps: dict[str, type[Migration]] = import_module(f"{module}._earlier").STEPS
    for step, migration in steps.items():
        loader.disk_migrations[app, step] = migration(step, app)
    last = (app, [*steps][-1])
    if is_recorded:
        # It was recorded when it replaced fewer steps. Django refuses a database where a migration is recorded and one
        # that it depends on is not, so the last step stands for it.
        del loader.disk_migrations[app, name]
        for other in loader.disk_migrations.values():
            # Of the instance: Migration.__init__ has copied it.
            other.dependencies = [last if key == (app, name) else key for key in other.dependencies]  # type: ignore[misc]
    else:
        loader.disk_migrations[app, name] = type("End", (Migration,), {"dependencies": [last]})(name, app)
