"""The account lock: the one way to open a transaction that changes what an account owns, and the revision that it gives
the rows of the change feed.

Every row that the change feed tells of (`FeedModel`) carries the revision of the account's write that changed it last,
by which clients ask what is new. The model's save and the queryset's writes take it by `stamp`, so that no service has
to remember it and no statement is added. Since the writes of an account stand in line, revisions become visible in
order: who has read up to one has missed nothing below it.
"""

import datetime as dt
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar, cast
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import connection, models, transaction
from django.utils import timezone

from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.owned import OwnedModel, OwnedQuerySet

M = TypeVar("M", bound=models.Model)


class AccountGoneError(DomainError):
    """The account was deleted before its write got the lock."""

    message = "This account has been deleted."


class NoOpenWriteError(Exception):
    """A row of the feed is written outside account_write(owner), or by a queryset that names no owner."""


@dataclass(frozen=True)
class AccountWrite:
    """A write under way: whose it is, the revision that it gives the account, and the moment it began (UTC).

    `is_fresh`: nobody has written to the account since the owner's row that was handed in was read. So what was read
    after that row, and before the lock, is as it was: it need not be read again. `is_mirrored`: the account's people
    are copied elsewhere; else there is nobody to tell of a change, and nothing to look up about copies.
    """

    owner_id: UUID
    revision: int
    now: dt.datetime
    is_fresh: bool = False
    is_mirrored: bool = False


class _OpenWrites(threading.local):
    """The writes that this thread has open, by owner; connections, too, are one a thread."""

    def __init__(self) -> None:
        self.by_owner: dict[UUID, AccountWrite] = {}
        self.checks: dict[UUID, Callable[[AccountWrite], None]] = {}


_open = _OpenWrites()


@contextmanager
def account_write(owner: Any) -> Iterator[AccountWrite]:
    """Open a transaction, lock the account and raise its revision by one. `owner`: a user or the id of one.

    The UPDATE locks the account's row until the end (SQLite: the whole database), so that two writes of one account
    never interleave: limits, caps and "one of each" hold by counting inside. It is also what makes every ETag of the
    account change with the write. Inside another write of the same account it joins that one: no savepoint, no second
    revision; what fails in here takes the whole write back. Raises AccountGoneError. No network inside.
    """
    owner_id: UUID = getattr(owner, "pk", owner)
    if joined := _open.by_owner.get(owner_id):
        with transaction.atomic(savepoint=False):
            # What the outer part has changed by now is not what was read before.
            write = replace(joined, is_fresh=False)
            _check(write)
            yield write
        return
    with transaction.atomic():
        revision, is_mirrored = _raise_revision(owner_id)
        # One above what the caller's row says: no other write came in between.
        is_fresh = getattr(owner, "revision", revision) + 1 == revision
        write = AccountWrite(owner_id, revision, timezone.now(), is_fresh, is_mirrored)
        _open.by_owner[owner_id] = write
        try:
            _check(write)
            yield write
        finally:
            del _open.by_owner[owner_id]


@contextmanager
def checked_write(owner_id: UUID, check: Callable[[AccountWrite], None]) -> Iterator[None]:
    """While this is open, the next write that this thread opens for the account begins with `check(write)`.

    So a caller can have a condition looked at under the lock of whatever service it calls next, after all that the
    service does before it (files, network). What `check` raises takes the write back. Only one write begins so.
    """
    _open.checks[owner_id] = check
    try:
        yield
    finally:
        _open.checks.pop(owner_id, None)


def _check(write: AccountWrite) -> None:
    if check := _open.checks.pop(write.owner_id, None):
        check(write)


def current_write(owner_id: UUID) -> AccountWrite | None:
    """The write that this thread has open for the account; None when there is none."""
    return _open.by_owner.get(owner_id)


def stamp(model: type[Any], owner_id: UUID | None) -> dict[str, Any]:
    """What a write to rows of `owner_id` adds to their columns. Raises NoOpenWriteError."""
    write = _open.by_owner.get(owner_id) if owner_id else None
    return {"revision": write.revision} if write else refuse(model)


def refuse(model: type[Any]) -> dict[str, Any]:
    """Nothing is to be written to the model here."""
    raise NoOpenWriteError(
        f"{model.__name__} is told of by the change feed: write it in account_write(owner), and by "
        "objects.owned_by(owner); columns that no client sees are named in QUIET_COLUMNS."
    )


def is_mirrored(owner_id: UUID) -> bool:
    """What the write that this thread has open knows of the account; True where none is open to know it."""
    write = current_write(owner_id)
    return write is None or write.is_mirrored


@contextmanager
def account_lock(owner: Any) -> Iterator[None]:
    """Open a transaction that locks the account for a job that changes nothing a caller can see.

    As account_write, but revision and ETags stay. Raises AccountGoneError. No network inside.
    """
    with transaction.atomic():
        # SQLite took the write lock with BEGIN IMMEDIATE and leaves FOR UPDATE out.
        rows = get_user_model().objects.select_for_update(no_key=True)
        if not rows.filter(pk=getattr(owner, "pk", owner)).values_list("pk").first():
            raise AccountGoneError
        yield


@contextmanager
def account_locks(owner_ids: Collection[UUID]) -> Iterator[list[Any]]:
    """As account_lock, for several accounts in one transaction; yields those that there are, as they stand under it.

    In the order of their ids, so that two who lock several do not wait for each other. For work that takes each of
    them milliseconds: all are locked until the end.
    """
    with transaction.atomic():
        rows = get_user_model().objects.select_for_update(no_key=True)
        yield list(rows.filter(pk__in=owner_ids).order_by("pk"))


def _raise_revision(owner_id: UUID) -> tuple[int, bool]:
    """Lock the account's row; its new revision, and whether it is mirrored: one statement, the ORM would take two."""
    meta = get_user_model()._meta
    key = meta.pk.get_db_prep_value(owner_id, connection)
    with connection.cursor() as cursor:
        update = f'UPDATE "{meta.db_table}" SET revision = revision + 1 WHERE id = %s'  # noqa: S608 - its own name
        cursor.execute(f"{update} RETURNING revision, is_mirrored", [key])
        row = cursor.fetchone()
    if row is None:
        raise AccountGoneError
    return int(row[0]), bool(row[1])


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
