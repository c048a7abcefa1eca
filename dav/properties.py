"""PROPFIND (RFC 4918, 9.1): which properties a request asks for, and the response for each resource."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from dav.errors import DavError
from dav.models import BookCard
from dav.resources.base import Resource
from dav.resources.book import BookResource, CardResource
from dav.resources.paths import member_path
from dav.xml import MISSING, OK, Propstat, dav, path_text, response, tag

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


@dataclass(frozen=True)
class Request:
    """The properties that a request asks for. `names_only`: propname, so only the names of those that there are."""

    names: Sequence[str]
    is_allprop: bool = False
    names_only: bool = False


def read_propfind(root: Element | None) -> Request:
    """The request of a PROPFIND body; an empty one asks for all (9.1). Raises DavError."""
    if root is None:
        return Request([dav(name) for name in _ALLPROP], is_allprop=True)
    if root.tag != dav("propfind"):
        raise DavError(400, words="The body of PROPFIND is a propfind element.")
    if root.find(dav("propname")) is not None:
        return Request([], names_only=True)
    if root.find(dav("allprop")) is not None:
        include = root.find(dav("include"))
        included = names_of(include) if include is not None else []
        return Request([*(dav(name) for name in _ALLPROP), *included], is_allprop=True)
    return Request(names_of(root.find(dav("prop"))))


def names_of(prop: Element | None) -> list[str]:
    """The names in a prop element, each once."""
    if prop is None:
        raise DavError(400, words="The body names no properties.")
    names = list(dict.fromkeys(element.tag for element in prop))
    check_names(names)
    return names


def check_names(names: Sequence[str]) -> None:
    """Raises DavError for too many names, or too long ones: each is looked up, and answered, for each member."""
    if len(names) > MAX_NAMES:
        raise DavError(400, words=f"The body names more than {MAX_NAMES} properties.")
    if sum(map(len, names)) > MAX_NAMES_LENGTH:
        raise DavError(400, words=f"The properties' names have more than {MAX_NAMES_LENGTH} characters together.")


def describe(resource: Resource, asked: Request, *, is_minimal: bool) -> str:
    """The response element of a resource."""
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
    return response(resource.path, found, is_minimal=is_minimal)


def describe_members(resource: Resource, asked: Request, *, is_minimal: bool) -> Iterator[str]:
    """The response elements of the members of a collection."""
    if isinstance(resource, BookResource) and LISTED.issuperset(asked.names) and not asked.names_only:
        yield from _describe_listing(resource, asked, is_minimal=is_minimal)
        return
    for member in resource.members(asked.names):
        yield describe(member, asked, is_minimal=is_minimal)


def _describe_listing(book: BookResource, asked: Request, *, is_minimal: bool) -> Iterator[str]:
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
