"""What differs between collections of address books (CardDAV, RFC 6352) and of calendars (CalDAV, RFC 4791)."""

from collections.abc import Callable
from dataclasses import dataclass

from contacts_project.kernel.texts import Text
from contacts_project.kernel.webdav.multistatus import Response


@dataclass(frozen=True, slots=True)
class CollectionKind:
    """A kind of collection, in the names of its RFC, and what people are told of it.

    `properties` are asked for beside those of every kind; `accepts` says of a collection of the type whether it is of
    use. Members of a content type that begins with one of `foreign_types` are ignored, and more than `max_members` are
    refused.
    """

    namespace: str
    resource_type: str
    home_set: str
    multiget: str
    data: str
    media_type: str
    well_known: str
    service: str
    gone: Text
    moved: Text
    other_type: Text
    none_found: Text
    nothing_listed: Text
    too_many: Text
    max_members: int
    foreign_types: tuple[str, ...]
    properties: str = ""
    accepts: Callable[[Response], bool] | None = None

    def tag(self, name: str) -> str:
        """The name in the namespace of the kind, as the parser of a multistatus has it."""
        return f"{{{self.namespace}}}{name}"
