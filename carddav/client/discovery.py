"""Chooses the address book of a connection among those that discovery finds."""

from dataclasses import dataclass

from carddav.client.address_books import ADDRESS_BOOKS
from contacts_project.kernel.webdav.discovery import Found, find_collections
from contacts_project.kernel.webdav.errors import CollectionGoneError
from contacts_project.kernel.webdav.hrefs import href_key, origin
from contacts_project.kernel.webdav.session import DavSession
from contacts_project.kernel.webdav.shapes import FoundCollection

# The last path segment of the provider's default address book.
_DEFAULT_BOOKS = {"nextcloud": "contacts", "google": "default", "icloud": "card", "outlook": "contacts"}


@dataclass(frozen=True, slots=True)
class Discovery:
    """The principal and home sets if the server has them, all books, and the chosen one."""

    book: FoundCollection
    books: tuple[FoundCollection, ...]
    principal_url: str = ""
    home_urls: tuple[str, ...] = ()


def discover(
    session: DavSession, *, provider: str | None = None, stored: str = "", has_moved_host: bool = False
) -> Discovery:
    """Find the books of the session's login and choose one: the URL if it is a book, else the stored one, else the only
    one, else the provider's default, else the first writable one.

    `has_moved_host`: the stored book is looked for by its path on other hosts. Raises CollectionGoneError if the stored
    book is not found, since another one must not silently take its place; and what `find_collections` raises.
    """
    found = find_collections(session, ADDRESS_BOOKS, provider=provider)
    return Discovery(
        _choose_book(found, provider, stored, has_moved_host=has_moved_host),
        tuple(found.collections),
        found.principal_url,
        tuple(found.home_urls),
    )


def _choose_book(found: Found, provider: str | None, stored: str, *, has_moved_host: bool) -> FoundCollection:
    books = found.collections
    if stored:
        for book in books:
            is_elsewhere = origin(book.url) != origin(stored)
            if is_elsewhere == has_moved_host and _path_key(book) == href_key(stored).rstrip("/"):
                return book
        raise CollectionGoneError(ADDRESS_BOOKS.gone)
    default = _DEFAULT_BOOKS.get(provider or "", "")
    named = [book for book in books if default and _path_key(book).endswith(f"/{default}")]
    writable = [book for book in books if book.caps.writable]
    return [*named, *writable, *books][0]


def _path_key(book: FoundCollection) -> str:
    return href_key(book.url).rstrip("/")
