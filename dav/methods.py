"""The methods of HTTP and WebDAV.

READERS get the resource that a path names, and PROPPATCH is among them, since it is there. WRITERS get the path, where
nothing may be yet.
"""

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
from contacts_project.kernel.api.json import PARTIAL_BODY
from contacts_project.kernel.texts import define_text
from dav.authentication import Credentials
from dav.cards.client_state import record_sent_texts
from dav.cards.put_body import read_body
from dav.cards.texts import STORED_VERSION
from dav.preconditions import Conditions, DavStatusError, missing, need_privileges
from dav.properties import describe, describe_members, patch_properties, read_propfind
from dav.reports.address_data import addressbook_multiget
from dav.reports.addressbook_query import addressbook_query
from dav.reports.calendar_data import calendar_multiget
from dav.reports.calendar_query import calendar_query
from dav.reports.principals import expand_property, principal_property_search, search_property_set
from dav.reports.sync_collection import sync_collection
from dav.resources.base import Resource
from dav.resources.book import CARD_TYPE, BookResource, CardResource
from dav.resources.calendars import CalendarMember, CalendarResource
from dav.resources.own_calendars import CALENDARS, KeepInTouchResource
from dav.resources.tree import find_resource
from dav.resources.uris import DavPath, is_card_name, member_path, names_another_host, read_href
from dav.services.card_write import move_card
from dav.services.deletions import delete_card
from dav.services.put_card import put_card
from dav.services.put_group import put_group
from dav.services.put_task import put_task
from dav.xml import CONTENT_TYPE, MAX_XML_BYTES, XmlError, cal, card, dav, multistatus, read_xml

CARD_TYPES = {"text/vcard", "text/x-vcard", "text/directory", ""}
_OTHER_SERVER = "A card can be moved within its book alone, not to another server."
_BAD_NAME = define_text("dav_bad_name", "The name of a card has at most 255 characters, all of them visible.")
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
        raise DavStatusError(403, dav("propfind-finite-depth"), "Ask with Depth 0 or 1.")
    asked, is_minimal = read_propfind(_read_body(request)), _is_minimal(request)
    if depth == "0" and isinstance(resource, CalendarMember):
        resource.is_alone = True

    def responses() -> Iterator[str]:
        yield describe(resource, asked, is_minimal=is_minimal)
        if depth == "1":
            yield from describe_members(resource, asked, is_minimal=is_minimal)

    return _multistatus(request, responses())


def _report(request: HttpRequest, resource: Resource) -> HttpResponseBase:
    root = _read_body(request)
    if root is None:
        raise DavStatusError(400, words="The body names no report.")
    if root.tag not in resource.reports:
        raise DavStatusError(403, dav("supported-report"), "This report is not possible here.")
    if root.tag == dav("principal-search-property-set"):
        return HttpResponse(search_property_set(), content_type=CONTENT_TYPE)
    return _multistatus(request, _run_report(request, resource, root))


def _run_report(request: HttpRequest, resource: Any, root: Element) -> Iterator[str]:
    """The response elements of a report that the resource supports. Raises DavStatusError."""
    is_minimal = _is_minimal(request)
    if root.tag == dav("expand-property"):
        return expand_property(resource, root, partial(find_resource, resource.device), is_minimal=is_minimal)
    if root.tag == dav("principal-property-search"):
        return principal_property_search(resource, root, is_minimal=is_minimal)
    if root.tag == dav("sync-collection"):
        agent = request.headers.get("User-Agent", "")
        return sync_collection(resource, root, is_minimal=is_minimal, user_agent=agent)
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
        member.record_read()
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
        raise DavStatusError(413, words=f"A body of XML has at most {MAX_XML_BYTES} bytes.")
    try:
        return read_xml(request.body)
    except XmlError:
        raise DavStatusError(400, words="The body is not well-formed XML, or has a document type.") from None


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


