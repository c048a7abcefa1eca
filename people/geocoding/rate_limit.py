"""The geocoding provider's rate limit, shared by all processes through one row (GeocoderPace)."""

import datetime as dt
from uuid import UUID

from people.models import GeocoderPace

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


def pause(*, until: dt.datetime) -> None:
    """Allow no request before `until`; a later pause that is set already stays."""
    GeocoderPace.objects.filter(pk=_ROW_ID, next_request_at__lt=until).update(next_request_at=until)


def acquire_run_lease(*, now: dt.datetime, lease: dt.timedelta) -> UUID | None:
    """Acquire the lease of the single geocoder run. Returns its claim, or None while another run has the lease."""
    _ensure_row()
    return GeocoderPace.objects.filter(pk=_ROW_ID).acquire(lease, clock=now)


def release_run_lease(claim: UUID) -> None:
    GeocoderPace.objects.filter(pk=_ROW_ID).held_by(claim).release()
