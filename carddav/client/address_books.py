"""Address books as a kind of WebDAV collection (RFC 6352), and the codes of errors in this app's answers."""

from contacts_project.kernel.texts import define_text
from contacts_project.kernel.webdav.errors import DavError
from contacts_project.kernel.webdav.kinds import CollectionKind

_MAX_CARDS = 100_000

ADDRESS_BOOKS = CollectionKind(
    namespace="urn:ietf:params:xml:ns:carddav",
    resource_type="addressbook",
    home_set="addressbook-home-set",
    multiget="addressbook-multiget",
    data="address-data",
    media_type="text/vcard",
    well_known="/.well-known/carddav",
    service="_carddavs._tcp",
    gone=define_text(
        "book_gone",
        "The address book is not on the server any more. Nothing was changed here. To sync with another one, save the "
        "connection with its address.",
    ),
    moved=define_text("book_moved", "The address book has moved. The next sync looks for it."),
    other_type=define_text("no_book_any_more", "What is at the address of the book is no address book any more."),
    none_found=define_text("no_book_found", "No address book is found there."),
    nothing_listed=define_text("empty_listing", "The server lists nothing at all, not even the address book."),
    too_many=define_text("book_too_large", "The address book lists more than %(limit)s contacts.").format(
        limit=_MAX_CARDS
    ),
    max_members=_MAX_CARDS,
    foreign_types=("text/calendar",),
)

_CODES = {"not_dav": "not_carddav", "collection_gone": "book_gone"}


def code_of(error: DavError) -> str:
    """The code of an error in answers of the API."""
    return _CODES.get(error.code, error.code)
