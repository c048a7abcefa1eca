"""The methods that read: a resource, its properties, and the reports over it. PROPPATCH is among them, since it names a
resource that is there."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from contacts_project.kernel.api.etags import if_none_match_tags
from dav.calendars.unread import forget_unread
from dav.cards.client_state import record_sent_texts
from dav.cards.texts import STORED_VERSION
from dav.errors import DavError
from dav.properties import describe, describe_members, read_propfind
from dav.proppatch import patch_properties
from dav.reports.calendar_data import calendar_multiget
from dav.reports.calendar_query import calendar_query
from dav.reports.calendar_sync import sync_calendar
from dav.reports.multiget import addressbook_multiget
from dav.reports.principals import expand_property, principal_property_search, search_property_set
from dav.reports.query import addressbook_query
from dav.reports.sync_collection import sync_collection
from dav.resources.base import Resource
from dav.resources.book import CARD_TYPE, CardResource
from dav.resources.calendars import CalendarMember, CalendarResource
from dav.resources.tree import find_resource
from dav.xml import CONTENT_TYPE, MAX_XML_BYTES, XmlError, cal, card, dav, multistatus, read_xml

_EXPLANATION = gettext_noop(
    "This address is for the contact and calendar programs of phones and computers: enter it there, with your e-mail "
    "address and an app password."
)
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>{title}</title><h1>{title}</h1><p>{words}</p></html>"
)


def _propfind(request: HttpRequest, resource: Resource) -> HttpResponseBase:
    depth = request.headers.get("Depth", "infinity").strip().lower()
    if depth not in {"0", "1"}:
        raise DavError(403, dav("propfind-finite-depth"), "Ask with Depth 0 or 1.")
    asked, is_minimal = read_propfind(_read_body(request)), _is_minimal(request)
    if depth == "0" and isinstance(resource, CalendarMember):
        resource.is_unread = resource.row.id in resource.calendar.unread_ids

    def responses() -> Iterator[str]:
        yield describe(resource, asked, is_minimal=is_minimal)
        if depth == "1":
            yield from describe_members(resource, asked, is_minimal=is_minimal)

    return _multistatus(request, responses())


def _report(request: HttpRequest, resource: Resource) -> HttpResponseBase:
    root = _read_body(request)
    if root is None:
        raise DavError(400, words="The body names no report.")
    if root.tag not in resource.reports:
        raise DavError(403, dav("supported-report"), "This report is not possible here.")
    if root.tag == dav("principal-search-property-set"):
        return HttpResponse(search_property_set(), content_type=CONTENT_TYPE)
    return _multistatus(request, _run_report(request, resource, root))


def _run_report(request: HttpRequest, resource: Any, root: Element) -> Iterator[str]:
    """The response elements of a report that the resource supports. Raises DavError."""
    is_minimal = _is_minimal(request)
    if root.tag == dav("expand-property"):
        return expand_property(resource, root, partial(find_resource, resource.device), is_minimal=is_minimal)
    if root.tag == dav("principal-property-search"):
        return principal_property_search(resource, root, is_minimal=is_minimal)
    if root.tag == dav("sync-collection"):
        agent = request.headers.get("User-Agent", "")
        sync = sync_calendar if isinstance(resource, CalendarResource) else sync_collection
        return sync(resource, root, is_minimal=is_minimal, user_agent=agent)
    if root.tag == cal("calendar-multiget"):
        return calendar_multiget(resource, root, is_minimal=is_minimal)
    if root.tag == cal("calendar-query"):
        return calendar_query(resource, root, is_minimal=is_minimal)
    report = addressbook_multiget if root.tag == card("addressbook-multiget") else addressbook_query
    return report(resource, root, is_minimal=is_minimal)


def _proppatch(request: HttpRequest, resource: Resource) -> HttpResponseBase:
    return _multistatus(request, iter([patch_properties(resource, _read_body(request))]))


def _get(request: HttpRequest, resource: Resource) -> HttpResponseBase:
    if isinstance(resource, CardResource):
        return _get_card(request, resource)
    if isinstance(resource, CalendarMember):
        return _get_event(request, resource)
    if not request.path.endswith("/"):
        return HttpResponseRedirect(f"{request.path}/", status=301)
    return HttpResponse(_PAGE.format(title=escape(_("Address books and calendars")), words=escape(_(_EXPLANATION))))


def _has_current(request: HttpRequest, etag: str) -> bool:
    """Whether If-None-Match has this ETag, or `*`, which is any (RFC 9110, 13.1.2)."""
    return not if_none_match_tags(request).isdisjoint((etag, "*"))


def _get_event(request: HttpRequest, member: CalendarMember) -> HttpResponse:
    headers = {"ETag": f'"{member.etag}"', "Cache-Control": "private, no-cache"}
    if _has_current(request, headers["ETag"]):
        return HttpResponse(status=304, headers=headers)
    if request.method == "GET":
        forget_unread(member.device, member.row.id)
    return HttpResponse(member.text.encode(), content_type=member.content_type, headers=headers)


def _get_card(request: HttpRequest, member: CardResource) -> HttpResponse:
    quoted = f'"{member.etag}"'
    if _has_current(request, quoted):
        return HttpResponse(status=304, headers={"ETag": quoted})
    content = member.text(_wanted_version(request)).encode()
    device = member.device
    if request.method == "GET":  # HEAD gives no text
        record_sent_texts(device, [(member.row, member.stored_etag)])
    headers = {"ETag": quoted, "Cache-Control": "private, no-cache"}
    return HttpResponse(content, content_type=CARD_TYPE, headers=headers)


def _wanted_version(request: HttpRequest) -> str:
    """The version of vCard that Accept asks for: 3.0, unless 4.0 is named."""
    accepted = request.headers.get("Accept", "").replace(" ", "").replace('"', "").lower()
    return "4.0" if "text/vcard;version=4.0" in accepted else STORED_VERSION


def _read_body(request: HttpRequest) -> Element | None:
    # Elements take up to thirty times as much memory as their text. Hrefs of 30,000 cards have room.
    if len(request.body) > MAX_XML_BYTES:
        raise DavError(413, words=f"A body of XML has at most {MAX_XML_BYTES} bytes.")
    try:
        return read_xml(request.body)
    except XmlError:
        raise DavError(400, words="The body is not well-formed XML, or has a document type.") from None


def _is_minimal(request: HttpRequest) -> bool:
    """RFC 8144, 2, and the header that Apple's programs sent before there was one."""
    return _prefers_minimal(request) or request.headers.get("Brief", "").strip().lower() == "t"


def _prefers_minimal(request: HttpRequest) -> bool:
    return "return=minimal" in request.headers.get("Prefer", "").replace("return-minimal", "return=minimal")


def _multistatus(request: HttpRequest, responses: Iterator[str]) -> HttpResponseBase:
    headers = {"Preference-Applied": "return=minimal"} if _prefers_minimal(request) else {}
    return StreamingHttpResponse(multistatus(responses), status=207, content_type=CONTENT_TYPE, headers=headers)


READERS: dict[str, Callable[[HttpRequest, Any], HttpResponseBase]] = {
    "GET": _get,
    "HEAD": _get,
    "PROPFIND": _propfind,
    "PROPPATCH": _proppatch,
    "REPORT": _report,
}
