"""What the client tells of a book and its cards. Hrefs are as the server spelled them, `key` is what compares."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a book can do. `reports` and `versions` are empty where the server does not say.

    `max_resource_size` in bytes. `refused` are the reports that the server does not have, as it said when it was asked.
    """

    reports: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    max_resource_size: int | None = None
    writable: bool = True
    refused: tuple[str, ...] = ()

    @property
    def has_sync(self) -> bool:
        return "sync-collection" in self.reports and "sync-collection" not in self.refused

    @property
    def has_multiget(self) -> bool:
        """Asked also where a server does not list it: RFC 6352 demands it (section 8), and lists are incomplete."""
        return "addressbook-multiget" not in self.refused

    def to_json(self) -> dict[str, Any]:
        return {
            "reports": list(self.reports),
            "versions": list(self.versions),
            "maxResourceSize": self.max_resource_size,
            "writable": self.writable,
            "refused": list(self.refused),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """What to_json made; the defaults for what is not there."""
        return cls(
            tuple(data.get("reports", ())),
            tuple(data.get("versions", ())),
            data.get("maxResourceSize"),
            data.get("writable", True),
            tuple(data.get("refused", ())),
        )


@dataclass(frozen=True, slots=True)
class FoundBook:
    """An address book as a PROPFIND tells of it."""

    url: str
    name: str
    caps: Capabilities = field(default_factory=Capabilities)


@dataclass(frozen=True, slots=True)
class Entry:
    """A card in a listing; without an etag it has to be fetched to know more."""

    href: str
    key: str
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What a listing says. `is_full`: `changed` is every card of the book, and who is not in it may be gone.

    `token` and `ctag` are to be stored once all of it is applied. `is_unchanged`: nothing happened since the last.
    `may_repeat`: cards that did not change since the last may be in `changed`, too.
    """

    changed: tuple[Entry, ...] = ()
    removed: tuple[Entry, ...] = ()
    token: str = ""
    ctag: str = ""
    is_full: bool = False
    is_unchanged: bool = False
    may_repeat: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A card as the server has it; `href` is the one that was asked for."""

    href: str
    key: str
    etag: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A 404 or 410 for this very href."""

    href: str
    key: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The server has something there and does not give it."""

    href: str
    key: str
    status: int
    message: str


Fetched = Card | Missing | Unreadable


class Outcome(StrEnum):
    """What became of a write."""

    DONE = "done"
    CHANGED = "changed"  # somebody else was first: fetch, merge
    GONE = "gone"  # 404 or 410
    REFUSED = "refused"  # this content, now and always
    READ_ONLY = "read_only"
    TOO_LARGE = "too_large"
    FULL = "full"  # no room on the server
    LOCKED = "locked"  # not done, as somebody else is writing: it may be sent again
    UNKNOWN = "unknown"  # it may have been done: find out before sending it again


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome of a write. `href` is where the card is now, `etag` what the server said of it, if anything.

    `preconditions` are the names in its DAV:error, `message` a sentence for the user.
    """

    outcome: Outcome
    href: str
    etag: str | None = None
    status: int | None = None
    message: str = ""
    preconditions: frozenset[str] = frozenset()
