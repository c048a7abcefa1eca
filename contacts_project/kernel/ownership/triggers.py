"""Triggers of owned tables.

A row that refers to another account's row is refused: a trigger compares the owners for each foreign key from one owned
table to another. A composite foreign key (owner, id) would do the same, but Django has none.

Tombstones are written after every DELETE, by a purge or by a cascade, of one row or ten thousand. A tombstone has the
account's current revision, which is that of the write that deletes. When an account is deleted, a trigger removes its
tombstones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db.models import ForeignKey

from contacts_project.kernel.database.triggers import Trigger
from contacts_project.kernel.ownership.models import FeedModel, OwnedModel, Tombstone


@dataclass(frozen=True)
class OwnerTrigger:
    """Refuses a row of `table` whose `column` refers to a row of `target` with another owner."""

    table: str
    column: str
    target: str

    @property
    def name(self) -> str:
        return f"own_{self.table}_{self.column}"

    @property
    def tables(self) -> tuple[str, ...]:
        return self.table, self.target

    def names(self, vendor: str) -> list[str]:
        return [self.name] if vendor == "postgresql" else [f"{self.name}_ins", f"{self.name}_upd"]

    def statements(self, vendor: str) -> Iterator[str]:
        """The SQL that creates the trigger and replaces an older one of that name."""
        yield from self.drop_statements(vendor)
        if vendor == "postgresql":
            yield _POSTGRESQL_FUNCTION.format(name=self.name, table=self.table, column=self.column, target=self.target)
            yield (
                f'CREATE TRIGGER "{self.name}" BEFORE INSERT OR UPDATE OF "{self.column}", owner_id ON "{self.table}" '
                f'FOR EACH ROW WHEN (NEW."{self.column}" IS NOT NULL) '
                f'EXECUTE FUNCTION "{self.name}"()'
            )
            return
        # A trigger of SQLite has one event, so INSERT and UPDATE need one each.
        for name, event in zip(self.names(vendor), ("INSERT", f'UPDATE OF "{self.column}", owner_id'), strict=True):
            yield (
                f'CREATE TRIGGER "{name}" BEFORE {event} ON "{self.table}" '  # noqa: S608 - names of our own tables
                f'WHEN (SELECT owner_id FROM "{self.target}" WHERE id = NEW."{self.column}") <> NEW.owner_id '
                f"BEGIN SELECT RAISE(ABORT, 'owner mismatch: {self.table}.{self.column}'); END"
            )

    def drop_statements(self, vendor: str) -> Iterator[str]:
        of_table = f' ON "{self.table}"' if vendor == "postgresql" else ""
        for name in self.names(vendor):
            yield f'DROP TRIGGER IF EXISTS "{name}"{of_table}'


def owner_triggers() -> Iterator[OwnerTrigger]:
    """A trigger for every foreign key between owned tables."""
    for model, field, target in owned_foreign_keys():
        yield OwnerTrigger(model._meta.db_table, field.column, target._meta.db_table)


def owned_foreign_keys() -> Iterator[tuple[type[OwnedModel], ForeignKey[Any, Any], type[OwnedModel]]]:
    """Every foreign key from one owned table to another: the model, its field, and the model that it refers to."""
    for model in apps.get_models():
        if not issubclass(model, OwnedModel):
            continue
        for field in model._meta.concrete_fields:
            target = field.related_model
            if isinstance(field, ForeignKey) and isinstance(target, type) and issubclass(target, OwnedModel):
                yield model, field, target


# A function for each trigger: one for all would build and plan its statement anew for each row, which takes ten times
# as long. 23000 makes it an IntegrityError, as an ABORT is on SQLite.
_POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION "{name}"() RETURNS trigger AS $$
BEGIN
    IF (SELECT target.owner_id FROM "{target}" target WHERE target.id = NEW."{column}") <> NEW.owner_id THEN
        RAISE EXCEPTION 'owner mismatch: {table}.{column}' USING ERRCODE = '23000';
    END IF;
    RETURN NEW;
END $$ LANGUAGE plpgsql
"""


def tombstone_triggers() -> Iterator[Trigger]:
    """A trigger for every table of the feed, and one for the table of accounts."""
    users, table = get_user_model()._meta.db_table, Tombstone._meta.db_table
    for model in apps.get_models():
        if issubclass(model, FeedModel):
            body = _INSERT.format(table=table, users=users, kind=model.FEED_TYPE)
            yield Trigger(f"tombstone_{model._meta.db_table}", model._meta.db_table, "DELETE", body, writes=table)
    delete_all = f"DELETE FROM {table} WHERE owner_id = OLD.id"  # noqa: S608 - a name of our own
    yield Trigger("tombstones_of_account", users, "DELETE", delete_all, writes=table)


# The account's row already has the revision of this write. If the account itself is gone, the SELECT finds no row, and
# no tombstone is written.
_INSERT = (
    "INSERT INTO {table} (owner_id, kind, record_id, revision, removed_at) "
    "SELECT OLD.owner_id, '{kind}', OLD.id, u.revision, CURRENT_TIMESTAMP FROM {users} u WHERE u.id = OLD.owner_id "
    "ON CONFLICT (record_id, kind) DO UPDATE SET "
    "owner_id = excluded.owner_id, revision = excluded.revision, removed_at = excluded.removed_at"
)
