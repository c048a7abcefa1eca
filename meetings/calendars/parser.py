"""Reads a calendar's file into events: only the properties that a proposal needs, line by line, with bounds.

Descriptions, notes, attachments and alarms are skipped unread. icalendar takes the lines apart and reads values.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from contacts_project.kernel.charsets import decode_value
from contacts_project.kernel.text_forms import is_email
from meetings.calendars.recurrence import Rule, RuleError, parse_rule
from meetings.calendars.zones import ZoneBuilder, Zones, named_zone

MAX_EVENTS = 20_000
MAX_ATTENDEES = 30
"""Of an event that is proposed; of one with more, one more is read."""
_MAX_DATES = 10_000  # RDATE and EXDATE of one event
_MAX_LINE = 20_000
_MAX_DATES_LINE = 200_000
_MAX_DURATION = dt.timedelta(days=3660)
_FOLD = re.compile(rb"\r?\n[ \t]")
_NAME = re.compile(r"[A-Za-z0-9-]+")
_MOMENT = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?")
_GUEST_PARAMETER = re.compile(r';(CN|EMAIL|CUTYPE|PARTSTAT)=("?)(.{0,400}?)\2(?=;[A-Za-z-]{1,40}=|:)', re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)")  # RFC 5545, section 3.3.11
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_KEPT = frozenset(
    [
        "UID",
        "DTSTART",
        "DTEND",
        "DURATION",
        "SUMMARY",
        "LOCATION",
        "STATUS",
        "CLASS",
        "TRANSP",
        "RRULE",
        "RDATE",
        "EXDATE",
        "RECURRENCE-ID",
        "ATTENDEE",
        "SEQUENCE",
        "DTSTAMP",
        "LAST-MODIFIED",
    ]
)
_DATES = frozenset({"RDATE", "EXDATE"})
_NOBODY = frozenset({"ROOM", "RESOURCE"})


class NotCalendarError(Exception):
    """The bytes are no calendar, or only a part of one."""


class TooManyEventsError(Exception):
    """More events than are read of one source."""


class _BrokenError(Exception):
    """An event that cannot be read."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or local time. `zone` is None for a floating time and for a date."""

    wall: dt.datetime
    zone: dt.tzinfo | None = None
    is_day: bool = False

    def wall_in(self, zone: dt.tzinfo | None) -> dt.datetime:
        """The local time in `zone`, where both have one; else as it stands."""
        if self.zone is None or zone is None:
            return self.wall
        return self.wall.replace(tzinfo=self.zone).astimezone(zone).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class Attendee:
    email: str
    name: str
    has_declined: bool
    is_person: bool


@dataclass(frozen=True, slots=True)
class Event:
    """One VEVENT: an event, a series, or (with `recurrence_id`) a changed occurrence of one; `is_following`: those that
    follow it are changed as well (RANGE=THISANDFUTURE)."""

    uid: str
    start: Moment
    duration: dt.timedelta
    summary: str = ""
    location: str = ""
    attendees: tuple[Attendee, ...] = ()
    is_cancelled: bool = False
    is_private: bool = False
    is_transparent: bool = False
    rule: Rule | None = None
    until: dt.datetime | None = None
    added: tuple[Moment, ...] = ()
    removed: tuple[Moment, ...] = ()
    recurrence_id: Moment | None = None
    is_following: bool = False
    version: tuple[int, str, str] = (0, "", "")

    @property
    def is_series(self) -> bool:
        return self.rule is not None or bool(self.added)


@dataclass(slots=True)
class CalendarFile:
    """The events of a source, X-WR-TIMEZONE if it is known, and how many events could not be read."""

    events: list[Event] = field(default_factory=list)
    zone: dt.tzinfo | None = None
    broken: int = 0


