"""The background geocoder: looks up pending addresses at the provider's rate limit.

Before each request the row is leased by an UPDATE that also checks that the account still has geocoding enabled. The
result is stored in the row before the next request, so a killed run loses at most one lookup.
"""

import datetime as dt
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.outbound.failures import OutboundError
from contacts_project.kernel.outbound.session import OutboundSession, outbound_session
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from people.geocoding import rate_limit
from people.geocoding.addresses import copy_results, delete_unused_addresses
from people.geocoding.nominatim import Place, find_place
from people.models import GeocodedAddress
from people.vocabularies import GeocodeState

# Addresses of one account before the next account's turn.
BATCH_SIZE = 10
LEASE = dt.timedelta(minutes=2)
# The address has failed if the attempt after the last delay fails, too.
RETRY_DELAYS = tuple(dt.timedelta(minutes=minutes) for minutes in (1, 10, 60, 360, 1440))
# After a failure of the provider no process sends a request for this time, or for its Retry-After if that is longer.
PROVIDER_PAUSE = dt.timedelta(seconds=30)


@dataclass
class Run:
    """One run: its clock, its counts, and when it ends: after `seconds`, or (None) when no address is due any more."""

    seconds: float | None = None
    now: Callable[[], dt.datetime] = timezone.now
    sleep: Callable[[float], None] = time.sleep
    counts: dict[str, int] = field(default_factory=lambda: {"done": 0, "failed": 0, "later": 0})
    has_provider_failed: bool = False

    def __post_init__(self) -> None:
        self.started = self.now()

    @property
    def is_over(self) -> bool:
        elapsed = (self.now() - self.started).total_seconds()
        return self.has_provider_failed or (self.seconds is not None and elapsed >= self.seconds)


def geocode_due(run: Run) -> dict[str, int]:
    """Apply changed preferences, then look up due addresses, a batch of each account in turn; returns the counts."""
    apply_preferences()
    if settings.GEOCODER_URL:
        with outbound_session() as session:
            while not run.is_over and (owners := _owner_ids(_due_rows(run.now()))):
                for owner_id in owners:
                    _geocode_batch(run, session, owner_id)
    # Also results that a killed run has stored, but not copied.
    for owner_id in _owner_ids(GeocodedAddress.unscoped.filter(is_copied=False)):
        with suppress(AccountGoneError):
            copy_results(owner_id)
    return run.counts


def geocode_exclusively(run: Run) -> dict[str, int]:
    """Call geocode_due unless another process is running it; returns the counts."""
    claim = rate_limit.acquire_run_lease(now=run.now(), lease=dt.timedelta(seconds=(run.seconds or 0) + 60))
    if claim is None:
        return run.counts
    try:
        return geocode_due(run)
    finally:
        rate_limit.release_run_lease(claim)


def apply_preferences() -> None:
    """Enqueue the skipped addresses of accounts with geocoding enabled, and skip the pending ones of the others."""
    rows = GeocodedAddress.unscoped
    for enabled, state in ((True, GeocodeState.SKIPPED), (False, GeocodeState.PENDING)):
        for owner_id in _owner_ids(rows.filter(state=state, owner__geocoding_enabled=enabled)):
            with suppress(AccountGoneError):
                _apply_preference(owner_id)


def _apply_preference(owner_id: UUID) -> None:
    now = timezone.now()
    with account_write(owner_id):
        rows = GeocodedAddress.objects.owned_by(owner_id)
        # Read again under the lock, since the preference may have changed since the scan.
        if User.objects.filter(pk=owner_id, geocoding_enabled=True).exists():
            skipped = rows.filter(state=GeocodeState.SKIPPED)
            skipped.update(state=GeocodeState.PENDING, attempts=0, next_try_at=now, is_copied=False)
        else:
            pending = rows.filter(state=GeocodeState.PENDING)
            # `release` also ends the lease of a lookup that is under way, so its result will be discarded.
            pending.release(state=GeocodeState.SKIPPED, is_copied=False)
        copy_results(owner_id)


