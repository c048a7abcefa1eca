"""The account lock: every transaction that changes an account's data takes it, and every write gets a revision number.

`account_write` is the only way to open such a transaction. It raises the account's revision by one, and each row that
the change feed reports (`FeedModel`) stores the revision of the write that changed it last. Clients ask the feed for
rows above the revision they know. Because writes of one account run one after the other, revisions become visible in
order: a client that has read up to revision n has missed nothing below n.

A long write takes the lock for each of its batches (`BatchWriter`), so that other writers get their turn.
"""

import datetime as dt
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import DEFAULT_DB_ALIAS, Error, connections, models, transaction
from django.utils import timezone

from contacts_project.kernel.database.statistics import analyze_tables
from contacts_project.kernel.errors import DomainError, UnavailableError, is_unavailable
from contacts_project.kernel.fair_semaphore import LIMITS, FairSemaphore
from contacts_project.kernel.ownership.larger_work import LargerWork
from contacts_project.kernel.texts import define_text

_IMPORTS_BUSY = define_text(
    "imports_busy", "Other imports are under way. Nothing was changed: try again in a few seconds."
)
IMPORTS = FairSemaphore[UUID | None](LIMITS["imports"], lambda _: UnavailableError(_IMPORTS_BUSY, retry_after=10))
# A write of this many batches, each of a hundred rows or more, ends with new statistics for the planner.
_ANALYZE_THRESHOLD = 5


class AccountGoneError(DomainError):
    """The account was deleted before its write got the lock."""

    message = define_text("account_gone", "This account has been deleted.")


class NoOpenWriteError(Exception):
    """A row of the feed is written outside account_write(owner), or by a queryset without a known owner."""


@dataclass(frozen=True)
class AccountWrite:
    """An open write: the account, the revision that this write gives it, and the time at which it began (UTC).

    `is_fresh`: nobody has written to the account since the caller's user row was read. Whatever was read after that row
    and before the lock is therefore still current and need not be read again. UNREVISED_COLUMNS are an exception: jobs
    change them under the lock without a new revision, so a write must not store values of them read before its lock.
    `is_mirrored`: the account's people are copied to a CardDAV server. If not, nobody is notified of changes and no
    table of copies is queried. `is_shared`: other accounts keep people together with it; then the hooks are called.
    """

    owner_id: UUID
    revision: int
    now: dt.datetime
    is_fresh: bool = False
    is_mirrored: bool = False
    is_shared: bool = False


SharedWriteHook = Callable[[AccountWrite], None]
_shared_write_hooks: list[SharedWriteHook] = []


def register_shared_write_hook(hook: SharedWriteHook) -> None:
    """Call `hook` at the beginning of every write of an account with `is_shared`, inside its transaction and lock.

    Called once per app, from AppConfig.ready().
    """
    _shared_write_hooks.append(hook)


class _OpenWrites(threading.local):
    """The open writes of this thread by owner, and the checks for the next one. Thread-local, as connections are."""

    def __init__(self) -> None:
        self.by_owner: dict[UUID, AccountWrite] = {}
        self.checks: dict[UUID, Callable[[AccountWrite], None]] = {}


_open = _OpenWrites()


@contextmanager
def account_write(owner: models.Model | UUID) -> Iterator[AccountWrite]:
    """Open a transaction, lock the account and raise its revision by one. `owner`: a user or the id of one.

    The UPDATE locks the account's row until the transaction ends (SQLite: the whole database), so two writes of one
    account never interleave: inside, limits and uniqueness can be checked by counting rows. The new revision also
    changes every ETag of the account. Inside another write of the same account this joins it: no savepoint, no second
    revision, and an error in here rolls back the whole write. Raises AccountGoneError. Do no network I/O inside.
    """
    owner_id: UUID = owner.pk if isinstance(owner, models.Model) else owner
    if joined := _open.by_owner.get(owner_id):
        # Without a savepoint Django marks the outer transaction for rollback when this block raises, even if the
        # caller catches the error. A half-done inner write therefore cannot be committed.
        with transaction.atomic(savepoint=False):
            # The outer part may already have changed what the caller read before.
            write = replace(joined, is_fresh=False)
            _run_check(write)
            yield write
        return
    with transaction.atomic():
        revision, is_mirrored, is_shared = _raise_revision(owner_id)
        # The caller's row is exactly one revision behind: no other write came in between. An id has no revision, so
        # the default is chosen to give False.
        is_fresh = getattr(owner, "revision", revision) + 1 == revision
        # The time is taken after the lock: a write that waits for another never gets the earlier time.
        write = AccountWrite(owner_id, revision, timezone.now(), is_fresh, is_mirrored, is_shared)
        _open.by_owner[owner_id] = write
        try:
            for hook in _shared_write_hooks if is_shared else ():
                hook(write)
            _run_check(write)
            yield write
        finally:
            # Before the commit or rollback: code that runs on commit must open a write of its own.
            del _open.by_owner[owner_id]


