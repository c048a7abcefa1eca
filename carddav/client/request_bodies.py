"""Bodies of PROPFIND and REPORT requests, and the parsing of a book's properties."""

from collections.abc import Iterable
from xml.sax.saxutils import escape

from carddav.client.shapes import Capabilities, FoundBook
from contacts_project.kernel.webdav.multistatus import CARD, DAV, Response
from contacts_project.kernel.webdav.session import DavSession

_PROLOG = '<?xml version="1.0" encoding="utf-8"?>\n'
_XMLNS = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav" xmlns:CS="http://calendarserver.org/ns/"'
# Without getctag and sync-token, for which some servers read every card of every book.
_BOOK_PROPS = "<resourcetype/><displayname/><supported-report-set/><current-user-privilege-set/>"
PROPFIND_BOOK = f"{_PROLOG}<propfind {_XMLNS}><prop>{_BOOK_PROPS}</prop></propfind>"
PROPFIND_DISCOVERY = (
    f"{_PROLOG}<propfind {_XMLNS}><prop><current-user-principal/><C:addressbook-home-set/>{_BOOK_PROPS}</prop>"
    "</propfind>"
)
# For servers that answer 500 to a property that they do not know.
PROPFIND_MINIMAL = (
    f"{_PROLOG}<propfind {_XMLNS}><prop><current-user-principal/><C:addressbook-home-set/><resourcetype/><displayname/>"
    "</prop></propfind>"
)
PROPFIND_CTAG = f"{_PROLOG}<propfind {_XMLNS}><prop><resourcetype/><CS:getctag/></prop></propfind>"
PROPFIND_LISTING = (
    f"{_PROLOG}<propfind {_XMLNS}><prop><resourcetype/><getcontenttype/><getetag/><CS:getctag/><sync-token/></prop>"
    "</propfind>"
)
BOOK_TYPE = f"{CARD}addressbook"
COLLECTION_TYPE = f"{DAV}collection"
_WRITE_PRIVILEGES = {f"{DAV}{name}" for name in ("all", "write", "write-content", "bind")}


def sync_collection(token: str) -> str:
    """RFC 6578, section 3.2. Without a limit: several servers lose the results beyond it."""
    return (
        f"{_PROLOG}<sync-collection {_XMLNS}><sync-token>{escape(token)}</sync-token><sync-level>1</sync-level>"
        "<prop><getetag/></prop></sync-collection>"
    )


def multiget(paths: Iterable[str]) -> str:
    """RFC 6352, section 8.7. Without a version the server returns its default, usually 3.0."""
    hrefs = "".join(f"<href>{escape(path)}</href>" for path in paths)
    return (
        f"{_PROLOG}<C:addressbook-multiget {_XMLNS}><prop><getetag/><C:address-data/></prop>{hrefs}"
        "</C:addressbook-multiget>"
    )


def parse_book(session: DavSession, base_url: str, response: Response) -> FoundBook:
    """The book that a response describes."""
    url = session.resolve_href(base_url, response.href)
    caps = Capabilities(_parse_reports(response), writable=_is_writable(response))
    name = response.text_of(f"{DAV}displayname") or url.rstrip("/").rpartition("/")[2]
    return FoundBook(url if url.endswith("/") else f"{url}/", name[:255], caps)


def _parse_reports(response: Response) -> tuple[str, ...]:
    holder = response.props.get(f"{DAV}supported-report-set")
    found = {
        kind.name
        for supported in (holder.children if holder else ())
        for report in supported.find_all(f"{DAV}report")
        for kind in report.children
    }
    return tuple(sorted(found))


def _is_writable(response: Response) -> bool:
    """True if the server returns no privileges."""
    holder = response.props.get(f"{DAV}current-user-privilege-set")
    if holder is None or not holder.children:
        return True
    return any(kind.tag in _WRITE_PRIVILEGES for privilege in holder.children for kind in privilege.children)
