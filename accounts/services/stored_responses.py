"""Requests with an Idempotency-Key: each runs once, and a repeat is answered by replaying the stored response.

A row is inserted before the request runs and holds the response afterwards. For 24 hours the same request gets that
response again; while the first one runs, a repeat is refused with a hint to retry. If the first one was killed half
way, its lease ends and a repeat runs.

The responses of one account take at most MAX_BYTES. What would be more is answered without being stored, and a repeat
runs.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Sum

from accounts.models import StoredResponse, User
from accounts.models.tokens import StoredResponseQuerySet
from contacts_project.kernel.errors import DomainError
from contacts_project.kernel.ownership.account_lock import account_lock, account_write, current_write
from contacts_project.kernel.texts import define_text

RETENTION = dt.timedelta(hours=24)
MAX_BYTES = 64 * 1024 * 1024
# What a row takes besides the body. It also limits the number of rows, so that summing their sizes stays cheap.
ROW_BYTES = 1024
# Longer than any request runs. The lease of a process that was killed on this machine ends at once.
_LEASE = dt.timedelta(minutes=10)


class KeyReusedError(DomainError):
    """The key was sent before with another body or query string."""

    message = define_text(
        "idempotency_conflict", "This Idempotency-Key was sent with another body: take a new key for a new request."
    )


class InProgressError(DomainError):
    """The first request with the key is still running."""

    message = define_text(
        "in_progress", "The first request with this Idempotency-Key is still under way: ask again in a moment."
    )
    retry_after = 1


@dataclass(frozen=True)
class RawResponse:
    """Status, body and headers of a response, as they are stored and replayed."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    must_not_store: bool = False  # set by the view, for a secret for example

    @property
    def is_success(self) -> bool:
        return self.status < 400

    @property
    def is_storable(self) -> bool:
        """Whether a repeat should get this response. A server error or a rate limit may not occur again, so the
        repeat runs."""
        return self.status < 500 and self.status != 429 and not self.must_not_store


def run_once(
    *,
    owner: User,
    key_digest: str,
    content_digest: str,
    run: Callable[[], RawResponse],
    is_joined: bool,
    now: dt.datetime,
) -> tuple[RawResponse, bool]:
    """Call `run()` unless a request with this key ran before; return the response and whether it is a replay.

    `key_digest` identifies the request, `content_digest` what it contains (StoredResponse).

    With `is_joined`, the request and the storing of its response are one transaction: the request took effect exactly
    if a response is stored. Without it (a view that commits by itself or calls other machines), a request that is
    killed after its last commit and before the response is stored runs again when it is repeated.

    Raises KeyReusedError, InProgressError, and what `run` raises.
    """
    claim = _load_or_claim(owner, key_digest, content_digest, now)
    if isinstance(claim, RawResponse):
        return claim, True
    claimed_row = StoredResponse.objects.owned_by(owner).filter(key_digest=key_digest).held_by(claim)
    if current_write(owner.pk):
        # Inside an atomic batch. On failure it rolls back its whole transaction, this row included.
        response = run()
        if response.is_success and response.is_storable:
            _store(owner, claimed_row, response)
        return response, False
    try:
        response, is_stored = _run_and_store(owner, run, claimed_row) if is_joined else (run(), False)
        if response.is_storable and not is_stored:
            with account_lock(owner):  # the sum of the sizes must not change before this response is added
                _store(owner, claimed_row, response)
    except BaseException:
        # Also KeyboardInterrupt and SystemExit: otherwise the key stays blocked until the lease ends.
        claimed_row.delete()
        raise
    if not response.is_storable:
        claimed_row.delete()
    return response, False


def _load_or_claim(owner: User, key_digest: str, content_digest: str, now: dt.datetime) -> UUID | RawResponse:
    """The stored response, or else the claim under which this request may run."""
    rows = StoredResponse.objects.owned_by(owner).filter(key_digest=key_digest)
    # The hourly purge may not have run yet.
    rows.filter(created_at__lte=now - RETENTION).delete()
    row = rows.first()
    if row is None:
        row = StoredResponse(owner=owner, key_digest=key_digest, content_digest=content_digest, created_at=now)
        try:
            # A savepoint: inside an atomic batch, PostgreSQL would otherwise refuse all further statements.
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:  # a concurrent request with the same key inserted it first
            row = rows.first()
            if row is None:  # and has failed and deleted it since
                raise InProgressError from None
    if row.content_digest != content_digest:
        raise KeyReusedError
    if row.status is not None:
        return RawResponse(row.status, bytes(row.body), row.headers)
    claim = rows.filter(status=None).acquire(_LEASE, clock=now)
    if claim is None:
        raise InProgressError
    return claim


def _run_and_store(
    owner: User, run: Callable[[], RawResponse], claimed_row: StoredResponseQuerySet
) -> tuple[RawResponse, bool]:
    """Run the request and store its response in one transaction, which an error response rolls back.

    Returns the response and whether it is stored. It is not if the transaction is rolled back, by an error response or
    by the view itself (a batch does so): the caller stores such a response afterwards.
    """
    with account_write(owner):
        response = run()
        if not response.is_success:
            transaction.set_rollback(True)
        if is_stored := response.is_storable and not transaction.get_rollback():
            _store(owner, claimed_row, response)
    return response, is_stored


def _store(owner: User, claimed_row: StoredResponseQuerySet, response: RawResponse) -> None:
    """Store the response, under the account's lock; delete the row if the account has no room for it.

    Raises InProgressError if the lease ended and another request has claimed the row since.
    """
    size = len(response.body) + ROW_BYTES
    used = StoredResponse.objects.owned_by(owner).aggregate(sum=Sum("size"))["sum"] or 0
    if used + size > MAX_BYTES:
        changed = claimed_row.delete()[0]
    else:
        changed = claimed_row.release(status=response.status, body=response.body, headers=response.headers, size=size)
    if not changed:
        raise InProgressError


def purge_stored_responses(*, now: dt.datetime) -> int:
    """Delete responses older than a day; returns how many."""
    removed: int = StoredResponse.unscoped.rows().filter(created_at__lte=now - RETENTION).delete()[0]
    return removed
