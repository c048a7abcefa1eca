"""What every owned table has, and the one way to query it."""

import datetime as dt
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils import timezone

from contacts_project.kernel.api.ids import new_id
from contacts_project.kernel.api.json import parse_id
from contacts_project.kernel.database.compiled_queries import CompiledQuery
from contacts_project.kernel.errors import MissingError, NotDeletedError
from contacts_project.kernel.ownership.account_lock import stamp

M = TypeVar("M", bound=models.Model)
Q = TypeVar("Q")


class UnscopedQueryError(Exception):
    """A query on owned rows that names no owner. Jobs over all accounts say `Model.unscoped`."""


class OwnedQuerySet(models.QuerySet[M, M]):
    """Rows of owned models."""

    def owned_by(self, owner: Any) -> Self:
        """The rows of `owner`: a user or the id of one."""
        owner_id = getattr(owner, "pk", owner)
        return self.filter(owner_id=owner_id).known_to_be_of(owner_id)

    def known_to_be_of(self, owner_id: UUID | None) -> Self:
        """The same rows, all of which are this account's. The hint stays with what is made of the queryset."""
        rows: Any = self.all()
        rows._hints = {**rows._hints, "owner_id": owner_id}
        return cast("Self", rows)

    @property
    def owner_id(self) -> UUID | None:
        """Whose rows these are, where that has been said."""
        rows: Any = self
        return cast("UUID | None", rows._hints.get("owner_id"))

    def with_id(self, key: object) -> Self:
        """The row with the id that `key` is or spells; none where it spells none."""
        row_id = key if isinstance(key, UUID) else parse_id(key)
        return self.none() if row_id is None else self.filter(pk=row_id)

    def find(self, key: object) -> M:
        """The row with the id that `key` is or spells. Raises MissingError, which is 404 in the API."""
        row = self.with_id(key).first()
        if row is None:
            raise MissingError
        return row


class FeedQuerySet(OwnedQuerySet[M]):
    """Rows that the change feed tells of: every write gives them the revision of the account's write."""

    def update(self, **values: Any) -> int:
        if self._feed_model.is_in_feed(values):
            values |= stamp(self.model, self.owner_id)
        return super().update(**values)

    def update_quietly(self, **values: Any) -> int:
        """UPDATE without telling the feed: for what is no change to a client. The caller says why."""
        return super().update(**values)

    def mark_changed(self) -> int:
        """Tell the feed of these rows, since their answers say something else though their columns do not."""
        return super().update(**stamp(self.model, self.owner_id))

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        rows = list(objs)
        for row in cast("list[Any]", rows):
            row.note_change()
        return super().bulk_create(rows, *args, **kwargs)

    def bulk_update(self, objs: Iterable[M], fields: Iterable[str], batch_size: int | None = None) -> int:
        rows, queryset = list(objs), self
        if self.owner_id is None and rows:
            owners = {row.owner_id for row in cast("list[Any]", rows)}
            queryset = self.known_to_be_of(owners.pop() if len(owners) == 1 else None)
        # Each batch goes through `update`, which adds the one number that is the same for all.
        return super(FeedQuerySet, queryset).bulk_update(rows, fields, batch_size)

    def delete(self) -> tuple[int, dict[str, int]]:
        stamp(self.model, self.owner_id)  # the revision that the tombstones will carry
        return super().delete()

    @property
    def _feed_model(self) -> Any:
        return self.model


class TrashQuerySet(FeedQuerySet[M]):
    """Rows that can be soft-deleted."""

    def find_deleted(self, key: object) -> M:
        """The row with this id, which is in the trash. Raises MissingError, NotDeletedError."""
        row: Any = self.find(key)
        if row.deleted_at is None:
            raise NotDeletedError
        return cast("M", row)

    def active(self) -> Self:
        return self.filter(deleted_at__isnull=True)

    def deleted(self) -> Self:
        return self.filter(deleted_at__isnull=False)

    def within_retention(self, now: dt.datetime) -> Self:
        """Active rows, and those deleted so lately that they can still be restored."""
        return self.exclude(deleted_at__lt=retention_cutoff(now))


