"""The occurrences of a calendar's events in a span of time, each with what identifies it."""

import datetime as dt
import hashlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from meetings.calendars.parser import Event, Moment, age, newest
from meetings.calendars.recurrence import MAX_PER_YEAR, Budget, expand

MAX_STEPS = 200_000
_DAY = dt.timedelta(days=1)
_MAX_SHIFT = dt.timedelta(days=366)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence. `day` is that of an event of whole days, else None.

    `key` knows it by UID and, in a series, its original start; `day_key` by UID and the day of that; `series_key` is
    that of the UID alone. They are hashes.
    """

    event: Event
    starts_at: dt.datetime
    ends_at: dt.datetime
    day: dt.date | None
    key: str
    day_key: str
    series_key: str


class Zoning:
    """Which zone floating times and whole days are of."""

    def __init__(self, *, floating: dt.tzinfo, days: dt.tzinfo) -> None:
        self.floating, self.days = floating, days

    def instant(self, wall: dt.datetime, moment: Moment) -> dt.datetime:
        """The instant of a local time of the kind of `moment`. In a gap of the clock it is after the gap."""
        return wall.replace(tzinfo=self.zone_of(moment)).astimezone(dt.UTC)

    def zone_of(self, moment: Moment) -> dt.tzinfo:
        return self.days if moment.is_day else moment.zone or self.floating

    def end(self, wall: dt.datetime, event: Event) -> dt.datetime:
        if event.start.is_day:
            return self.instant(wall + event.duration, event.start)
        return self.instant(wall, event.start) + event.duration


def hash_key(*parts: str) -> str:
    """A key of the parts that does not tell them. The separator is in none of them."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def occurrences(
    events: Iterable[Event], zoning: Zoning, since: dt.datetime, until: dt.datetime
) -> Iterator[Occurrence]:
    """All that begin from `since` to `until`. Raises BudgetSpentError."""
    budget = Budget(MAX_STEPS)
    by_uid: dict[str, list[Event]] = defaultdict(list)
    for event in newest(events):
        by_uid[event.uid].append(event)
    for uid, versions in by_uid.items():
        found = _of_uid(uid, versions, zoning, (since, until), budget)
        yield from found if len(versions) <= 1 else _latest_of_years(found, zoning)


def _latest_of_years(found: Iterable[Occurrence], zoning: Zoning) -> Iterator[Occurrence]:
    """The latest 366 of each year: each change of an occurrence is an event of its own."""
    by_year: dict[int, list[Occurrence]] = defaultdict(list)
    for row in found:
        by_year[row.starts_at.astimezone(zoning.zone_of(row.event.start)).year].append(row)
    for rows in by_year.values():
        yield from rows if len(rows) <= MAX_PER_YEAR else sorted(rows, key=_start)[-MAX_PER_YEAR:]


def _start(row: Occurrence) -> dt.datetime:
    return row.starts_at


def _of_uid(
    uid: str, versions: list[Event], zoning: Zoning, span: tuple[dt.datetime, dt.datetime], budget: Budget
) -> Iterator[Occurrence]:
    versions.sort(key=age)
    master = next((event for event in versions if event.recurrence_id is None), None)
    series = master or versions[0]
    changed: dict[dt.datetime, Event] = {}
    following: dict[dt.datetime, Event] = {}
    for event in versions:
        if event.recurrence_id is not None:
            (following if event.is_following else changed)[_original(event.recurrence_id, series)] = event
    is_series = master is None or master.is_series or bool(changed) or bool(following)
    if master is not None and master.is_cancelled:
        changed, following = {}, {}  # nothing of it takes place, whatever its changes say
    if master is not None:
        changes = _Following(master, following, zoning)
        walls = set(_walls(master, zoning, changes.widen(span), budget))
        for wall in sorted(walls - changed.keys() - following.keys()):
            event, start = changes.at(wall)
            yield from _build(uid, event, start, wall, zoning, span, is_series=is_series, series=series)
    for original, event in {**following, **changed}.items():
        yield from _build(uid, event, event.start.wall, original, zoning, span, is_series=True, series=series)


