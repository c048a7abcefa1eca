"""The base classes of all tables of an account's data, imported by the apps from here.

Owned rows, rows that the change feed reports, and rows that are soft-deleted before they are removed.
"""

import datetime as dt
from typing import Any, Self, TypeVar, cast

from django.conf import settings
from django.db import models

from contacts_project.kernel.errors import NotDeletedError
from contacts_project.kernel.ownership.account_lock import FeedModel, FeedQuerySet
from contacts_project.kernel.ownership.owned import (
    OwnedManager,
    OwnedModel,
    OwnedQuerySet,
    UnscopedManager,
    UnscopedQueryError,
    owner_without_index,
)

__all__ = [
    "FeedModel",
    "FeedQuerySet",
    "OwnedManager",
    "OwnedModel",
    "OwnedQuerySet",
    "TrashModel",
    "TrashQuerySet",
    "UnscopedManager",
    "UnscopedQueryError",
    "owner_without_index",
    "retention_cutoff",
]

M = TypeVar("M", bound=models.Model)


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
