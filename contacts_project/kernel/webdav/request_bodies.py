"""Bodies of PROPFIND and REPORT requests, and the parsing of a collection's properties."""

from collections.abc import Iterable
from xml.sax.saxutils import escape

from contacts_project.kernel.webdav.kinds import CollectionKind
from contacts_project.kernel.webdav.multistatus import DAV, Response
from contacts_project.kernel.webdav.session import DavSession
from contacts_project.kernel.webdav.shapes import Capabilities, FoundCollection

_PROLOG = '<?xml version="1.0" encoding="utf-8"?>\n'
# Without getctag and sync-token, for which some servers read every member of every collection.
_COLLECTION_PROPS = "<resourcetype/><displayname/><supported-report-set/><current-user-privilege-set/>"
COLLECTION_TYPE = f"{DAV}collection"
_WRITE_PRIVILEGES = {f"{DAV}{name}" for name in ("all", "write", "write-content", "bind")}


def xmlns(kind: CollectionKind) -> str:
    """The namespaces of a request: C is that of the kind."""
    return f'xmlns="DAV:" xmlns:C="{kind.namespace}" xmlns:CS="http://calendarserver.org/ns/"'


def _propfind(kind: CollectionKind, props: str) -> str:
    return f"{_PROLOG}<propfind {xmlns(kind)}><prop>{props}</prop></propfind>"


def propfind_collection(kind: CollectionKind) -> str:
    return _propfind(kind, f"{_COLLECTION_PROPS}{kind.properties}")


def propfind_discovery(kind: CollectionKind) -> str:
    return _propfind(kind, f"<current-user-principal/><C:{kind.home_set}/>{_COLLECTION_PROPS}{kind.properties}")


def propfind_minimal(kind: CollectionKind) -> str:
    """For servers that answer 500 to a property that they do not know."""
    return _propfind(kind, f"<current-user-principal/><C:{kind.home_set}/><resourcetype/><displayname/>")


def propfind_state(kind: CollectionKind) -> str:
    return _propfind(kind, "<resourcetype/><CS:getctag/><sync-token/>")


def propfind_listing(kind: CollectionKind) -> str:
    return _propfind(kind, "<resourcetype/><getcontenttype/><getetag/><CS:getctag/><sync-token/>")


def sync_collection(kind: CollectionKind, token: str) -> str:
    """RFC 6578, section 3.2. Without a limit: several servers lose the results beyond it."""
    return (
        f"{_PROLOG}<sync-collection {xmlns(kind)}><sync-token>{escape(token)}</sync-token><sync-level>1</sync-level>"
        "<prop><getetag/></prop></sync-collection>"
    )


def multiget(kind: CollectionKind, paths: Iterable[str]) -> str:
    """RFC 6352, section 8.7; RFC 4791, section 7.9. Without a version the server returns its default."""
    hrefs = "".join(f"<href>{escape(path)}</href>" for path in paths)
    return (
        f"{_PROLOG}<C:{kind.multiget} {xmlns(kind)}><prop><getetag/><C:{kind.data}/></prop>{hrefs}</C:{kind.multiget}>"
    )


def parse_collection(session: DavSession, base_url: str, response: Response) -> FoundCollection:
    """The collection that a response describes."""
    url = session.resolve_href(base_url, response.href)
    caps = Capabilities(_parse_reports(response), writable=_is_writable(response))
    name = response.text_of(f"{DAV}displayname") or url.rstrip("/").rpartition("/")[2]
    return FoundCollection(url if url.endswith("/") else f"{url}/", name[:255], caps)


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
