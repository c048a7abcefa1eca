"""The provider's pace, kept by all processes together through one row."""

import datetime as dt
from uuid import UUID

from people.models import GeocoderPace

_BEGINNING = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
_ROW = 1


def _row() -> None:
    GeocoderPace.objects.get_or_create(pk=_ROW, defaults={"next_request_at": _BEGINNING})


def take_request_slot(*, now: dt.datetime, interval: dt.timedelta) -> dt.timedelta | None:
    """Take the right to one request now: None when taken, else how long to wait before asking again."""
    _row()
    rows = GeocoderPace.objects.filter(pk=_ROW)
    if rows.filter(next_request_at__lte=now).update(next_request_at=now + interval):
        return None
    return max(rows.values_list("next_request_at", flat=True).get() - now, dt.timedelta(milliseconds=1))


def pause(*, until: dt.datetime) -> None:
    """Nobody asks before `until`."""
    GeocoderPace.objects.filter(pk=_ROW, next_request_at__lt=until).update(next_request_at=until)


def become_busy(*, now: dt.datetime, lease: dt.timedelta) -> UUID | None:
    """Be the one run at work for so long; None when another is. Returns the claim to end it by."""
    _row()
    return GeocoderPace.objects.filter(pk=_ROW).acquire(lease, clock=now)


def end_busy(claim: UUID) -> None:
    GeocoderPace.objects.filter(pk=_ROW).held_by(claim).release()
