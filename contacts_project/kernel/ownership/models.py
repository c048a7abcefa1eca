"""The base classes of all tables of an account's data, imported by the apps from here.

Owned rows; rows that the change feed reports, to which `save` and the queryset's writes add the revision of the open
write, so that services cannot forget it and no statement is added; and rows that are soft-deleted before they are
removed.
"""

import datetime as dt
from collections.abc import Collection, Iterable
from typing import Any, ClassVar, Self, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.db import models

from contacts_project.kernel.errors import NotDeletedError
from contacts_project.kernel.ownership.account_lock import revision_values
from contacts_project.kernel.ownership.owned import (
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    UnscopedManager,
    UnscopedQueryError,
    owner_without_index,
)

__all__ = [
    "TOMBSTONE_RETENTION",
    "FeedModel",
    "FeedQuerySet",
    "OwnedManager",
    "OwnedModel",
    "OwnedQuerySet",
    "Tombstone",
    "TrashModel",
    "TrashQuerySet",
    "UnscopedManager",
    "UnscopedQueryError",
    "owner_without_index",
    "purge_tombstones",
    "retention_cutoff",
]


TOMBSTONE_RETENTION = dt.timedelta(days=120)
_PURGE_BATCH_SIZE = 5000


class FeedModel(OwnedModel):
    """A row that the change feed (GET /api/changes) reports under the name `FEED_TYPE`.

    `revision` is that of the account's write that changed the row last. Changes of `UNREVISED_COLUMNS` alone do not
    count: these columns follow from others, or from the clock, and no answer shows them. Subclasses need an index over
    owner, revision and id.
    """

    revision = models.BigIntegerField(default=0, editable=False)

    FEED_TYPE: ClassVar[str]
    UNREVISED_COLUMNS: ClassVar[frozenset[str]] = frozenset()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        columns = kwargs.get("update_fields")
        if columns is None:
            self.set_revision()
        elif self.has_feed_columns(columns):
            self.set_revision()
            kwargs["update_fields"] = {*columns, "revision"}
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        revision_values(type(self), self.owner_id)  # as FeedQuerySet.delete: a write must be open
        return super().delete(*args, **kwargs)

    def set_revision(self) -> None:
        """Take the revision of the open write. Raises NoOpenWriteError."""
        for column, value in revision_values(type(self), self.owner_id).items():
            setattr(self, column, value)

    @classmethod
    def has_feed_columns(cls, columns: Collection[str]) -> bool:
        """Whether clients can see a change of these columns."""
        return not cls.UNREVISED_COLUMNS.issuperset(columns)


M = TypeVar("M", bound=FeedModel)


class FeedQuerySet(OwnedQuerySet[M]):
    """Rows that the change feed reports: every write sets their revision to that of the open account_write."""

    def update(self, **values: object) -> int:
        """Set columns. Without any, the rows get the new revision alone: what their answers show has changed."""
        return super().update(**values, **self.values_of_update(self.owner_id, values))

    def values_of_update(self, owner_id: UUID | None, columns: Collection[str]) -> dict[str, int]:
        """What an UPDATE of these columns, or of none, sets besides. Raises NoOpenWriteError."""
        is_change = not columns or self.model.has_feed_columns(columns)
        return revision_values(self.model, owner_id) if is_change else {}

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        rows = list(objs)
        for row in rows:
            row.set_revision()
        return super().bulk_create(rows, *args, **kwargs)

    def bulk_update(self, objs: Iterable[M], fields: Iterable[str], batch_size: int | None = None) -> int:
        rows = list(objs)
        columns = set(fields)
        if rows and self.model.has_feed_columns(columns):
            owners = {row.owner_id for row in rows} if self.owner_id is None else {self.owner_id}
            added = revision_values(self.model, owners.pop() if len(owners) == 1 else None)
            for row in rows:
                vars(row).update(added)
            columns |= added.keys()
        return super().bulk_update(rows, sorted(columns), batch_size)

    def delete(self) -> tuple[int, dict[str, int]]:
        # Only to make sure that a write is open: the triggers read the revision of the tombstones from the account.
        revision_values(self.model, self.owner_id)
        return super().delete()


class TrashQuerySet(FeedQuerySet[M]):
    """Rows that can be soft-deleted."""

    def find_deleted(self, key: object) -> M:
        """Return the row with this id, which must be in the trash. Raises MissingError, NotDeletedError."""
        row: Any = self.find(key)
        if row.deleted_at is None:
            raise NotDeletedError
        return cast("M", row)

    def active(self) -> Self:
        return self.filter(deleted_at__isnull=True)

    def deleted(self) -> Self:
        return self.filter(deleted_at__isnull=False)

    def within_retention(self, now: dt.datetime) -> Self:
        """Active rows, and deleted rows that can still be restored."""
        return self.exclude(deleted_at__lt=retention_cutoff(now))


class TrashModel(FeedModel):
    """An owned row that is soft-deleted first: it stays in the trash for the retention period after `deleted_at`."""

    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None


def retention_cutoff(now: dt.datetime) -> dt.datetime:
    """The time before which deleted rows can no longer be restored."""
    return now - dt.timedelta(days=settings.RETENTION_DAYS)


class Tombstone(models.Model):
    """A permanently removed record: its kind as in the feed, its id, and the revision that removed it.

    For clients that synchronize later. Triggers write the rows (ownership.triggers).

    `owner_id` is no foreign key: while an account is deleted, triggers write tombstones after the ORM has collected the
    rows to delete, and the constraint would fail.
    """

    owner_id = models.UUIDField()
    kind = models.CharField(max_length=30)
    record_id = models.UUIDField()
    revision = models.BigIntegerField()
    removed_at = models.DateTimeField()

    unscoped = UnscopedManager["Tombstone", OwnedQuerySet["Tombstone"]](OwnedQuerySet)
    objects = OwnedManager["Tombstone", OwnedQuerySet["Tombstone"]](OwnedQuerySet)

    class Meta:
        # An import may restore a record under its old id. If it is removed again, its tombstone is replaced.
        constraints = [models.UniqueConstraint(fields=["record_id", "kind"], name="tombstone_once")]
        indexes = [
            models.Index(fields=["owner_id", "revision"], name="tombstone_feed"),
            models.Index(fields=["removed_at"], name="tombstone_age"),
        ]


def purge_tombstones(*, now: dt.datetime) -> int:
    """Delete tombstones older than TOMBSTONE_RETENTION, and return their number."""
    # In batches, each a transaction of its own, so that other writers do not wait for long.
    old, removed = Tombstone.unscoped.rows().filter(removed_at__lt=now - TOMBSTONE_RETENTION), 0
    while ids := list(old.values_list("pk", flat=True)[:_PURGE_BATCH_SIZE]):
        removed += Tombstone.unscoped.rows().filter(pk__in=ids).delete()[0]
    return removed
