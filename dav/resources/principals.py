"""The root, the principal of the account, and the homes of its collections (RFC 3744, 5397; RFC 6352, 7.1)."""

from collections.abc import Collection, Iterator
from typing import ClassVar

from dav.authentication import Credentials
from dav.resources.base import PRINCIPAL_REPORTS, Properties, Resource
from dav.resources.book import BookResource
from dav.resources.own_calendars import CALENDARS
from dav.resources.paths import PRINCIPALS, ROOT, book_home_path, calendar_home_path, principal_path
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

    def members(self, names: Collection[str] = ()) -> Iterator[Resource]:
        yield BookResource.of(self.device)


class CalendarHomeResource(Resource):
    title = "Calendars"

    def members(self, names: Collection[str] = ()) -> Iterator[Resource]:
        for calendar in CALENDARS:
            yield calendar.of(self.device)


def find_above_collections(device: Credentials, path: str) -> Resource | None:
    """The root, a principal or a home of the account; None for any other path."""
    if path == ROOT:
        return RootResource(device, path)
    if path == PRINCIPALS:
        return PrincipalsResource(device, path)
    if path == principal_path(device.owner.pk):
        return PrincipalResource(device, path)
    if path == book_home_path(device.owner.pk):
        return BookHomeResource(device, path)
    return CalendarHomeResource(device, path) if path == calendar_home_path(device.owner.pk) else None