@contextmanager
def checked_write(owner_id: UUID, check: Callable[[AccountWrite], None]) -> Iterator[None]:
    """While this is open, the next write that this thread opens for the account begins with `check(write)`.

    It lets a caller check a condition (such as If-Match) under the lock of whatever service it calls next, after the
    slow work that the service does before the lock (files, network). If `check` raises, the write is rolled back. The
    check runs once.
    """
    _open.checks[owner_id] = check
    try:
        yield
    finally:
        _open.checks.pop(owner_id, None)


def _run_check(write: AccountWrite) -> None:
    if check := _open.checks.pop(write.owner_id, None):
        check(write)


def current_write(owner_id: UUID) -> AccountWrite | None:
    """The write that this thread has open for the account, or None."""
    return _open.by_owner.get(owner_id)


def revision_values(model: type[models.Model], owner_id: UUID | None) -> dict[str, int]:
    """The column and value that a write to rows of `owner_id` must add. Raises NoOpenWriteError."""
    write = _open.by_owner.get(owner_id) if owner_id else None
    return {"revision": write.revision} if write else refuse_write(model)


def refuse_write(model: type[models.Model]) -> dict[str, int]:
    """Raise NoOpenWriteError. A function of its own, with a result, so that tests may insert rows without a write."""
    raise NoOpenWriteError(
        f"{model.__name__} is in the change feed: write it inside account_write(owner), through "
        "objects.owned_by(owner). Columns that no client sees belong in UNREVISED_COLUMNS."
    )


def is_mirrored(owner_id: UUID) -> bool:
    """Whether the account's people are copied elsewhere, as read by the open write; True when none is open."""
    write = current_write(owner_id)
    return write is None or write.is_mirrored


@contextmanager
def account_lock(owner: models.Model | UUID) -> Iterator[None]:
    """Open a transaction that locks the account, for a job that changes nothing a caller can see.

    Like account_write, but revision and ETags stay as they are. Inside a write of the same account it joins that: the
    account is locked already. Raises AccountGoneError. Do no network I/O inside.
    """
    owner_id: UUID = owner.pk if isinstance(owner, models.Model) else owner
    if current_write(owner_id) is not None:
        with transaction.atomic(savepoint=False):
            yield
        return
    with transaction.atomic():
        # On SQLite, BEGIN IMMEDIATE has already taken the write lock, and Django omits FOR UPDATE.
        # NO KEY: inserts of rows that reference the account only need its key and do not have to wait.
        rows = get_user_model().objects.select_for_update(no_key=True)
        if not rows.filter(pk=owner_id).values_list("pk").first():
            raise AccountGoneError
        yield


@contextmanager
def account_locks(owner_ids: Collection[UUID]) -> Iterator[list[Any]]:
    """Like account_lock for several accounts in one transaction; yields the existing ones as read under the lock.

    For work that takes milliseconds per account: all of them stay locked until the end.
    """
    with transaction.atomic():
        rows = get_user_model().objects.select_for_update(no_key=True)
        # In the order of ids: two transactions that lock several accounts cannot deadlock.
        yield list(rows.filter(pk__in=owner_ids).order_by("pk"))


