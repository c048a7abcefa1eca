"""The hours of each day in which an account wants to be told nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from people.dates.recurrence import fire_at, local_day


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From `start` to `end` by the clocks of the account, past midnight where the end is the earlier of the two.

    As with the reminder hour: what clocks skip is the first instant after the gap, what they show twice the first.
    """

    start: time
    end: time

    def after(self, instant: datetime, zone: ZoneInfo) -> datetime:
        """`instant` itself, or the end of the quiet hours that it lies in."""
        # Where clocks leave out a day, its quiet hours begin as those before them end.
        while ends := [end for start, end in self._around(instant, zone) if start <= instant < end]:
            instant = max(ends)
        return instant

    def _around(self, instant: datetime, zone: ZoneInfo) -> Iterator[tuple[datetime, datetime]]:
        """Those that begin on the day of the instant, and on the day before."""
        today, goes_on = local_day(instant, zone), timedelta(self.end < self.start)
        for day in (today - timedelta(1), today):
            yield (
                fire_at(day, zone, self.start.hour, self.start.minute),
                fire_at(day + goes_on, zone, self.end.hour, self.end.minute),
            )