class UnscopedManager(models.Manager[M], Generic[M, Q]):
    """`Model.unscoped`: rows of all accounts, for jobs, the admin and Django itself; never for a request's data."""

    def __init__(self, queryset: type[Q] | None = None) -> None:
        super().__init__()
        self.queryset = queryset

    def get_queryset(self) -> Any:
        default: Any = self.model._default_manager  # related managers are made without arguments
        queryset: Any = self.queryset or default.queryset
        return queryset(self.model, using=self._db)

    def rows(self) -> Any:
        """All rows, as the model's own queryset; typed Any, since the mypy plugin loses a manager's second type."""
        return self.get_queryset()


class OwnedManager(Generic[M, Q]):
    """`Model.objects`: takes nothing but `owned_by(owner)` and inserts; all else raises UnscopedQueryError.

    No subclass of Django's Manager: nothing leaks in from there, and `owned_by` keeps the type of the queryset.
    """

    model: type[M]

    def __init__(self, queryset: type[Q]) -> None:
        self.queryset = queryset

    def contribute_to_class(self, model: type[M], name: str) -> None:
        """Called by Django as it builds the model."""
        self.model = model
        setattr(model, name, self)

    def owned_by(self, owner: Any) -> Q:
        """The rows of `owner` (a user or the id of one), as the model's own queryset."""
        return cast("Q", self._rows().owned_by(owner))

    def find_active(self, owner: Any, key: object) -> M:
        """As `owned_by(owner).active().find(key)`, by a statement that is written once. Raises MissingError."""
        row_id = key if isinstance(key, UUID) else parse_id(key)
        row = row_id and self._active.instance(owner_id=getattr(owner, "pk", owner), row_id=row_id)
        if row is None:
            raise MissingError
        return cast("M", row)

    @cached_property
    def _active(self) -> CompiledQuery:
        def rows(owner_id: UUID, row_id: UUID) -> Any:
            owned: Any = self.owned_by(owner_id)
            return (owned.active() if hasattr(owned, "active") else owned).filter(pk=row_id)

        return CompiledQuery(rows)

    def create(self, **kwargs: Any) -> M:
        return cast("M", self._rows().create(**kwargs))

    def bulk_create(self, objs: Iterable[M], *args: Any, **kwargs: Any) -> list[M]:
        return cast("list[M]", self._rows().bulk_create(objs, *args, **kwargs))

    def _rows(self) -> Any:
        queryset: Any = self.queryset
        return queryset(self.model)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise UnscopedQueryError(f"{self.model.__name__}.objects needs owned_by(owner); jobs use .unscoped.")


def owner_without_index() -> Any:
    """`owner` for large tables, where another index begins with it.

    One of its own would be a second way to the rows: PostgreSQL takes it while it has no statistics, and reads all of
    the account.
    """
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", editable=False, db_index=False
    )


class OwnedModel(models.Model):
    """A row of one account. Subclasses declare `unscoped` (first: Django's default) and `objects` of their queryset."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    owner_id: UUID

    class Meta:
        abstract = True


class FeedModel(OwnedModel):
    """A row that the change feed (GET /api/changes) tells of, as `FEED_TYPE`.

    `revision` is that of the account's write which changed it last. What changes `QUIET_COLUMNS` alone is no change:
    they follow from others, or from the clock, and no answer shows them. Subclasses have an index over owner, revision
    and id.
    """

    revision = models.BigIntegerField(default=0, editable=False)

    FEED_TYPE: ClassVar[str]
    QUIET_COLUMNS: ClassVar[frozenset[str]] = frozenset()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        columns = kwargs.get("update_fields")
        if columns is None:
            self.note_change()
        elif self.is_in_feed(columns):
            self.note_change()
            kwargs["update_fields"] = {*columns, "revision"}
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        stamp(type(self), self.owner_id)  # the revision that the tombstone will carry
        return super().delete(*args, **kwargs)

    def note_change(self) -> None:
        """Take the revision of the open write. Raises NoOpenWriteError."""
        for column, value in stamp(type(self), self.owner_id).items():
            setattr(self, column, value)

    @classmethod
    def is_in_feed(cls, columns: Collection[str]) -> bool:
        """Whether a change of these columns is one to a client."""
        return not cls.QUIET_COLUMNS.issuperset(columns)


class TrashModel(FeedModel):
    """An owned row that is soft-deleted first: in the trash from `deleted_at` for the retention period."""

    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None


def retention_cutoff(now: dt.datetime) -> dt.datetime:
    """The moment before which deleted rows are beyond restoring."""
    return now - dt.timedelta(days=settings.RETENTION_DAYS)