def still_broken(
    suspects: Iterable[tuple[UUID, object]], find_broken: Callable[[UUID, list[object]], Iterable[object]]
) -> Iterator[object]:
    """Yield what `find_broken(owner_id, keys)` returns for the suspects, as (owner, key), under each account's lock.

    For integrity checks: two statements outside a transaction read two states of the database, and a write between them
    can look like a broken row.
    """
    by_owner: dict[UUID, list[object]] = defaultdict(list)
    for owner_id, key in suspects:
        by_owner[owner_id].append(key)
    for owner_id, keys in by_owner.items():
        try:
            with account_lock(owner_id):
                broken = list(find_broken(owner_id, keys))
        except AccountGoneError:
            continue
        # After the lock is released: the consumer may take any time.
        yield from broken


def _raise_revision(owner_id: UUID) -> tuple[int, bool, bool]:
    """Lock the account's row and raise its revision. Returns the new revision, `is_mirrored` and `is_shared`."""
    database = connections[DEFAULT_DB_ALIAS]
    meta = get_user_model()._meta
    # Raw SQL because the ORM has no UPDATE ... RETURNING: it would need a second statement in every write.
    update = f'UPDATE "{meta.db_table}" SET revision = revision + 1 WHERE id = %s'  # noqa: S608 - its own name
    returned, key = "RETURNING revision, is_mirrored, is_shared", meta.pk.get_db_prep_value(owner_id, database)
    with database.cursor() as cursor:
        cursor.execute(f"{update} {returned}", [key])
        rows = cursor.fetchall()
    if not rows:
        raise AccountGoneError
    return int(rows[0][0]), bool(rows[0][1]), bool(rows[0][2])


class StoppedError(Exception):
    """The database became unavailable, or the disk is full, after some batches were committed. The rest is missing."""


class _Throttle:
    """Runs one batch at a time in this process, then leaves the database to others for as long as the batch took.
    Accounts take turns.

    SQLite's waiters poll for its write lock, so it goes to whoever asks at the right moment and not to the longest
    waiter. Without a gap one writer that returns at once, or two that alternate, would starve all others.
    """

    def __init__(self) -> None:
        self._batches = FairSemaphore[UUID](LIMITS["batches of long writes"])
        self._next_at = 0.0

    @contextmanager
    def batch(self, account: UUID) -> Iterator[None]:
        with self._batches.hold(account):
            time.sleep(max(0.0, self._next_at - time.monotonic()))
            start = time.monotonic()
            try:
                yield
            finally:
                end = time.monotonic()
                self._next_at = end + (end - start)


_throttle = _Throttle()


class BatchWriter:
    """The batches of one long write, each in a transaction of its own. Used in a `with`, which ends the write however
    it is left."""

    def __init__(self, owner: models.Model | UUID) -> None:
        self.owner = owner
        self._work = LargerWork(owner.pk if isinstance(owner, models.Model) else owner, "batches")
        self._has_stopped = False
        self._committed_batches = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """End the work, and update the planner's statistics if many rows were written."""
        self._work.end()
        if kind is None and self._committed_batches >= _ANALYZE_THRESHOLD and not self._has_stopped:
            analyze_tables()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Wrap all work on one batch, including its files.

        Once a batch is committed, an error of an unavailable service (`is_unavailable`) becomes StoppedError, and every
        later attempt raises StoppedError too. Before that the error passes unchanged, and the API answers 503.
        """
        if self._has_stopped:
            raise StoppedError
        try:
            yield
        except (Error, OSError) as error:
            # A 503 would promise that nothing was written.
            self._has_stopped = self._committed_batches > 0 and is_unavailable(error)
            if self._has_stopped:
                raise StoppedError from error
            raise

    @contextmanager
    def batch(self) -> Iterator[None]:
        """The transaction of one batch, with the account locked. An account_write inside joins it."""
        # The lock of the process comes first: while it waits, no transaction is open.
        account = self.owner.pk if isinstance(self.owner, models.Model) else self.owner
        with _throttle.batch(account), self._work.part(), account_lock(self.owner):
            yield
        # Counted after the commit, since a batch that failed wrote nothing.
        self._committed_batches += 1
