"""The address book as the sync engine uses it: carddav.client.Book, or an in-memory book in tests."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from carddav.client import Card, Changes, ConnectionBrokenError, Fetched, FoundBook, Missing, Unreadable, WriteResult


class Book(Protocol):
    """See carddav.client.Book. Every method raises DavError."""

    @property
    def url(self) -> str: ...

    def changes(self, token: str, ctag: str, *, is_small: bool = False) -> Changes: ...

    def retry_refused_reports(self) -> None: ...

    def fetch_properties(self) -> FoundBook: ...

    def list(self) -> Changes: ...

    def fetch(self, hrefs: Iterable[str]) -> Iterator[Fetched]: ...

    def get(self, href: str) -> Card | Missing | Unreadable: ...

    def new_href(self, name: str) -> str: ...

    def create(self, name: str, text: str) -> WriteResult: ...

    def put(self, href: str, text: str, if_match: str) -> WriteResult: ...

    def delete(self, href: str, if_match: str | None) -> WriteResult: ...


def read_current_card(book: Book, href: str) -> Card | Missing:
    """Fetch the card by GET. Raises DavError, also if the card exists and cannot be read."""
    found = book.get(href)
    if isinstance(found, Unreadable):
        raise ConnectionBrokenError(found.message, status=found.status)
    return found
