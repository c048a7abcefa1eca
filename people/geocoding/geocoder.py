"""The background geocoder: works off pending addresses at the provider's rate limit.

Each request takes a lease on its row, by an UPDATE that also sees that the account still has geocoding enabled, and its
result is on the row before the next request, so that a run that is killed at any point loses one lookup at the most.
"""

import datetime as dt
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from accounts.models import User
from contacts_project.kernel.outbound.failures import OutboundError
from contacts_project.kernel.outbound.session import OutboundSession, outbound_session
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_write
from people.geocoding import rate_limit
from people.geocoding.addresses import copy_results, drop_unused
from people.geocoding.nominatim import Place, find_place
from people.models import GeocodedAddress
from people.vocabularies import GeocodeState

BATCH = 10
LEASE = dt.timedelta(minutes=2)
# After the last of them the address has failed.
RETRIES = tuple(dt.timedelta(minutes=minutes) for minutes in (1, 10, 60, 360, 1440))
# A provider that is ill or asks for patience is left alone by everybody for as long.
ILL = dt.timedelta(seconds=30)


@dataclass
class Run:
    """One run: its clock, what it has done, and when it stops. `seconds` None: when nothing is due any more."""

    seconds: float | None = None
    now: Callable[[], dt.datetime] = timezone.now
    sleep: Callable[[float], None] = time.sleep
    counts: dict[str, int] = field(default_factory=lambda: {"done": 0, "failed": 0, "later": 0})
    is_ill: bool = False

    def __post_init__(self) -> None:
        self.started = self.now()

    @property
    def is_over(self) -> bool:
        spent = (self.now() - self.started).total_seconds()
        return self.is_ill or (self.seconds is not None and spent >= self.seconds)


def geocode_due(run: Run) -> dict[str, int]:
    """Carry out changed preferences, then look up what is due, some of each account in turn; returns the counts."""
    follow_preferences()
    if settings.GEOCODER_URL:
        with outbound_session() as session:
            while not run.is_over and (owners := _owners_with_due(run.now())):
                for owner_id in owners:
                    _geocode_some(run, session, owner_id)
    for owner_id in _uncopied_owners():
        _copy(owner_id)
    return run.counts


def geocode_exclusively(run: Run) -> dict[str, int]:
    """As geocode_due, but nothing while another such run is at work."""
    claim = rate_limit.acquire_run_lease(now=run.now(), lease=dt.timedelta(seconds=(run.seconds or 0) + 60))
    if claim is None:
        return run.counts
    try:
        return geocode_due(run)
    finally:
        rate_limit.release_run_lease(claim)


def follow_preferences() -> None:
    """Queue what was skipped where geocoding is enabled now, skip what waits where it is not."""
    rows = GeocodedAddress.unscoped
    for enabled, state in ((True, GeocodeState.SKIPPED), (False, GeocodeState.PENDING)):
        waiting = rows.filter(state=state, owner__geocoding_enabled=enabled)
        for owner_id in waiting.order_by("owner_id").values_list("owner_id", flat=True).distinct():
            try:
                _follow_preference(owner_id)
            except AccountGoneError:
                continue


def _follow_preference(owner_id: UUID) -> None:
    now = timezone.now()
    with account_write(owner_id):
        rows = GeocodedAddress.objects.owned_by(owner_id)
        if User.objects.filter(pk=owner_id, geocoding_enabled=True).exists():
            skipped = rows.filter(state=GeocodeState.SKIPPED)
            skipped.update(state=GeocodeState.PENDING, attempts=0, next_try_at=now, is_copied=False)
        else:
            pending = rows.filter(state=GeocodeState.PENDING)
            pending.release(state=GeocodeState.SKIPPED, is_copied=False)
        copy_results(owner_id)


def _due(now: dt.datetime) -> Any:
    rows = GeocodedAddress.unscoped.rows().free(now)
    return rows.filter(
        state=GeocodeState.PENDING,
        next_try_at__lte=now,
        owner__geocoding_enabled=True,
        owner__is_active=True,
    )


def _owners_with_due(now: dt.datetime) -> list[UUID]:
    return list(_due(now).order_by("owner_id").values_list("owner_id", flat=True).distinct())


def _geocode_some(run: Run, session: OutboundSession, owner_id: UUID) -> None:
    rows = list(_due(run.now()).filter(owner_id=owner_id).order_by("next_try_at", "id")[:BATCH])
    # An address that was removed since is nobody's business: the provider does not hear of it.
    used = drop_unused(owner_id, [row.text for row in rows])
    for row in rows:
        if row.text in used and _wait_for_request_slot(run) and _claim(row, run.now()):
            _look_up(run, session, row)
    _copy(owner_id)


def _wait_for_request_slot(run: Run) -> bool:
    """Wait for the provider's rate limit; False when the run ends before."""
    interval = dt.timedelta(seconds=settings.GEOCODER_INTERVAL_SECONDS)
    while not run.is_over:
        wait = rate_limit.take_request_slot(now=run.now(), interval=interval)
        if wait is None:
            return True
        run.sleep(min(wait.total_seconds(), 1.0))
    return False


def _claim(row: GeocodedAddress, now: dt.datetime) -> bool:
    """Make the lookup ours, if nobody else has and the account still wants it: the last look before the request."""
    wants = User.objects.filter(pk=OuterRef("owner_id"), geocoding_enabled=True, is_active=True)
    due = GeocodedAddress.unscoped.rows().filter(pk=row.pk, state=GeocodeState.PENDING)
    # Its next try is the one that was seen: whoever has tried it since has put it off.
    unchanged = due.filter(Exists(wants), next_try_at=row.next_try_at)
    row.claim = unchanged.acquire(LEASE, clock=now, attempts=F("attempts") + 1)
    return row.claim is not None


def _look_up(run: Run, session: OutboundSession, row: GeocodedAddress) -> None:
    try:
        place = find_place(session, row.text)
    except OutboundError as error:
        # The provider fails, not the address: no further request goes out in this run.
        run.is_ill = True
        rate_limit.pause(until=run.now() + max(ILL, dt.timedelta(seconds=min(error.retry_after or 0, 3600))))
        _put_off(run, row, error)
    else:
        _record(run, row, place)


def _record(run: Run, row: GeocodedAddress, place: Place | None) -> None:
    state = GeocodeState.DONE if place else GeocodeState.FAILED
    run.counts[state] += _ours(row).release(
        state=state,
        latitude=place.latitude if place else None,
        longitude=place.longitude if place else None,
        is_copied=False,
    )


def _put_off(run: Run, row: GeocodedAddress, error: OutboundError) -> None:
    if row.attempts >= len(RETRIES):
        run.counts["failed"] += _ours(row).release(state=GeocodeState.FAILED, is_copied=False)
        return
    wait = max(RETRIES[row.attempts], dt.timedelta(seconds=min(error.retry_after or 0, 86_400)))
    run.counts["later"] += _ours(row).release(next_try_at=run.now() + wait)


def _ours(row: GeocodedAddress) -> Any:
    """The row, unless the account has disabled geocoding meanwhile: then the answer is not wanted any more."""
    return GeocodedAddress.unscoped.rows().filter(pk=row.pk, state=GeocodeState.PENDING).held_by(row.claim)


def _uncopied_owners() -> list[UUID]:
    rows = GeocodedAddress.unscoped.filter(is_copied=False)
    return list(rows.order_by("owner_id").values_list("owner_id", flat=True).distinct())


def _copy(owner_id: UUID) -> None:
    try:
        copy_results(owner_id)
    except AccountGoneError:
        return
