"""The tree of resources: the root, the principal of the account, the homes of its collections (RFC 3744, 5397; RFC
6352, 7.1), and what stands at a path. What is another account's does not exist."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import ClassVar
from uuid import UUID

from dav.authentication import Credentials
from dav.preconditions import missing
from dav.resources.base import PRINCIPAL_REPORTS, Properties, Resource
from dav.resources.book import BookResource
from dav.resources.calendars import CalendarResource
from dav.resources.own_calendars import CALENDARS
from dav.resources.uris import (
    BOOK_HOMES,
    CALENDAR_HOMES,
    PRINCIPALS,
    ROOT,
    DavPath,
    book_home_path,
    calendar_home_path,
    member_path,
    principal_path,
)
from dav.xml import cal, cs, dav, href, tag, text


class RootResource(Resource):
    """`/dav/`. `/` and others that clients guess answer the same."""

    title = "Contact network"
    reports = PRINCIPAL_REPORTS

    def members(self, names: Collection[str] = ()) -> Iterator[Resource]:
        owner_id = self.device.owner.pk
        yield PrincipalsResource(self.device, PRINCIPALS)
        yield BookHomeResource(self.device, book_home_path(owner_id))
        yield CalendarHomeResource(self.device, calendar_home_path(owner_id))


class PrincipalsResource(Resource):
    title = "Accounts"
    reports = PRINCIPAL_REPORTS

    def members(self, names: Collection[str] = ()) -> Iterator[Resource]:
        yield PrincipalResource(self.device, principal_path(self.device.owner.pk))


class PrincipalResource(Resource):
    """The account itself."""

    types = (dav("collection"), dav("principal"))
    reports = PRINCIPAL_REPORTS

    @property
    def display_name(self) -> str:
        owner = self.device.owner
        return " ".join(filter(None, (owner.name, owner.surname))) or owner.email

    PROPERTIES: ClassVar[Properties] = {
        **Resource.PROPERTIES,
        cal("calendar-user-address-set"): lambda r: (
            href(f"mailto:{r.device.owner.email}") + href(principal_path(r.device.owner.pk))
        ),
        cs("email-address-set"): lambda r: tag(cs("email-address"), text(r.device.owner.email)),
        dav("group-membership"): lambda _: "",
        dav("alternate-URI-set"): lambda _: "",
    }


class BookHomeResource(Resource):
    title = "Address books"

    @property
    def me_card(self) -> str | None:
        """The path of the user's own card, if the device gets it."""
        book = BookResource.of(self.device)
        row = book.cards().filter(person__is_me=True).first()
        return member_path(book.path, row.name) if row else None

    def members(self, names: Collection[str] = ()) -> Iterator[Resource]:
        yield BookResource.of(self.device)

    PROPERTIES: ClassVar[Properties] = {
        **Resource.PROPERTIES,
        cs("me-card"): lambda r: href(path) if (path := r.me_card) else None,
    }


class CalendarHomeResource(Resource):
    title = "Calendars"

    def members(self, names: Collection[str] = ()) -> Iterator[Resource]:
        for calendar in CALENDARS:
            yield calendar.of(self.device)


class BookHomesResource(Resource):
    """What lies above the homes: some people enter it. Everybody sees their own home alone."""

    title = "Address books"

    def members(self, names: Collection[str] = ()) -> Iterator[Resource]:
        yield BookHomeResource(self.device, book_home_path(self.device.owner.pk))


class CalendarHomesResource(Resource):
    title = "Calendars"

    def members(self, names: Collection[str] = ()) -> Iterator[Resource]:
        yield CalendarHomeResource(self.device, calendar_home_path(self.device.owner.pk))


_ABOVE: Mapping[str, type[Resource]] = {
    ROOT: RootResource,
    PRINCIPALS: PrincipalsResource,
    BOOK_HOMES: BookHomesResource,
    CALENDAR_HOMES: CalendarHomesResource,
}
_OF_ACCOUNT: tuple[tuple[Callable[[UUID], str], type[Resource]], ...] = (
    (principal_path, PrincipalResource),
    (book_home_path, BookHomeResource),
    (calendar_home_path, CalendarHomeResource),
)


def find_resource(device: Credentials, place: DavPath) -> Resource:
    """The resource at the place: the root, a principal or a home of the account, what lies above these, a collection or
    a member of one. Raises DavStatusError (404)."""
    found = _find(device, place)
    if found is None:
        raise missing()
    return found


def _find(device: Credentials, place: DavPath) -> Resource | None:
    path = f"{ROOT}{'/'.join(place.segments)}/" if place.segments else ROOT
    if above := _ABOVE.get(path):
        return above(device, path)
    for path_of, kind in _OF_ACCOUNT:
        if path == path_of(device.owner.pk):
            return kind(device, path)
    collections: tuple[BookResource | CalendarResource, ...]
    collections = (BookResource.of(device), *(kind.of(device) for kind in CALENDARS))
    for collection in collections:
        if path == collection.path:
            return collection
        if path.startswith(collection.path) and len(place.segments) == 4:
            return collection.find(place.segments[3])
    return None
