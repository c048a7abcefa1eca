"""Tombstones: the ids of permanently removed records, for clients that synchronize later.

Database triggers write them after every DELETE, by a purge or by a cascade, of one row or ten thousand. A tombstone has
the account's current revision, which is that of the write that deletes. When an account is deleted, a trigger removes
its tombstones.
"""

import datetime as dt
from collections.abc import Iterator

from django.apps import apps
from django.contrib.auth import get_user_model

from contacts_project.kernel.database.triggers import Trigger
from contacts_project.kernel.ownership.models import FeedModel, Tombstone

TOMBSTONE_RETENTION = dt.timedelta(days=120)
_PURGE_BATCH_SIZE = 5000


def purge_tombstones(*, now: dt.datetime) -> int:
    """Delete tombstones older than TOMBSTONE_RETENTION, and return their number."""
    # In batches, each a transaction of its own, so that other writers do not wait for long.
    old, removed = Tombstone.unscoped.rows().filter(removed_at__lt=now - TOMBSTONE_RETENTION), 0
    while ids := list(old.values_list("pk", flat=True)[:_PURGE_BATCH_SIZE]):
        removed += Tombstone.unscoped.rows().filter(pk__in=ids).delete()[0]
    return removed


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
