"""Results of the client. `href` is as the server spelled it, `key` its form for comparison."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from contacts_project.kernel.json import JsonObject
from contacts_project.kernel.texts import Text


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a book supports. `reports` is empty if the server does not list them; `refused` are those that it has
    answered as unsupported."""

    reports: tuple[str, ...] = ()
    writable: bool = True
    refused: tuple[str, ...] = ()

    @property
    def has_sync(self) -> bool:
        return "sync-collection" in self.reports and "sync-collection" not in self.refused

    @property
    def has_multiget(self) -> bool:
        """True also if it is not listed: RFC 6352, section 8, requires it, and the lists are incomplete."""
        return "addressbook-multiget" not in self.refused

    def to_json(self) -> JsonObject:
        return {"reports": list(self.reports), "writable": self.writable, "refused": list(self.refused)}

    @classmethod
    def from_json(cls, data: JsonObject) -> Self:
        """The inverse of `to_json`; missing keys get the defaults."""
        return cls(tuple(data.get("reports", ())), data.get("writable", True), tuple(data.get("refused", ())))


@dataclass(frozen=True, slots=True)
class FoundBook:
    """An address book as described by a PROPFIND."""

    url: str
    name: str
    caps: Capabilities = field(default_factory=Capabilities)


@dataclass(frozen=True, slots=True)
class ListingEntry:
    """A card in a listing. Without an ETag it must be fetched."""

    href: str
    key: str
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A listing. `is_full`: `changed` has every card of the book; a card that is missing may be gone.

    `token` and `ctag` are to be stored once all of it is applied. `is_unchanged`: nothing has happened since the last
    listing. `may_repeat`: `changed` may contain cards that have not changed since.
    """

    changed: tuple[ListingEntry, ...] = ()
    removed: tuple[ListingEntry, ...] = ()
    token: str = ""
    ctag: str = ""
    is_full: bool = False
    is_unchanged: bool = False
    may_repeat: bool = False


@dataclass(frozen=True, slots=True)
class RemoteCard:
    """A card as the server has it; `href` is the one that was requested."""

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
    """The card exists and the server does not return it."""

    href: str
    key: str
    status: int
    message: Text


FetchResult = RemoteCard | Missing | Unreadable


class WriteOutcome(StrEnum):
    """The outcome of a write."""

    DONE = "done"
    CHANGED = "changed"  # another client has written the card: fetch and merge it
    GONE = "gone"  # 404 or 410
    REFUSED = "refused"  # the content is not accepted
    READ_ONLY = "read_only"
    TOO_LARGE = "too_large"
    FULL = "full"  # out of storage
    LOCKED = "locked"  # not applied, since another write is under way: send it again
    UNKNOWN = "unknown"  # may have been applied: ask the server before sending it again


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of a write. `href` is where the card is now, `etag` its new ETag if the server returned one, `message`
    is for the user."""

    outcome: WriteOutcome
    href: str
    etag: str | None = None
    status: int | None = None
    message: Text | None = None