def _due_rows(now: dt.datetime) -> Any:
    rows = GeocodedAddress.unscoped.rows().free(now)
    return rows.filter(
        state=GeocodeState.PENDING,
        next_try_at__lte=now,
        owner__geocoding_enabled=True,
        owner__is_active=True,
    )


def _owner_ids(rows: "QuerySet[GeocodedAddress, GeocodedAddress]") -> list[UUID]:
    return list(rows.order_by("owner_id").values_list("owner_id", flat=True).distinct())


def _geocode_batch(run: Run, session: OutboundSession, owner_id: UUID) -> None:
    rows = list(_due_rows(run.now()).filter(owner_id=owner_id).order_by("next_try_at", "id")[:BATCH_SIZE])
    # An address that was removed since it was enqueued is not sent to the provider.
    used = delete_unused_addresses(owner_id, [row.text for row in rows])
    for row in rows:
        if row.text in used and _wait_for_request_slot(run) and _claim(row, run.now()):
            _look_up(run, session, row)
    with suppress(AccountGoneError):
        copy_results(owner_id)


def _wait_for_request_slot(run: Run) -> bool:
    """Wait until the rate limit allows a request; returns False if the run ends before."""
    interval = dt.timedelta(seconds=settings.GEOCODER_INTERVAL_SECONDS)
    while not run.is_over:
        wait = rate_limit.take_request_slot(now=run.now(), interval=interval)
        if wait is None:
            return True
        run.sleep(min(wait.total_seconds(), 1.0))
    return False


def _claim(row: GeocodedAddress, now: dt.datetime) -> bool:
    """Lease the row for one request, if no other process has it and the account still has geocoding enabled."""
    is_enabled = User.objects.filter(pk=OuterRef("owner_id"), geocoding_enabled=True, is_active=True)
    due = GeocodedAddress.unscoped.rows().filter(pk=row.pk, state=GeocodeState.PENDING)
    # If another process has tried it since it was read and failed, `next_try_at` has changed.
    unchanged = due.filter(Exists(is_enabled), next_try_at=row.next_try_at)
    row.claim = unchanged.acquire(LEASE, clock=now, attempts=F("attempts") + 1)
    return row.claim is not None


def _look_up(run: Run, session: OutboundSession, row: GeocodedAddress) -> None:
    try:
        place = find_place(session, row.text)
    except OutboundError as error:
        # The provider fails, not the address: no further request goes out in this run.
        run.has_provider_failed = True
        rate_limit.pause(until=run.now() + max(PROVIDER_PAUSE, dt.timedelta(seconds=min(error.retry_after or 0, 3600))))
        _schedule_retry(run, row, error)
    else:
        _save_result(run, row, place)


def _save_result(run: Run, row: GeocodedAddress, place: Place | None) -> None:
    state = GeocodeState.DONE if place else GeocodeState.FAILED
    run.counts[state] += _leased_row(row).release(
        state=state,
        latitude=place.latitude if place else None,
        longitude=place.longitude if place else None,
        is_copied=False,
    )


def _schedule_retry(run: Run, row: GeocodedAddress, error: OutboundError) -> None:
    if row.attempts >= len(RETRY_DELAYS):
        run.counts["failed"] += _leased_row(row).release(state=GeocodeState.FAILED, is_copied=False)
        return
    wait = max(RETRY_DELAYS[row.attempts], dt.timedelta(seconds=min(error.retry_after or 0, 86_400)))
    run.counts["later"] += _leased_row(row).release(next_try_at=run.now() + wait)


def _leased_row(row: GeocodedAddress) -> Any:
    """The row under its lease; no row if the account has disabled geocoding meanwhile: the result is then discarded."""
    return GeocodedAddress.unscoped.rows().filter(pk=row.pk, state=GeocodeState.PENDING).held_by(row.claim)
