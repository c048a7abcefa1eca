"""The provider's pace, kept by all processes together through one row."""

import datetime as dt

from people.models import GeocoderTurn

_BEGINNING = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
_ROW = 1


def _row() -> None:
    GeocoderTurn.objects.get_or_create(pk=_ROW, defaults={"next_request_at": _BEGINNING, "busy_until": _BEGINNING})


def take_turn(*, now: dt.datetime, interval: dt.timedelta) -> dt.timedelta | None:
    """Take the right to one request now: None when taken, else how long to wait before asking again."""
    _row()
    rows = GeocoderTurn.objects.filter(pk=_ROW)
    if rows.filter(next_request_at__lte=now).update(next_request_at=now + interval):
        return None
    return max(rows.values_list("next_request_at", flat=True).get() - now, dt.timedelta(milliseconds=1))


def pause(*, until: dt.datetime) -> None:
    """Nobody asks before `until`."""
    GeocoderTurn.objects.filter(pk=_ROW, next_request_at__lt=until).update(next_request_at=until)


def become_busy(*, now: dt.datetime, until: dt.datetime) -> bool:
    """Be the one run at work until then; False when another is."""
    _row()
    return bool(GeocoderTurn.objects.filter(pk=_ROW, busy_until__lte=now).update(busy_until=until))


def end_busy(*, now: dt.datetime) -> None:
    GeocoderTurn.objects.filter(pk=_ROW).update(busy_until=now)
