"""`calendar-query` (RFC 4791, 7.8 and 9.7): the events or tasks that match a filter."""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from xml.etree.ElementTree import Element

from dav.calendar_texts import parse
from dav.filters import check_filter, read_choice, read_collation, read_limit
from dav.preconditions import DavStatusError
from dav.reports.calendar_data import describe_members, read_calendar_request
from dav.resources.calendars import CalendarMember, CalendarResource
from dav.resources.own_calendars import DatesResource
from dav.xml import INSUFFICIENT_STORAGE, cal, dav, status_response, tag
from people.dates.calendar_events import first_day

Test = Callable[[CalendarMember], bool]
_MOMENT = re.compile(r"[0-9]{8}T[0-9]{6}Z")


def calendar_query(calendar: CalendarResource, root: Element, *, is_minimal: bool) -> Iterator[str]:
    """The matching members; with a limit 507 on the collection where it cut. Raises DavStatusError (`supported-filter`,
    `valid-filter`, `supported-collation`)."""
    request, matches = read_calendar_request(root), _read_filter(calendar, root.find(cal("filter")))
    limit, members = read_limit(root), filter(matches, calendar.members())

    def responses() -> Iterator[str]:
        yield from describe_members(islice(members, limit), request, is_minimal=is_minimal)
        if limit is not None and next(members, None) is not None:
            error = tag(dav("number-of-matches-within-limits"))
            yield status_response(calendar.path, INSUFFICIENT_STORAGE, error)

    return responses()


def _read_filter(calendar: CalendarResource, element: Element | None) -> Test:
    check_filter(element, cal("supported-filter"))
    if element is None:
        return lambda _: True
    outer = element.find(cal("comp-filter"))
    if len(element) != 1 or outer is None or outer.get("name", "").upper() != "VCALENDAR":
        raise DavStatusError(403, cal("valid-filter"), "A filter begins with a comp-filter of VCALENDAR.")
    tests = [_read_component(calendar, inner) for inner in outer]
    return lambda member: all(test(member) for test in tests)


def _read_component(calendar: CalendarResource, element: Element) -> Test:
    if element.tag != cal("comp-filter"):
        raise _unsupported()
    is_here = element.get("name", "").upper() == calendar.component
    if element.find(cal("is-not-defined")) is not None:
        return lambda _: not is_here
    tests = [_read_test(calendar, inner) for inner in element]
    return lambda member: is_here and all(test(member) for test in tests)


def _read_test(calendar: CalendarResource, element: Element) -> Test:
    if element.tag == cal("time-range"):
        start, end = (_read_moment(element.get(name)) for name in ("start", "end"))
        if start is None and end is None:
            raise DavStatusError(403, cal("valid-filter"), "A time-range has a start or an end.")
        if start is not None and end is not None and end <= start:
            raise DavStatusError(403, cal("valid-filter"), "A time-range ends after it starts.")
        is_event = isinstance(calendar, DatesResource)
        return partial(_occurs if is_event else _is_due, start=start, end=end)
    if element.tag == cal("prop-filter"):
        return _read_property(element)
    raise _unsupported()


def _read_property(element: Element) -> Test:
    name = element.get("name", "").upper()
    if any(inner.tag not in {cal("is-not-defined"), cal("text-match")} for inner in element) or len(element) > 1:
        raise _unsupported()
    match = element.find(cal("text-match"))
    if match is None:
        is_absent = len(element) == 1
        return lambda member: bool(_values(member, name)) != is_absent
    normalize = read_collation(match, default="i;ascii-casemap", condition=cal("supported-collation"))
    is_negated = read_choice(match, "negate-condition", ("no", "yes"), cal("supported-filter")) == "yes"
    wanted = normalize(match.text or "")
    return lambda member: any((wanted in normalize(value)) != is_negated for value in _values(member, name))


def _values(member: CalendarMember, name: str) -> list[str]:
    return [value for component in parse(member.text).components for value in component.values(name)]


def _occurs(member: CalendarMember, *, start: dt.datetime | None, end: dt.datetime | None) -> bool:
    """Whether an occurrence, which lasts a day of the account's zone, overlaps the range (9.9)."""
    calendar, row = member.calendar, member.row
    zone, rule = calendar.calendar.zone, calendar.days(row)
    first = first_day(rule, year_unknown=row.year_unknown)
    if start is not None:
        first = max(first, start.astimezone(zone).date())
    last = dt.date.max
    if end is not None:
        # A range that ends at midnight has nothing of the day that begins then.
        last = (end - dt.timedelta(microseconds=1)).astimezone(zone).date()
    return next(rule.between(first, last), None) is not None


def _is_due(member: CalendarMember, *, start: dt.datetime | None, end: dt.datetime | None) -> bool:
    """The row of the table in 9.9 for a task with DUE alone: start < DUE and end >= DUE."""
    due = dt.datetime.combine(member.calendar.days(member.row), dt.time.min, member.calendar.calendar.zone)
    return (start is None or start < due) and (end is None or end >= due)


def _read_moment(value: str | None) -> dt.datetime | None:
    if value is None:
        return None
    moment = _parse_moment(value)
    if moment is None:
        raise DavStatusError(403, cal("valid-filter"), "start and end are written as 20260131T000000Z.")
    # The zone of the account must not lead out of the range of datetime.
    day = dt.timedelta(days=2)
    return min(max(moment, _EARLIEST + day), _LATEST - day)


def _parse_moment(value: str) -> dt.datetime | None:
    try:
        return dt.datetime.strptime(value, "%Y%m%dT%H%M%S%z") if _MOMENT.fullmatch(value) else None
    except ValueError:
        return None


def _unsupported() -> DavStatusError:
    words = "Filters are comp-filter, time-range, and prop-filter with text-match or is-not-defined."
    return DavStatusError(403, cal("supported-filter"), words)


_EARLIEST, _LATEST = (moment.replace(tzinfo=dt.UTC) for moment in (dt.datetime.min, dt.datetime.max))  # noqa: DTZ901
