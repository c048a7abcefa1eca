"""What an account once had: the ids of what was removed for good, for clients that have been away.

Rows are made by triggers of the database, after whatever deletes: a purge, a cascade, one row or ten thousand. They
carry the revision of the account, which is that of the write that deletes. The deletion of the account itself leaves
none: a trigger takes those of the account away after it.
"""

import datetime as dt
from collections.abc import Iterator

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import models

from contacts_project.kernel.database.triggers import Trigger
from contacts_project.kernel.ownership.models import FeedModel, OwnedManager, OwnedQuerySet, UnscopedManager

TOMBSTONE_RETENTION = dt.timedelta(days=120)
_PURGED_AT_ONCE = 5000


class Tombstone(models.Model):
    """One record that was removed for good: its kind as the feed calls it, its id, and the revision that removed it.

    No foreign key to the account: while that is deleted, rows are made after the ORM has looked for them.
    """

    owner_id = models.UUIDField()
    kind = models.CharField(max_length=30)
    record_id = models.UUIDField()
    revision = models.BigIntegerField()
    removed_at = models.DateTimeField()

    unscoped = UnscopedManager["Tombstone", OwnedQuerySet["Tombstone"]](OwnedQuerySet)
    objects = OwnedManager["Tombstone", OwnedQuerySet["Tombstone"]](OwnedQuerySet)

    class Meta:
        # An import may bring a record back under the id that it had: removed once more, it has one row.
        constraints = [models.UniqueConstraint(fields=["record_id", "kind"], name="tombstone_once")]
        indexes = [
            models.Index(fields=["owner_id", "revision"], name="tombstone_feed"),
            models.Index(fields=["removed_at"], name="tombstone_age"),
        ]


def purge_tombstones(*, now: dt.datetime) -> int:
    """Forget what was removed more than 120 days ago; how many."""
    old, removed = Tombstone.unscoped.rows().filter(removed_at__lt=now - TOMBSTONE_RETENTION), 0
    while ids := list(old.values_list("pk", flat=True)[:_PURGED_AT_ONCE]):
        removed += Tombstone.unscoped.rows().filter(pk__in=ids).delete()[0]
    return removed


def tombstone_triggers() -> Iterator[Trigger]:
    """One for every table that the feed tells of, and one for the accounts."""
    users, table = get_user_model()._meta.db_table, Tombstone._meta.db_table
    for model in apps.get_models():
        if issubclass(model, FeedModel):
            body = _INSERT.format(table=table, users=users, kind=model.FEED_TYPE)
            yield Trigger(f"tombstone_{model._meta.db_table}", model._meta.db_table, "DELETE", body, writes=table)
    forget = f"DELETE FROM {table} WHERE owner_id = OLD.id"  # noqa: S608 - a name of our own
    yield Trigger("tombstones_of_account", users, "DELETE", forget, writes=table)


# The account's row has the revision of this write already; where the account goes too, there is none and no tombstone.
_INSERT = (
    "INSERT INTO {table} (owner_id, kind, record_id, revision, removed_at) "
    "SELECT OLD.owner_id, '{kind}', OLD.id, u.revision, CURRENT_TIMESTAMP FROM {users} u WHERE u.id = OLD.owner_id "
    "ON CONFLICT (record_id, kind) DO UPDATE SET "
    "owner_id = excluded.owner_id, revision = excluded.revision, removed_at = excluded.removed_at"
)
