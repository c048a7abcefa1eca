"""`calendar-multiget` (RFC 4791, 7.9) and `calendar-data` (9.6): the texts of events and tasks, whole or in part."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID
from xml.etree.ElementTree import Element

from dav.calendar_texts import Part, selected
from dav.preconditions import DavStatusError
from dav.properties import PropertyRequest, describe, names_of
from dav.resources.calendars import CalendarMember, CalendarResource, id_of
from dav.resources.uris import read_href
from dav.xml import MISSING, cal, dav, status_response, tag, text

_BATCH_SIZE = 100
_DATA = cal("calendar-data")
_MAX_DEPTH = 5


@dataclass(frozen=True)
class CalendarRequest:
    """The properties that a report asks for of each member. `part`: of its text, if that is among them."""

    names: Sequence[str]
    part: Part | None


def read_calendar_request(root: Element) -> CalendarRequest:
    """What a report asks for. Raises DavStatusError (`supported-calendar-data`)."""
    prop = root.find(dav("prop"))
    names = names_of(prop) if prop is not None else [dav("getetag")]
    data = prop.find(_DATA) if prop is not None else None
    if data is None:
        return CalendarRequest(names, None)
    media_type = data.get("content-type", "text/calendar").partition(";")[0].strip().lower()
    if media_type not in {"text/calendar", "*/*"} or data.get("version", "2.0") != "2.0":
        raise DavStatusError(403, cal("supported-calendar-data"), "Calendars come as text/calendar in version 2.0.")
    outer = data.find(cal("comp"))
    part = Part() if outer is None else _read_part(outer)
    return CalendarRequest([name for name in names if name != _DATA], part)


def _read_part(comp: Element, depth: int = 1) -> Part:
    if depth > _MAX_DEPTH:
        raise DavStatusError(403, cal("supported-calendar-data"), "No component is that deep in a calendar.")
    properties = frozenset(element.get("name", "").upper() for element in comp.findall(cal("prop")))
    components = {
        element.get("name", "").upper(): _read_part(element, depth + 1) for element in comp.findall(cal("comp"))
    }
    # An empty comp element asks for the whole component (9.6.1).
    is_whole = not properties and not components
    has_all_properties = is_whole or comp.find(cal("allprop")) is not None
    has_all_components = is_whole or comp.find(cal("allcomp")) is not None
    return Part(None if has_all_properties else properties, None if has_all_components else components)


def describe_members(members: Iterable[CalendarMember], request: CalendarRequest, *, is_minimal: bool) -> Iterator[str]:
    asked = PropertyRequest(request.names)
    for member in members:
        data = ""
        if request.part is not None:
            member.record_read()
            data = tag(_DATA, text(member.text if request.part == Part() else selected(member.text, request.part)))
        yield describe(member, asked, is_minimal=is_minimal, data=data)


def calendar_multiget(calendar: CalendarResource, root: Element, *, is_minimal: bool) -> Iterator[str]:
    """A response for each href, in their order, 404 for one that is not there. Raises DavStatusError.

    What is named several times, however its hrefs are spelled, is answered once, by the first of them.
    """
    request = read_calendar_request(root)
    named: dict[UUID | str, tuple[str, UUID | None]] = {}
    for element in root.findall(dav("href")):
        href = (element.text or "").strip()
        record_id = id_of(_name_in(calendar, href))
        named.setdefault(record_id or href, (href, record_id))
    return _describe(calendar, list(named.values()), request, is_minimal=is_minimal)


def _describe(
    calendar: CalendarResource, hrefs: Sequence[tuple[str, UUID | None]], request: CalendarRequest, *, is_minimal: bool
) -> Iterator[str]:
    for start in range(0, len(hrefs), _BATCH_SIZE):
        ids = dict(hrefs[start : start + _BATCH_SIZE])
        members = calendar.find_all(filter(None, ids.values()))
        for href, record_id in ids.items():
            member = members.get(record_id) if record_id else None
            if member is None:
                yield status_response(href, MISSING)
            else:
                yield from describe_members([member], request, is_minimal=is_minimal)


def _name_in(calendar: CalendarResource, href: str) -> str:
    """The name of a member of this calendar, by its href; empty for any other."""
    place = read_href(href, calendar.device.hosts)
    return (place.event_name(calendar.collection, calendar.device.owner.pk) or "") if place else ""
