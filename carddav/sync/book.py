"""The address book as the engine sees it: carddav.client.Book, or one in memory in the tests."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from carddav.client import Card, Changes, ConnectionBrokenError, Fetched, FoundBook, Missing, Unreadable, Written


class Book(Protocol):
    """See carddav.client.Book. Every method raises DavError."""

    @property
    def url(self) -> str: ...

    def changes(self, token: str, ctag: str, *, is_small: bool = False) -> Changes: ...

    def ask_again(self) -> None: ...

    def look(self) -> FoundBook: ...

    def list(self) -> Changes: ...

    def fetch(self, hrefs: Iterable[str]) -> Iterator[Fetched]: ...

    def get(self, href: str) -> Card | Missing | Unreadable: ...

    def new_href(self, name: str) -> str: ...

    def create(self, name: str, text: str) -> Written: ...

    def put(self, href: str, text: str, if_match: str) -> Written: ...

    def delete(self, href: str, if_match: str | None) -> Written: ...


def read_current_card(book: Book, href: str) -> Card | Missing:
    """The card as it is now. Raises DavError, also where the server has it and does not give it."""
    found = book.get(href)
    if isinstance(found, Unreadable):
        raise ConnectionBrokenError(found.message, status=found.status)
    return found
