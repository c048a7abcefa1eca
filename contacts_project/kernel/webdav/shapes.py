"""Results of the client. `href` is as the server spelled it, `key` its form for comparison."""

from dataclasses import dataclass, field
from typing import Self

from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import Text


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a collection supports. `reports` is empty if the server does not list them; `refused` are those that it has
    answered as unsupported."""

    reports: tuple[str, ...] = ()
    writable: bool = True
    refused: tuple[str, ...] = ()

    @property
    def has_sync(self) -> bool:
        return "sync-collection" in self.reports and "sync-collection" not in self.refused

    def may_have(self, report: str) -> bool:
        """True also if it is not listed: the RFCs require multiget and query, and the lists are incomplete."""
        return report not in self.refused

    def to_json(self) -> JsonObject:
        return {"reports": list(self.reports), "writable": self.writable, "refused": list(self.refused)}

    @classmethod
    def from_json(cls, data: JsonObject) -> Self:
        """The inverse of `to_json`; missing keys get the defaults."""
        return cls(tuple(data.get("reports", ())), data.get("writable", True), tuple(data.get("refused", ())))


@dataclass(frozen=True, slots=True)
class FoundCollection:
    """A collection as described by a PROPFIND."""

    url: str
    name: str
    caps: Capabilities = field(default_factory=Capabilities)


@dataclass(frozen=True, slots=True)
class ListingEntry:
    """A resource in a listing. Without an ETag it must be fetched."""

    href: str
    key: str
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A listing. `is_full`: `changed` has every member of the collection; one that is missing may be gone.

    `token` and `ctag` are to be stored once all of it is applied. `is_unchanged`: nothing has happened since the last
    listing. `may_repeat`: `changed` may contain resources that have not changed since.
    """

    changed: tuple[ListingEntry, ...] = ()
    removed: tuple[ListingEntry, ...] = ()
    token: str = ""
    ctag: str = ""
    is_full: bool = False
    is_unchanged: bool = False
    may_repeat: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource as the server has it; `href` is the one that was requested."""

    href: str
    key: str
    etag: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Missing:
    """The server answers 404 or 410 for this href."""

    href: str
    key: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The resource exists and the server does not return it."""

    href: str
    key: str
    status: int
    message: Text


FetchResult = Resource | Missing | Unreadable
