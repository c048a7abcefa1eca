"""Parses dates as people and spreadsheets write them."""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass

from people.vcard import UNKNOWN_YEAR
from people.vcard.values import parse_date

_NUMERIC_DATE = re.compile(r"([0-9]{1,2})([./-])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})?\.?")
_DAY_AND_NAME = re.compile(r"([0-9]{1,2})[. -]+([^\W\d_]{3,10})\.?,?(?:[ -]+([0-9]{4}|[0-9]{2}))?")
_NAME_AND_DAY = re.compile(r"([^\W\d_]{3,10})\.? ([0-9]{1,2})(?:,? ([0-9]{4}))?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class DayReader:
    """Parses dates. With `is_month_first`, 3/4 is the fourth of March. Two-digit years end at `this_year`."""

    is_month_first: bool
    this_year: int

    def read(self, text: str) -> tuple[dt.date, bool] | None:
        """Return the date, and whether its year is unknown (it is 1604 then); None if the text is no date."""
        text = text.strip()[:40]
        if found := parse_date(text):
            return found
        # Behind a date of digits there may be a time, which is dropped.
        day = text.split(" ")[0] if text[:1].isdigit() and ":" in text else text
        if match := _NUMERIC_DATE.fullmatch(day):
            first, mark, second, year = match.groups()
            month, number = (first, second) if mark != "." and self._is_month_first(first, second) else (second, first)
            return self._build_date(year, int(month), int(number))
        if match := _DAY_AND_NAME.fullmatch(day):
            number, name, year = match.groups()
            return self._parse_named_month(year, name, number)
        if match := _NAME_AND_DAY.fullmatch(day):
            name, number, year = match.groups()
            return self._parse_named_month(year, name, number)
        return None

    def _is_month_first(self, first: str, second: str) -> bool:
        return int(second) > 12 or (self.is_month_first and int(first) <= 12)

    def _parse_named_month(self, year: str | None, name: str, number: str) -> tuple[dt.date, bool] | None:
        month = name[:3].casefold()
        return self._build_date(year, _MONTHS.index(month) + 1, int(number)) if month in _MONTHS else None

    def _build_date(self, year: str | None, month: int, day: int) -> tuple[dt.date, bool] | None:
        try:
            if year is None:
                return dt.date(UNKNOWN_YEAR, month, day), True
            full_year = int(year)
            if len(year) == 2:  # the latest such year that is not in the future
                full_year += self.this_year // 100 * 100
                full_year -= 100 if full_year > self.this_year else 0
            return (dt.date(full_year, month, day), False) if full_year >= 1000 else None
        except ValueError:
            return None


def is_month_first(values: Iterable[str]) -> bool | None:
    """Whether the dates of a column have the month first; None if all of them could be read either way."""
    for value in values:
        if match := _NUMERIC_DATE.fullmatch(value.strip()):
            first, _, second, _ = match.groups()
            if int(first) > 12 or int(second) > 12:
                return int(second) > 12
    return None