def _original(moment: Moment, series: Event) -> dt.datetime:
    """The original start of a changed occurrence in the local time of the series; some programs name its day alone."""
    if moment.is_day and not series.start.is_day:
        return dt.datetime.combine(moment.wall, series.start.wall.time())
    wall = moment.wall_in(series.start.zone)
    return wall.replace(hour=0, minute=0, second=0) if series.start.is_day else wall


class _Following:
    """The changes of a series that those which follow have as well, by the original start of the first one.

    One that moves by more than a year is itself alone, so that the span to look at stays short.
    """

    def __init__(self, series: Event, changes: dict[dt.datetime, Event], zoning: Zoning) -> None:
        shifts = {
            wall: zoning.instant(event.start.wall, event.start) - zoning.instant(wall, series.start)
            for wall, event in changes.items()
        }
        self._series, self._changes = series, changes
        self._walls = sorted(wall for wall, shift in shifts.items() if abs(shift) <= _MAX_SHIFT)
        self._shifts = [shifts[wall] for wall in self._walls]

    def widen(self, span: tuple[dt.datetime, dt.datetime]) -> tuple[dt.datetime, dt.datetime]:
        """Where those lie that the changes may move into the span."""
        if not self._shifts:
            return span
        nothing = dt.timedelta()
        # A day more, since the clocks may change between.
        later, earlier = max(nothing, *self._shifts) + _DAY, min(nothing, *self._shifts) - _DAY
        return span[0] - later, span[1] - earlier

    def at(self, wall: dt.datetime) -> tuple[Event, dt.datetime]:
        """What the occurrence is, and its local start."""
        number = bisect_right(self._walls, wall)
        if number == 0:
            return self._series, wall
        first = self._walls[number - 1]
        event = self._changes[first]
        return event, event.start.wall + (wall - first)


def _walls(
    event: Event, zoning: Zoning, span: tuple[dt.datetime, dt.datetime], budget: Budget
) -> Iterator[dt.datetime]:
    """The local starts of an event; of a series the latest 366 of a year."""
    start = event.start.wall
    if not event.is_series:
        yield start
        return
    zone = event.start.zone
    low, high = (edge.astimezone(zoning.zone_of(event.start)).replace(tzinfo=None) for edge in span)
    added = {moment.wall_in(zone) for moment in event.added}
    if event.start.is_day:
        added = {wall.replace(hour=0, minute=0, second=0) for wall in added}
    found = {wall for wall in added if low <= wall <= high}
    if event.rule is None:
        found.add(start)
    else:
        found.update(expand(event.rule, start, event.until, low, high, budget))
    removed = {moment.wall_in(zone) for moment in event.removed if not moment.is_day}
    removed_days = {moment.wall.date() for moment in event.removed if moment.is_day}
    by_year: dict[int, list[dt.datetime]] = defaultdict(list)
    for wall in sorted(found):
        if wall not in removed and wall.date() not in removed_days:
            by_year[wall.year].append(wall)
    for walls in by_year.values():
        yield from walls[-MAX_PER_YEAR:]


def _build(
    uid: str,
    event: Event,
    wall: dt.datetime,
    original: dt.datetime,
    zoning: Zoning,
    span: tuple[dt.datetime, dt.datetime],
    *,
    is_series: bool,
    series: Event,
) -> Iterator[Occurrence]:
    starts_at = zoning.instant(wall, event.start)
    if not span[0] <= starts_at <= span[1]:
        return
    start = series.start
    known = (original.replace(tzinfo=start.zone).astimezone(dt.UTC) if start.zone else original).isoformat()
    yield Occurrence(
        event,
        starts_at,
        zoning.end(wall, event),
        wall.date() if event.start.is_day else None,
        hash_key("occurrence", uid, known) if is_series else hash_key("occurrence", uid),
        hash_key("day", uid, original.date().isoformat()),
        hash_key("series", uid),
    )
