"""The background geocoder: looks up pending addresses with Nominatim's search API, at the provider's rate limit.

Before each request the row is leased by an UPDATE that also checks that the account still has geocoding enabled. The
result is stored in the row before the next request, so a killed run loses at most one lookup. All processes share the
limit through one row (GeocoderPace).
"""

import datetime as dt
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.outbound.failures import Code, OutboundError, check_status
from contacts_project.kernel.outbound.session import OutboundSession, outbound_session
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from people.geocoding.addresses import copy_results, delete_unused_addresses
from people.models import GeocodedAddress, GeocoderPace
from people.models.details import GeocodedAddressQuerySet
from people.vocabularies import GeocodeState


class Place(NamedTuple):
    """Degrees, WGS 84."""

    latitude: float
    longitude: float


def find_place(session: OutboundSession, text: str) -> Place | None:
    """The coordinates of an address, or None when the provider finds none. One request. Raises OutboundError."""
    response = session.request(
        "GET",
        f"{settings.GEOCODER_URL.removesuffix('/search')}/search",
        params={"format": "jsonv2", "q": text, "limit": "1"},
    )
    check_status(response)
    try:
        return _parse_place(orjson.loads(response.content))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise OutboundError(Code.UNEXPECTED_RESPONSE, "The geocoder's answer makes no sense.") from None


def _parse_place(body: Any) -> Place | None:
    if not isinstance(body, list):
        raise TypeError
    if not body:
        return None
    # Nominatim returns the coordinates as strings.
    place = Place(float(body[0]["lat"]), float(body[0]["lon"]))
    # Also refuses NaN, which is outside every range.
    if not (-90 <= place.latitude <= 90 and -180 <= place.longitude <= 180):
        raise ValueError
    return place


_LONG_AGO = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
_ROW_ID = 1


def _ensure_row() -> None:
    GeocoderPace.objects.get_or_create(pk=_ROW_ID, defaults={"next_request_at": _LONG_AGO})


def take_request_slot(*, now: dt.datetime, interval: dt.timedelta) -> dt.timedelta | None:
    """Reserve one request now. Returns None on success, else the time to wait before the next attempt."""
    _ensure_row()
    rows = GeocoderPace.objects.filter(pk=_ROW_ID)
    # A conditional UPDATE: of several processes only one gets the slot.
    if rows.filter(next_request_at__lte=now).update(next_request_at=now + interval):
        return None
    return max(rows.values_list("next_request_at", flat=True).get() - now, dt.timedelta(milliseconds=1))


def _pause_provider(*, until: dt.datetime) -> None:
    """Allow no request before `until`; a later pause that is set already stays."""
    GeocoderPace.objects.filter(pk=_ROW_ID, next_request_at__lt=until).update(next_request_at=until)


def acquire_run_lease(*, now: dt.datetime, lease: dt.timedelta) -> UUID | None:
    """Acquire the lease of the single geocoder run. Returns its claim, or None while another run has the lease."""
    _ensure_row()
    return GeocoderPace.objects.filter(pk=_ROW_ID).acquire(lease, clock=now)


def release_run_lease(claim: UUID) -> None:
    GeocoderPace.objects.filter(pk=_ROW_ID).held_by(claim).release()


# Addresses of one account before the next account's turn.
BATCH_SIZE = 10
LEASE = dt.timedelta(minutes=2)
# The address has failed if the attempt after the last delay fails, too.
RETRY_DELAYS = tuple(dt.timedelta(minutes=minutes) for minutes in (1, 10, 60, 360, 1440))
# After a failure of the provider no process sends a request for this time, or for its Retry-After if that is longer.
PROVIDER_PAUSE = dt.timedelta(seconds=30)


@dataclass
class GeocodingRun:
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


def geocode_due(run: GeocodingRun) -> dict[str, int]:
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


def geocode_exclusively(run: GeocodingRun) -> dict[str, int]:
    """Call geocode_due unless another process is running it; returns the counts."""
    claim = acquire_run_lease(now=run.now(), lease=dt.timedelta(seconds=(run.seconds or 0) + 60))
    if claim is None:
        return run.counts
    try:
        return geocode_due(run)
    finally:
        release_run_lease(claim)


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


def _due_rows(now: dt.datetime) -> GeocodedAddressQuerySet:
    rows: GeocodedAddressQuerySet = GeocodedAddress.unscoped.rows().free(now)
    return rows.filter(
        state=GeocodeState.PENDING,
        next_try_at__lte=now,
        owner__geocoding_enabled=True,
        owner__is_active=True,
    )


def _owner_ids(rows: "QuerySet[GeocodedAddress, GeocodedAddress]") -> list[UUID]:
    return list(rows.order_by("owner_id").values_list("owner_id", flat=True).distinct())


def _geocode_batch(run: GeocodingRun, session: OutboundSession, owner_id: UUID) -> None:
    rows = list(_due_rows(run.now()).filter(owner_id=owner_id).order_by("next_try_at", "id")[:BATCH_SIZE])
    # An address that was removed since it was enqueued is not sent to the provider.
    used = delete_unused_addresses(owner_id, [row.text for row in rows])
    for row in rows:
        if row.text in used and _wait_for_request_slot(run) and _claim(row, run.now()):
            _look_up(run, session, row)
    with suppress(AccountGoneError):
        copy_results(owner_id)


def _wait_for_request_slot(run: GeocodingRun) -> bool:
    """Wait until the rate limit allows a request; returns False if the run ends before."""
    interval = dt.timedelta(seconds=settings.GEOCODER_INTERVAL_SECONDS)
    while not run.is_over:
        wait = take_request_slot(now=run.now(), interval=interval)
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


def _look_up(run: GeocodingRun, session: OutboundSession, row: GeocodedAddress) -> None:
    try:
        place = find_place(session, row.text)
    except OutboundError as error:
        # The provider fails, not the address: no further request goes out in this run.
        run.has_provider_failed = True
        _pause_provider(until=run.now() + max(PROVIDER_PAUSE, dt.timedelta(seconds=min(error.retry_after or 0, 3600))))
        _schedule_retry(run, row, error)
    else:
        _save_result(run, row, place)


def _save_result(run: GeocodingRun, row: GeocodedAddress, place: Place | None) -> None:
    state = GeocodeState.DONE if place else GeocodeState.FAILED
    run.counts[state] += _leased_row(row).release(
        state=state,
        latitude=place.latitude if place else None,
        longitude=place.longitude if place else None,
        is_copied=False,
    )


def _schedule_retry(run: GeocodingRun, row: GeocodedAddress, error: OutboundError) -> None:
    if row.attempts >= len(RETRY_DELAYS):
        run.counts["failed"] += _leased_row(row).release(state=GeocodeState.FAILED, is_copied=False)
        return
    wait = max(RETRY_DELAYS[row.attempts], dt.timedelta(seconds=min(error.retry_after or 0, 86_400)))
    run.counts["later"] += _leased_row(row).release(next_try_at=run.now() + wait)


def _leased_row(row: GeocodedAddress) -> GeocodedAddressQuerySet:
    """The row under its lease; no row if the account has disabled geocoding meanwhile: the result is then discarded."""
    rows: GeocodedAddressQuerySet = GeocodedAddress.unscoped.rows()
    return rows.filter(pk=row.pk, state=GeocodeState.PENDING).held_by(row.claim)