def read_calendars(files: Sequence[bytes]) -> CalendarFile:
    """The events of one file, or of many resources, of which a broken one is left out and counted.

    Raises TooManyEventsError; NotCalendarError if there are files, and none is a calendar.
    """
    calendar, builder = CalendarFile(), ZoneBuilder()
    unreadable = 0
    for data in files:
        try:
            _read_file(data, calendar, builder)
        except NotCalendarError:
            unreadable += 1
    if unreadable and unreadable == len(files):
        raise NotCalendarError
    calendar.broken += unreadable
    return calendar


def _read_file(data: bytes, calendar: CalendarFile, builder: ZoneBuilder) -> None:
    text = decode_value(_FOLD.sub(b"", data.removeprefix(b"\xef\xbb\xbf")), "utf-8")
    lines = [line.rstrip("\r") for line in text.replace("\r\n", "\n").split("\n")]
    parts = _Components(lines)
    calendar.zone = calendar.zone or (named_zone(parts.zone_name) if parts.zone_name else None)
    zones = Zones(parts.definitions, builder)
    for block in parts.blocks:
        if len(calendar.events) + calendar.broken >= MAX_EVENTS:
            raise TooManyEventsError
        try:
            calendar.events.append(_read_event(block, zones))
        except (_BrokenError, RuleError, ValueError, OverflowError):
            calendar.broken += 1


