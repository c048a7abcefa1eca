"""The time zones of a file: names of the IANA, of Windows, of other programs, or a definition in the file."""

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from io import StringIO
from zoneinfo import ZoneInfo

from dateutil import tz

from meetings.calendars.recurrence import Budget, BudgetSpentError, RuleError, expand, parse_rule

# Of the definitions of a reading, and of one of them: dateutil builds and follows each of its rules.
_MAX_DEFINITIONS, _MAX_LINES, _MAX_LINE_LENGTH, _MAX_RULES = 50, 200, 1_000, 8
_YEAR = dt.timedelta(days=366)
_DAY_MINUTES = 24 * 60
_OFFSET_LINE = re.compile(r"TZOFFSET(?:FROM|TO)\b[^:]*:\s*[+-]?(\d\d)(\d\d)", re.IGNORECASE)
_OFFSET = re.compile(r"\(?(?:UTC|GMT)\s*(?:([+-])(\d{1,2}):?(\d{2})?)?\)?", re.IGNORECASE)


@lru_cache(maxsize=512)
def named_zone(name: str) -> dt.tzinfo | None:
    """The zone of a name; None if no one knows it."""
    text = name.strip().strip('"')
    if not text or len(text) > 200:
        return None
    if text.upper() in {"UTC", "GMT", "Z", "ETC/UTC"}:
        return dt.UTC
    # "/freeassociation.sourceforge.net/Europe/Berlin" and "/mozilla.org/20070129_1/Europe/Berlin" end in the name.
    parts = [part for part in text.split("/") if part]
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON  # noqa: PLC0415 - see the parser

    candidates = [WINDOWS_TO_OLSON.get(text, text), *("/".join(parts[-count:]) for count in (3, 2, 1))]
    return next((zone for zone in map(_iana_zone, candidates) if zone is not None), None)


def _iana_zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # ZoneInfoNotFoundError is a KeyError
        return None


class ZoneBuilder:
    """Builds zones of definitions, each text once, and 50 of all files of a reading."""

    def __init__(self) -> None:
        self._built: dict[tuple[str, ...], dt.tzinfo | None] = {}

    def build(self, lines: list[str]) -> dt.tzinfo | None:
        key = tuple(lines)
        if lines and key not in self._built and len(self._built) < _MAX_DEFINITIONS:
            self._built[key] = _defined_zone(lines)
        return self._built.get(key)


class Zones:
    """The zones of one file, by TZID. A zone that no one knows is None: its times are floating."""

    def __init__(self, definitions: Mapping[str, list[str]], builder: ZoneBuilder) -> None:
        self._definitions, self._builder = definitions, builder
        self._found: dict[str, dt.tzinfo | None] = {}

    def find(self, name: str) -> dt.tzinfo | None:
        if name not in self._found:
            lines = self._definitions.get(name, [])
            self._found[name] = (
                named_zone(name) or _located_zone(lines) or self._builder.build(lines) or _offset_zone(name)
            )
        return self._found[name]


def _located_zone(lines: Iterable[str]) -> dt.tzinfo | None:
    for line in lines:
        name, _, value = line.partition(":")
        if name.upper() == "X-LIC-LOCATION":
            return named_zone(value)
    return None


def _defined_zone(lines: list[str]) -> dt.tzinfo | None:
    """A definition of its own, such as Outlook's "Customized Time Zone", by dateutil.

    Only rules that come once a year: dateutil steps through them without a limit.
    """
    rules = [line.partition(":")[2] for line in lines if line.upper().startswith("RRULE")]
    if len(lines) > _MAX_LINES or len(rules) > _MAX_RULES or max(map(len, lines)) > _MAX_LINE_LENGTH:
        return None
    if not all(map(_comes_every_year, rules)) or any(map(_is_a_day, lines)):
        return None
    try:
        found = tz.tzical(StringIO("\n".join(lines) + "\n")).get()
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError):  # whatever its parser trips over
        return None
    return found


def _is_a_day(line: str) -> bool:
    """Whether it is an offset that Python's zones cannot have, which dateutil does not refuse."""
    found = _OFFSET_LINE.match(line)
    return found is not None and int(found[1]) * 60 + int(found[2]) >= _DAY_MINUTES


def _comes_every_year(text: str) -> bool:
    start = dt.datetime(2001, 1, 1)
    try:
        rule = parse_rule(text)
        found = list(expand(rule, start, None, start + _YEAR, start + 4 * _YEAR, Budget(2_000)))
    except (RuleError, BudgetSpentError):
        return False
    return rule.frequency == "YEARLY" and rule.count is None and len(found) == len({at.year for at in found}) >= 3


def _offset_zone(name: str) -> dt.tzinfo | None:
    """A name such as "(UTC+01:00) Amsterdam" or "GMT-0500"."""
    found = _OFFSET.match(name.strip().strip('"'))
    if found is None:
        return None
    offset = dt.timedelta(hours=int(found[2] or 0), minutes=int(found[3] or 0))
    if offset >= dt.timedelta(hours=24):
        return None
    return dt.timezone(-offset if found[1] == "-" else offset)