def _put(request: HttpRequest, place: DavPath, device: Credentials) -> HttpResponseBase:
    """Make or change a card. 201 for a new one; an ETag only if GET gives the bytes back (RFC 6352, 6.3.2.3)."""
    if "Content-Range" in request.headers:  # a part, which would be taken for the whole (RFC 9110, 14.5)
        raise DavStatusError(400, words=PARTIAL_BODY)
    if calendar := _find_calendar(device, place):
        if device.is_read_only or not isinstance(calendar, KeepInTouchResource):
            raise need_privileges(calendar.path)
        is_new = put_task(
            calendar=calendar, name=place.segments[3], body=request.body, conditions=Conditions.of(request.headers)
        )
        return HttpResponse(status=201 if is_new else 204)
    book, name = _card_place(device, place)
    if device.is_read_only:
        raise need_privileges(book.path)
    media_type = (request.content_type or "").lower()
    if media_type not in CARD_TYPES:
        raise DavStatusError(403, card("supported-address-data"), "Cards are text/vcard.")
    charset = (request.content_params or {}).get("charset")
    sent = read_body(body=request.body, charset=charset)
    put = put_group if sent.card.is_group else put_card
    is_new, etag = put(book=book, name=name, sent=sent, conditions=Conditions.of(request.headers))
    response = HttpResponse(status=201 if is_new else 204)
    if etag is not None:
        response["ETag"] = f'"{etag}"'
    return response


def _delete(request: HttpRequest, place: DavPath, device: Credentials) -> HttpResponseBase:
    if calendar := _find_calendar(device, place):
        raise need_privileges(calendar.path, "unbind")
    book, name = _card_place(device, place)
    if device.is_read_only:
        raise need_privileges(book.path, "unbind")
    delete_card(book=book, name=name, conditions=Conditions.of(request.headers))
    return HttpResponse(status=204)


def _move(request: HttpRequest, place: DavPath, device: Credentials) -> HttpResponseBase:
    """Rename a card within the book (RFC 4918, 9.9)."""
    if calendar := _find_calendar(device, place):
        raise need_privileges(calendar.path, "unbind")
    book, name = _card_place(device, place)
    if device.is_read_only:
        raise need_privileges(book.path)
    destination = request.headers.get("Destination", "")
    if names_another_host(destination, device.hosts):
        raise DavStatusError(502, words=_OTHER_SERVER)  # RFC 4918, 9.9.4
    to = read_href(destination, device.hosts)
    if to is None:
        raise DavStatusError(400, words="Destination names where the card shall be.")
    if calendar := _find_calendar(device, to):
        raise need_privileges(calendar.path, "bind")
    _, new_name = _card_place(device, to)
    move_card(book=book, name=name, new_name=new_name, conditions=Conditions.of(request.headers))
    return HttpResponse(status=201, headers={"Location": member_path(book.path, new_name)})


def _forbidden(request: HttpRequest, place: DavPath, device: Credentials) -> HttpResponseBase:
    if place.user_id not in {device.owner.pk, None}:
        raise missing()
    if device.is_read_only:
        raise need_privileges(request.path)
    raise DavStatusError(403, words=f"{request.method} is not possible here.")


def _find_calendar(device: Credentials, place: DavPath) -> CalendarResource | None:
    """The calendar of a path inside of one; None for any other path."""
    owner_id = device.owner.pk
    found = (kind for kind in CALENDARS if place.event_name(kind.collection, owner_id) is not None)
    return next((kind.of(device) for kind in found), None)


def _card_place(device: Credentials, place: DavPath) -> tuple[BookResource, str]:
    """The book of a path that names a card, and the card's name. Raises DavStatusError: 404 where there is nothing."""
    name = place.card_name(device.owner.pk)
    if name and not is_card_name(name):
        raise DavStatusError(403, words=_BAD_NAME)
    if name:
        return BookResource.of(device), name
    find_resource(device, place)
    raise DavStatusError(403, words="No card can be here.")


WRITERS: dict[str, Callable[[HttpRequest, DavPath, Credentials], HttpResponseBase]] = {
    "PUT": _put,
    "DELETE": _delete,
    "MOVE": _move,
    "COPY": _forbidden,
    "MKCOL": _forbidden,
    "MKCALENDAR": _forbidden,
    "LOCK": _forbidden,
}