class _Components:
    """Takes a file apart: the kept lines of each event, the definitions of zones by TZID, X-WR-TIMEZONE.

    Raises NotCalendarError also for a file that was cut off, whose last events would look as if they were gone.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.blocks: list[list[str]] = []
        self.definitions: dict[str, list[str]] = {}
        self.zone_name = ""
        self._stack: list[str] = []
        self._definition: list[str] = []
        has_calendar = False
        for line in lines:
            found = _NAME.match(line)
            self._take(found[0].upper() if found else "", line)
            has_calendar = has_calendar or bool(self._stack)
        if self._stack or not has_calendar:
            raise NotCalendarError

    def _take(self, name: str, line: str) -> None:
        if name == "BEGIN":
            self._begin(line.partition(":")[2].strip().upper())
        elif not self._stack:
            if line.strip():
                raise NotCalendarError
            return
        if len(self._stack) >= 2 and self._stack[1] == "VTIMEZONE":
            self._definition.append(line)
        if name == "END":
            self._end(line.partition(":")[2].strip().upper())
        elif name == "X-WR-TIMEZONE" and len(self._stack) == 1:
            self.zone_name = line.partition(":")[2].strip()
        elif name in _KEPT and len(self._stack) == 2 and self._stack[1] == "VEVENT":
            self.blocks[-1].append(line)

    def _begin(self, component: str) -> None:
        self._stack.append(component)
        if self._stack[0] != "VCALENDAR":
            raise NotCalendarError
        if component == "VEVENT" and len(self._stack) == 2:
            self.blocks.append([])
            if len(self.blocks) > MAX_EVENTS:
                raise TooManyEventsError

    def _end(self, component: str) -> None:
        if self._stack.pop() != component:
            raise NotCalendarError
        if component == "VTIMEZONE" and len(self._stack) == 1:
            self.definitions[_zone_id(self._definition)] = self._definition
            self._definition = []


def _zone_id(lines: list[str]) -> str:
    return next((line.partition(":")[2].strip() for line in lines if line.upper().startswith("TZID")), "")


def _read_event(lines: list[str], zones: Zones) -> Event:
    values: dict[str, tuple[dict[str, str], str]] = {}
    attendees: list[Attendee] = []
    dates: dict[str, list[Moment]] = {"RDATE": [], "EXDATE": []}
    for line in lines:
        if len(attendees) > MAX_ATTENDEES and line[:8].upper() == "ATTENDEE":
            continue  # it is too many already
        name, parameters, value = _take_apart(line)
        if name == "ATTENDEE":
            attendees.append(_read_attendee(parameters, value))
        elif name in _DATES:
            pieces = value.split(",")
            if len(dates[name]) + len(pieces) > _MAX_DATES:
                raise _BrokenError
            # Of a PERIOD the begin.
            dates[name] += [_read_moment(piece.partition("/")[0], parameters, zones) for piece in pieces if piece]
        elif name == "RRULE" and name in values:
            raise _BrokenError  # RFC 5545 allows one
        else:
            values.setdefault(name, (parameters, value))
    if not (uid := _text(values, "UID")) or "DTSTART" not in values:
        raise _BrokenError
    start = _read_moment(values["DTSTART"][1], values["DTSTART"][0], zones)
    rule = parse_rule(values["RRULE"][1]) if "RRULE" in values else None
    return Event(
        uid=uid[:1000],
        start=start,
        duration=_read_duration(values, start, zones),
        summary=_line(values, "SUMMARY", 500),
        location=_line(values, "LOCATION", 300),
        attendees=tuple(attendees),
        is_cancelled=_word(values, "STATUS") == "CANCELLED",
        is_private=_word(values, "CLASS") in {"PRIVATE", "CONFIDENTIAL"},
        is_transparent=_word(values, "TRANSP") == "TRANSPARENT",
        rule=rule,
        until=_read_until(rule, start),
        added=tuple(dates["RDATE"]),
        removed=tuple(dates["EXDATE"]),
        recurrence_id=_read_moment(values["RECURRENCE-ID"][1], values["RECURRENCE-ID"][0], zones)
        if "RECURRENCE-ID" in values
        else None,
        is_following=values.get("RECURRENCE-ID", ({}, ""))[0].get("RANGE", "").upper() == "THISANDFUTURE",
        version=(_sequence(values), _word(values, "LAST-MODIFIED"), _word(values, "DTSTAMP")),
    )


def _take_apart(line: str) -> tuple[str, dict[str, str], str]:
    if len(line) > (_MAX_DATES_LINE if line[:6].upper() in {"EXDATE", "RDATE;", "RDATE:"} else _MAX_LINE):
        raise _BrokenError
    if '"' not in line and "^" not in line:  # most lines: a tenth of the time of icalendar, which knows quotes
        head, _, value = line.partition(":")
        name, *parts = head.split(";")
        return name.upper(), {key.upper(): part for key, _, part in (pair.partition("=") for pair in parts)}, value
    try:
        from icalendar.parser import Contentline  # noqa: PLC0415 - for processes that read a calendar alone

        name, parameters, value = Contentline(line).parts()  # type: ignore[no-untyped-call]
    except ValueError:
        if line[:8].upper() != "ATTENDEE":
            raise
        return "ATTENDEE", *_take_guest_apart(line)
    return str(name).upper(), {str(key).upper(): _parameter(part) for key, part in parameters.items()}, str(value)


def _take_guest_apart(line: str) -> tuple[dict[str, str], str]:
    """A guest with quotes inside of the quoted name, which RFC 5545 has no form for."""
    parameters = {found[1].upper(): found[3] for found in _GUEST_PARAMETER.finditer(line)}
    return parameters, line[line.lower().rfind("mailto:") :] if "mailto:" in line.lower() else ""


def _parameter(value: object) -> str:
    # Several values, of which none that is read here has more than one, come as a list.
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _read_attendee(parameters: dict[str, str], value: str) -> Attendee:
    address = value.strip()
    if address[:7].lower() == "mailto:":
        address = unquote(address[7:]).partition("?")[0].strip()
    elif "EMAIL" in parameters:  # iCloud names a principal
        address = parameters["EMAIL"].strip()
    if not is_email(address):  # one that no person can have
        address = ""
    name = _CONTROLS.sub(" ", parameters.get("CN", "")).strip().strip("\"'").strip()[:200]
    return Attendee(
        address,
        "" if name.casefold() == address.casefold() or "@" in name else name,
        parameters.get("PARTSTAT", "").upper() == "DECLINED",
        parameters.get("CUTYPE", "").upper() not in _NOBODY,
    )


def _read_moment(text: str, parameters: dict[str, str], zones: Zones) -> Moment:
    found = _MOMENT.fullmatch(text.strip())
    if found is None:
        raise _BrokenError
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    if not 1 < year < 9998:  # so that no zone leaves the range of datetime
        raise _BrokenError
    if found[4] is None:
        return Moment(dt.datetime(year, month, day), is_day=True)
    wall = dt.datetime(year, month, day, int(found[4]), int(found[5]), min(int(found[6]), 59))
    name = parameters.get("TZID", "")
    return Moment(wall, dt.UTC if found[7] else zones.find(name) if name else None)


def _read_duration(values: dict[str, tuple[dict[str, str], str]], start: Moment, zones: Zones) -> dt.timedelta:
    if "DTEND" in values:
        end = _read_moment(values["DTEND"][1], values["DTEND"][0], zones)
        if start.zone is not None and end.zone is not None:
            duration = end.wall.replace(tzinfo=end.zone) - start.wall.replace(tzinfo=start.zone)
            if start.zone is end.zone:  # of equal zones Python subtracts local times
                duration = end.wall.replace(tzinfo=end.zone).astimezone(dt.UTC) - start.wall.replace(
                    tzinfo=start.zone
                ).astimezone(dt.UTC)
        else:
            duration = end.wall - start.wall
    elif "DURATION" in values:
        from icalendar.prop import vDuration  # noqa: PLC0415 - as above

        read = vDuration.from_ical(values["DURATION"][1])  # type: ignore[no-untyped-call]
        if not isinstance(read, dt.timedelta):
            raise _BrokenError
        duration = read
    else:
        duration = dt.timedelta(days=1 if start.is_day else 0)
    if start.is_day:  # a day at least: some programs end a whole day on the day itself
        duration = max(duration, dt.timedelta(days=1))
    if not dt.timedelta() <= duration <= _MAX_DURATION:
        raise _BrokenError
    return duration


def _read_until(rule: Rule | None, start: Moment) -> dt.datetime | None:
    """UNTIL in the local time of DTSTART. A date includes its day."""
    if rule is None or not rule.until:
        return None
    found = _MOMENT.fullmatch(rule.until)
    if found is None:
        raise _BrokenError
    if found[4] is None:
        return dt.datetime(int(found[1]), int(found[2]), int(found[3]), 23, 59, 59)
    wall = dt.datetime(*map(int, found.groups()[:6]))  # type: ignore[arg-type]  # six numbers
    return Moment(wall, dt.UTC if found[7] else None).wall_in(start.zone)


def _text(values: dict[str, tuple[dict[str, str], str]], name: str) -> str:
    return _ESCAPED.sub(_unescape, values[name][1]).strip() if name in values else ""


def _unescape(found: re.Match[str]) -> str:
    return "\n" if found[1] in "nN" else found[1]


def _line(values: dict[str, tuple[dict[str, str], str]], name: str, limit: int) -> str:
    return " ".join(_CONTROLS.sub(" ", _text(values, name)).split())[:limit]


def _word(values: dict[str, tuple[dict[str, str], str]], name: str) -> str:
    return values[name][1].strip().upper()[:40] if name in values else ""


def _sequence(values: dict[str, tuple[dict[str, str], str]]) -> int:
    text = _word(values, "SEQUENCE")
    return int(text[:9]) if text.isascii() and text.isdigit() else 0


def newest(events: Iterable[Event]) -> Iterator[Event]:
    """Of several versions of one event or occurrence the newest; the order of the file does not matter."""
    found: dict[tuple[str, str, bool], Event] = {}
    for event in events:
        key = (event.uid, "" if event.recurrence_id is None else repr(event.recurrence_id), event.is_following)
        other = found.get(key)
        if other is None or age(event) > age(other):
            found[key] = event
    yield from found.values()


def age(event: Event) -> tuple[object, ...]:
    """The order of versions, whatever that of the file."""
    return event.version, repr(event)
