"""The methods that write: a card, a group, a task. Each gets the place of the path, where nothing may be."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from contacts_project.kernel.api.json import PARTIAL_BODY
from contacts_project.kernel.texts import define_text
from dav.authentication import Credentials
from dav.cards.put_body import read_body
from dav.conditions import Conditions
from dav.errors import DavError, missing, need_privileges
from dav.resources.book import BookResource
from dav.resources.calendars import CalendarResource
from dav.resources.own_calendars import CALENDARS, KeepInTouchResource
from dav.resources.paths import Place, is_card_name, member_path, names_another_host, read_href
from dav.resources.tree import find_resource
from dav.services.card_write import move_card
from dav.services.deletions import delete_card
from dav.services.put_card import put_card
from dav.services.put_group import put_group
from dav.services.put_task import put_task
from dav.xml import card

CARD_TYPES = {"text/vcard", "text/x-vcard", "text/directory", ""}
_OTHER_SERVER = "A card can be moved within its book alone, not to another server."
_BAD_NAME = define_text("dav_bad_name", "The name of a card has at most 255 characters, all of them visible.")


def _put(request: HttpRequest, place: Place, device: Credentials) -> HttpResponseBase:
    """Make or change a card. 201 for a new one; an ETag only if GET gives the bytes back (RFC 6352, 6.3.2.3)."""
    if "Content-Range" in request.headers:  # a part, which would be taken for the whole (RFC 9110, 14.5)
        raise DavError(400, words=PARTIAL_BODY)
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
        raise DavError(403, card("supported-address-data"), "Cards are text/vcard.")
    charset = (request.content_params or {}).get("charset")
    sent = read_body(body=request.body, charset=charset)
    put = put_group if sent.card.is_group else put_card
    is_new, etag = put(book=book, name=name, sent=sent, conditions=Conditions.of(request.headers))
    response = HttpResponse(status=201 if is_new else 204)
    if etag is not None:
        response["ETag"] = f'"{etag}"'
    return response


def _delete(request: HttpRequest, place: Place, device: Credentials) -> HttpResponseBase:
    if calendar := _find_calendar(device, place):
        raise need_privileges(calendar.path, "unbind")
    book, name = _card_place(device, place)
    if device.is_read_only:
        raise need_privileges(book.path, "unbind")
    delete_card(book=book, name=name, conditions=Conditions.of(request.headers))
    return HttpResponse(status=204)


def _move(request: HttpRequest, place: Place, device: Credentials) -> HttpResponseBase:
    """Rename a card within the book (RFC 4918, 9.9)."""
    if calendar := _find_calendar(device, place):
        raise need_privileges(calendar.path, "unbind")
    book, name = _card_place(device, place)
    if device.is_read_only:
        raise need_privileges(book.path)
    destination = request.headers.get("Destination", "")
    if names_another_host(destination, device.hosts):
        raise DavError(502, words=_OTHER_SERVER)  # RFC 4918, 9.9.4
    to = read_href(destination, device.hosts)
    if to is None:
        raise DavError(400, words="Destination names where the card shall be.")
    if calendar := _find_calendar(device, to):
        raise need_privileges(calendar.path, "bind")
    _, new_name = _card_place(device, to)
    move_card(book=book, name=name, new_name=new_name, conditions=Conditions.of(request.headers))
    return HttpResponse(status=201, headers={"Location": member_path(book.path, new_name)})


def _forbidden(request: HttpRequest, place: Place, device: Credentials) -> HttpResponseBase:
    if place.user_id not in {device.owner.pk, None}:
        raise missing()
    if device.is_read_only:
        raise need_privileges(request.path)
    raise DavError(403, words=f"{request.method} is not possible here.")


def _find_calendar(device: Credentials, place: Place) -> CalendarResource | None:
    """The calendar of a path inside of one; None for any other path."""
    owner_id = device.owner.pk
    found = (kind for kind in CALENDARS if place.event_name(kind.collection, owner_id) is not None)
    return next((kind.of(device) for kind in found), None)


def _card_place(device: Credentials, place: Place) -> tuple[BookResource, str]:
    """The book of a path that names a card, and the card's name. Raises DavError: 404 where there is nothing."""
    name = place.card_name(device.owner.pk)
    if name and not is_card_name(name):
        raise DavError(403, words=_BAD_NAME)
    if name:
        return BookResource.of(device), name
    find_resource(device, place)
    raise DavError(403, words="No card can be here.")


WRITERS: dict[str, Callable[[HttpRequest, Place, Credentials], HttpResponseBase]] = {
    "PUT": _put,
    "DELETE": _delete,
    "MOVE": _move,
    "COPY": _forbidden,
    "MKCOL": _forbidden,
    "MKCALENDAR": _forbidden,
    "LOCK": _forbidden,
}
