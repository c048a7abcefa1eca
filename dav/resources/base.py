"""Properties that every resource has, and the table from which PROPFIND and the reports read them."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, ClassVar

from django.utils.functional import cached_property

from dav.authentication import Credentials
from dav.models import CollectionProperty
from dav.resources.uris import PRINCIPALS, book_home_path, calendar_home_path, principal_path
from dav.xml import cal, card, dav, href, tag, text

Properties = Mapping[str, Callable[[Any], str | None]]
"""For each property, by its name in Clark notation, a function that returns its content as XML; None: it has none."""

READ_PRIVILEGES = ("read", "read-current-user-privilege-set")
WRITE_PRIVILEGES = (*READ_PRIVILEGES, "write", "write-content", "write-properties", "bind", "unbind")


class Resource:
    """A path that exists for the device's account. `path` is percent-encoded."""

    types: ClassVar[tuple[str, ...]] = (dav("collection"),)
    reports: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str] = ""
    #: The name under which properties that programs set are kept (PROPPATCH); empty: none can be set.
    collection: ClassVar[str] = ""

    def __init__(self, device: Credentials, path: str) -> None:
        self.device, self.path = device, path

    @cached_property
    def set_properties(self) -> Mapping[str, str]:
        """The values that programs have set, by name."""
        if not self.collection:
            return {}
        rows = CollectionProperty.objects.owned_by(self.device.owner).filter(collection=self.collection)
        return dict(rows.values_list("name", "value"))

    @property
    def display_name(self) -> str:
        return self.set_properties.get(dav("displayname"), self.title)

    @property
    def privileges(self) -> tuple[str, ...]:
        """The privileges that the device has here (RFC 3744, 5.4)."""
        return READ_PRIVILEGES

    def members(self, names: Collection[str] = ()) -> Iterator["Resource"]:
        """The members of a collection (Depth: 1), read with what these properties of them need."""
        return iter(())

    def content(self, name: str) -> str | None:
        """The content of a property as XML, or None if this resource has no such property."""
        read = self.PROPERTIES.get(name)
        if read is not None:
            return read(self)
        value = self.set_properties.get(name) if self.collection else None
        return None if value is None else text(value)

    PROPERTIES: ClassVar[Properties] = {
        dav("resourcetype"): lambda r: "".join(map(tag, r.types)),
        dav("displayname"): lambda r: text(r.display_name) if r.display_name else None,
        dav("current-user-principal"): lambda r: href(principal_path(r.device.owner.pk)),
        dav("principal-URL"): lambda r: href(principal_path(r.device.owner.pk)),
        dav("owner"): lambda r: href(principal_path(r.device.owner.pk)),
        dav("principal-collection-set"): lambda _: href(PRINCIPALS),
        dav("current-user-privilege-set"): lambda r: "".join(
            tag(dav("privilege"), tag(dav(name))) for name in r.privileges
        ),
        dav("supported-report-set"): lambda r: "".join(
            tag(dav("supported-report"), tag(dav("report"), tag(name))) for name in r.reports
        ),
        card("addressbook-home-set"): lambda r: href(book_home_path(r.device.owner.pk)),
        cal("calendar-home-set"): lambda r: href(calendar_home_path(r.device.owner.pk)),
    }


PRINCIPAL_REPORTS = (dav("expand-property"), dav("principal-property-search"), dav("principal-search-property-set"))
