"""The properties that a request asks for or sets: PROPFIND and PROPPATCH (RFC 4918, 9.1 and 9.2)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import account_lock
from dav.models import BookCard, CollectionProperty
from dav.preconditions import DavStatusError
from dav.resources.base import Resource
from dav.resources.book import BookResource, CardResource
from dav.resources.uris import member_path
from dav.xml import FORBIDDEN, MISSING, OK, Propstat, apple, dav, path_text, response, tag

# Left out of allprop (RFC 4918, 9.1; RFC 3744; RFC 6352, 6.2): what is long or costly is only for who asks.
_ALLPROP = (
    *("resourcetype", "displayname", "getetag", "getcontenttype", "getlastmodified", "creationdate"),
    "getcontentlength",
)
# The properties that cards have in common, and their ETag.
LISTED = frozenset({dav("resourcetype"), dav("getcontenttype"), dav("getetag")})
SAMPLE = "sample-of-a-card"
#: Clients ask for up to thirty.
MAX_NAMES = 100
MAX_NAMES_LENGTH = 8 * 1024
MAX_LENGTH = 200
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?")
_ORDER = re.compile(r"-?[0-9]{1,9}")
SETTABLE = {
    dav("displayname"): re.compile(rf"[^\x00-\x1f]{{1,{MAX_LENGTH}}}"),
    apple("calendar-color"): _COLOR,
    apple("calendar-order"): _ORDER,
}
_FAILED_DEPENDENCY = "HTTP/1.1 424 Failed Dependency"


@dataclass(frozen=True)
class PropertyRequest:
    """The properties that a request asks for. `names_only`: propname, so only the names of those that there are."""

    names: Sequence[str]
    is_allprop: bool = False
    names_only: bool = False


def read_propfind(root: Element | None) -> PropertyRequest:
    """The request of a PROPFIND body; an empty one asks for all (9.1). Raises DavStatusError."""
    if root is None:
        return PropertyRequest([dav(name) for name in _ALLPROP], is_allprop=True)
    if root.tag != dav("propfind"):
        raise DavStatusError(400, words="The body of PROPFIND is a propfind element.")
    if root.find(dav("propname")) is not None:
        return PropertyRequest([], names_only=True)
    if root.find(dav("allprop")) is not None:
        include = root.find(dav("include"))
        included = names_of(include) if include is not None else []
        return PropertyRequest([*(dav(name) for name in _ALLPROP), *included], is_allprop=True)
    return PropertyRequest(names_of(root.find(dav("prop"))))


def names_of(prop: Element | None) -> list[str]:
    """The names in a prop element, each once."""
    if prop is None:
        raise DavStatusError(400, words="The body names no properties.")
    names = list(dict.fromkeys(element.tag for element in prop))
    check_names(names)
    return names


def check_names(names: Sequence[str]) -> None:
    """Raises DavStatusError for too many names, or too long ones: each is looked up, and answered, for each member."""
    if len(names) > MAX_NAMES:
        raise DavStatusError(400, words=f"The body names more than {MAX_NAMES} properties.")
    if sum(map(len, names)) > MAX_NAMES_LENGTH:
        raise DavStatusError(400, words=f"The properties' names have more than {MAX_NAMES_LENGTH} characters together.")


def describe(resource: Resource, asked: PropertyRequest, *, is_minimal: bool, data: str = "") -> str:
    """The response element of a resource; `data` is the element of its text, which a report adds."""
    found = Propstat()
    if asked.names_only:
        for name in resource.PROPERTIES:
            if resource.content(name) is not None:
                found.add(OK, tag(name))
    for name in asked.names:
        content = resource.content(name)
        if content is not None:
            found.add(OK, tag(name, content))
        elif not asked.is_allprop:
            found.add(MISSING, tag(name))
    if data:
        found.add(OK, data)
    return response(resource.path, found, is_minimal=is_minimal)


def describe_members(resource: Resource, asked: PropertyRequest, *, is_minimal: bool) -> Iterator[str]:
    """The response elements of the members of a collection."""
    if isinstance(resource, BookResource) and LISTED.issuperset(asked.names) and not asked.names_only:
        yield from _describe_listing(resource, asked, is_minimal=is_minimal)
        return
    for member in resource.members(asked.names):
        yield describe(member, asked, is_minimal=is_minimal)


def _describe_listing(book: BookResource, asked: PropertyRequest, *, is_minimal: bool) -> Iterator[str]:
    """The same for cards of which nothing else is asked than what all have in common, and their ETags."""
    sample = sample_card(book)
    element = describe(sample, asked, is_minimal=is_minimal).replace(path_text(sample.path), SAMPLE)
    before, between, *after = element.split(SAMPLE)
    if not after:
        for batch in book.listing():
            yield "".join([f"{before}{path_text(member_path(book.path, name))}{between}" for name, _ in batch])
        return
    end = after[0]
    for batch in book.listing():
        yield "".join(
            [f"{before}{path_text(member_path(book.path, name))}{between}{etag}{end}" for name, etag in batch]
        )


def sample_card(book: BookResource) -> CardResource:
    """A card from which the elements of others are made: its name and its ETag are SAMPLE."""
    return CardResource(book, BookCard(name=SAMPLE, etag=SAMPLE, plain_etag=SAMPLE))


def patch_properties(resource: Resource, root: Element | None) -> str:
    """Set and remove properties, all or none; returns the response element. Raises DavStatusError.

    Programs name and colour collections; nothing else can be set. A refusal is inside of a 207, that of a READ token
    too: a refused request makes Apple's programs warn of the whole account.
    """
    if root is None or root.tag != dav("propertyupdate"):
        raise DavStatusError(400, words="The body of PROPPATCH is a propertyupdate element.")
    changes: dict[str, str | None] = {}
    for update in root:
        for element in update.findall(f"{dav('prop')}/*"):
            value = "".join(element.itertext()).strip()
            changes[element.tag] = value if update.tag == dav("set") else None
    device, collection = resource.device, resource.collection
    may_set = collection and not device.is_read_only
    refused = {name for name, value in changes.items() if not may_set or not _is_settable(name, value)}
    if changes and not refused:
        _store(device.owner, collection, changes)
    found = Propstat(errors={FORBIDDEN: tag(dav("need-privileges"))} if device.is_read_only else {})
    for name in changes:
        found.add(FORBIDDEN if name in refused else _FAILED_DEPENDENCY if refused else OK, tag(name))
    return response(resource.path, found)


def _is_settable(name: str, value: str | None) -> bool:
    form = SETTABLE.get(name)
    return form is not None and (value is None or form.fullmatch(value) is not None)


def _store(owner: User, collection: str, changes: dict[str, str | None]) -> None:
    with account_lock(owner):
        rows = CollectionProperty.objects.owned_by(owner).filter(collection=collection)
        rows.filter(name__in=changes).delete()
        CollectionProperty.objects.bulk_create(
            CollectionProperty(owner=owner, collection=collection, name=name, value=value)
            for name, value in changes.items()
            if value is not None
        )
