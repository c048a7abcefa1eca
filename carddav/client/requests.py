"""Bodies of PROPFIND and REPORT, and what their answers say of a book."""

from collections.abc import Iterable
from xml.sax.saxutils import escape

from carddav.client.multistatus import CARD, DAV, Response
from carddav.client.session import DavSession
from carddav.client.shapes import Capabilities, FoundBook

_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_SPACES = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav" xmlns:CS="http://calendarserver.org/ns/"'
# Without ctag and token, for which some servers read every card of every book.
_BOOK_PROPS = (
    "<resourcetype/><displayname/><supported-report-set/><current-user-privilege-set/><C:supported-address-data/>"
    "<C:max-resource-size/>"
)
PROPFIND_BOOK = f"{_HEAD}<propfind {_SPACES}><prop>{_BOOK_PROPS}</prop></propfind>"
PROPFIND_ANYTHING = (
    f"{_HEAD}<propfind {_SPACES}><prop><current-user-principal/><C:addressbook-home-set/>{_BOOK_PROPS}</prop>"
    "</propfind>"
)
# For servers that answer 500 for a property that they do not have.
PROPFIND_BASICS = (
    f"{_HEAD}<propfind {_SPACES}><prop><current-user-principal/><C:addressbook-home-set/><resourcetype/><displayname/>"
    "</prop></propfind>"
)
PROPFIND_CTAG = f"{_HEAD}<propfind {_SPACES}><prop><resourcetype/><CS:getctag/></prop></propfind>"
PROPFIND_LISTING = (
    f"{_HEAD}<propfind {_SPACES}><prop><resourcetype/><getcontenttype/><getetag/><CS:getctag/><sync-token/></prop>"
    "</propfind>"
)
IS_BOOK = f"{CARD}addressbook"
IS_COLLECTION = f"{DAV}collection"
_WRITE_PRIVILEGES = {f"{DAV}{name}" for name in ("all", "write", "write-content", "bind")}


def sync_collection(token: str) -> str:
    """RFC 6578, section 3.2. No limit: several servers lose what is beyond it."""
    return (
        f"{_HEAD}<sync-collection {_SPACES}><sync-token>{escape(token)}</sync-token><sync-level>1</sync-level>"
        "<prop><getetag/></prop></sync-collection>"
    )


def multiget(paths: Iterable[str]) -> str:
    """RFC 6352, section 8.7. Without a version: the server's own, 3.0 as a rule."""
    hrefs = "".join(f"<href>{escape(path)}</href>" for path in paths)
    return (
        f"{_HEAD}<C:addressbook-multiget {_SPACES}><prop><getetag/><C:address-data/></prop>{hrefs}"
        "</C:addressbook-multiget>"
    )


def found_book(session: DavSession, base_url: str, response: Response) -> FoundBook:
    """The book that a response describes."""
    url = session.linked(base_url, response.href)
    size = response.text_of(f"{CARD}max-resource-size")
    caps = Capabilities(
        reports=_reports(response),
        versions=_versions(response),
        max_resource_size=int(size) if size.isascii() and size.isdigit() else None,
        writable=_is_writable(response),
    )
    name = response.text_of(f"{DAV}displayname") or url.rstrip("/").rpartition("/")[2]
    return FoundBook(url if url.endswith("/") else f"{url}/", name[:255], caps)


def _reports(response: Response) -> tuple[str, ...]:
    holder = response.props.get(f"{DAV}supported-report-set")
    found = {
        kind.name
        for supported in (holder.children if holder else ())
        for report in supported.all(f"{DAV}report")
        for kind in report.children
    }
    return tuple(sorted(found))


def _versions(response: Response) -> tuple[str, ...]:
    holder = response.props.get(f"{CARD}supported-address-data")
    kinds = holder.children if holder else ()
    return tuple(sorted({kind.attributes["version"] for kind in kinds if "version" in kind.attributes}))


def _is_writable(response: Response) -> bool:
    """True where the server says nothing of privileges."""
    holder = response.props.get(f"{DAV}current-user-privilege-set")
    if holder is None or not holder.children:
        return True
    return any(kind.tag in _WRITE_PRIVILEGES for privilege in holder.children for kind in privilege.children)
