"""Reports of principals (RFC 3744, 9.4 and 9.5; RFC 3253, 3.8): an account finds itself, and nobody else."""

from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from dav.filters import read_choice
from dav.preconditions import DavStatusError
from dav.properties import PropertyRequest, check_names, describe, names_of
from dav.resources.base import Resource
from dav.resources.tree import PrincipalResource
from dav.resources.uris import DavPath, principal_path, read_path
from dav.xml import MISSING, OK, Propstat, cs, dav, document, response, tag, text

MAX_LEVELS = 5
Find = Callable[[DavPath], Resource]
_SEARCHABLE = {dav("displayname"): "Name", cs("email-address-set"): "E-mail address"}


def expand_property(resource: Resource, root: Element, find: Find, *, is_minimal: bool) -> Iterator[str]:
    """The properties of a resource, and in place of each href in them the properties of what it names.

    Raises DavStatusError if they are nested in more than MAX_LEVELS levels.
    """
    level, names = root.findall(dav("property")), []
    for _ in range(MAX_LEVELS):
        names += [_name_of(element) for element in level]
        level = [inner for element in level for inner in element.findall(dav("property"))]
    check_names(names)
    if level:
        raise DavStatusError(400, words=f"Properties are expanded {MAX_LEVELS} levels deep at most.")
    return iter([_expand(resource, root, find, is_minimal=is_minimal)])


def _name_of(element: Element) -> str:
    return f"{{{element.get('namespace', 'DAV:')}}}{element.get('name', '')}"


def _expand(resource: Resource, wanted: Element, find: Find, *, is_minimal: bool) -> str:
    found = Propstat()
    # What is named twice is answered once.
    for name, element in {_name_of(element): element for element in wanted.findall(dav("property"))}.items():
        content = resource.content(name)
        if content is None:
            found.add(MISSING, tag(name))
            continue
        if element.findall(dav("property")):
            content = "".join(_expand_href(href, element, find, is_minimal=is_minimal) for href in _hrefs_in(content))
        found.add(OK, tag(name, content))
    return response(resource.path, found, is_minimal=is_minimal)


def _hrefs_in(content: str) -> list[str]:
    """The hrefs of a property that we have written ourselves."""
    return [piece.partition("</d:href>")[0] for piece in content.split("<d:href>")[1:]]


def _expand_href(href: str, element: Element, find: Find, *, is_minimal: bool) -> str:
    place = read_path(href)
    try:
        # One level: only a principal and collections are named by properties, and none names itself through another.
        inner = find(place) if place else None
    except DavStatusError:
        inner = None
    return _expand(inner, element, find, is_minimal=is_minimal) if inner else tag(dav("href"), text(href))


def principal_property_search(resource: Resource, root: Element, *, is_minimal: bool) -> Iterator[str]:
    """The account's own principal, if it matches. Raises DavStatusError for a test that is none."""
    is_any = read_choice(root, "test", ("allof", "anyof"), "") == "anyof"
    return _found_principals(resource, root, is_any=is_any, is_minimal=is_minimal)


def _found_principals(resource: Resource, root: Element, *, is_any: bool, is_minimal: bool) -> Iterator[str]:
    me = PrincipalResource(resource.device, principal_path(resource.device.owner.pk))
    searches = root.findall(dav("property-search"))
    tests = [
        (prop.tag, (search.findtext(dav("match")) or "").casefold())
        for search in searches
        for prop in search.findall(f"{dav('prop')}/*")
    ]
    matched = [wanted in (me.content(name) or "").casefold() for name, wanted in tests if me.content(name) is not None]
    if matched and (any(matched) if is_any else all(matched) and len(matched) == len(tests)):
        asked = PropertyRequest(
            names_of(prop) if (prop := root.find(dav("prop"))) is not None else [dav("displayname")]
        )
        yield describe(me, asked, is_minimal=is_minimal)


def search_property_set() -> bytes:
    """What can be searched (RFC 3744, 9.5)."""
    described = "".join(
        tag(
            dav("principal-search-property"),
            tag(dav("prop"), tag(name)) + tag(dav("description"), text(words), {"xml:lang": "en"}),
        )
        for name, words in _SEARCHABLE.items()
    )
    return document(dav("principal-search-property-set"), described)
