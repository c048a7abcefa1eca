"""The hours of the day in which an account receives no notifications."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from people.dates.recurrence import fire_at, local_day


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From `start` to `end` in local time; past midnight if `end` is before `start`.

    Changes of the clock are handled as by `fire_at`: a skipped time is the first instant after the gap, a repeated time
    is the first one.
    """

    start: time
    end: time

    def after(self, instant: datetime, zone: ZoneInfo) -> datetime:
        """`instant`, or the end of the quiet hours if it is in them."""
        # A loop, because quiet hours can follow each other directly when a change of zone skips a whole day.
        while ends := [end for start, end in self._intervals_around(instant, zone) if start <= instant < end]:
            instant = max(ends)
        return instant

    def _intervals_around(self, instant: datetime, zone: ZoneInfo) -> Iterator[tuple[datetime, datetime]]:
        """The quiet hours that begin on the day of the instant and on the day before."""
        today, goes_on = local_day(instant, zone), timedelta(self.end < self.start)
        for day in (today - timedelta(1), today):
            yield (
                fire_at(day, zone, self.start.hour, self.start.minute),
                fire_at(day + goes_on, zone, self.end.hour, self.end.minute),
            )
