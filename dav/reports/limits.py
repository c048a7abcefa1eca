"""How much a report may ask, and answer."""

from collections.abc import Sequence
from itertools import islice
from xml.etree.ElementTree import Element

from dav.errors import DavError
from dav.xml import card, dav

# More than any account has, and a number that each database can compare with.
_MAX_LIMIT = 10**9
#: Tests of a filter, at all levels. Each is made for each member; clients send up to ten.
MAX_TESTS = 50


def check_filter(element: Element | None, condition: str) -> None:
    """Raises DavError with the `condition` for a filter of more than MAX_TESTS elements."""
    if element is not None and sum(1 for _ in islice(element.iter(), MAX_TESTS + 2)) > MAX_TESTS + 1:
        raise DavError(403, condition, f"A filter has at most {MAX_TESTS} tests.")


def read_choice(element: Element, name: str, choices: Sequence[str], condition: str) -> str:
    """The value of an attribute that has only these; the first where it is missing. Raises DavError with the
    `condition` for any other: to guess what it means would find other cards than those that are meant."""
    value = element.get(name, choices[0])
    if value not in choices:
        raise DavError(403, condition, f"{name} is {' or '.join(choices)}.")
    return value


def read_limit(root: Element) -> int | None:
    """The limit of a report: that of DAV: (RFC 5323, 5.17) or that of CardDAV (RFC 6352, 10.6). Raises DavError."""
    paths = (f"{name('limit')}/{name('nresults')}" for name in (dav, card))
    given = next((text.strip() for path in paths if (text := root.findtext(path)) is not None), None)
    if given is None:
        return None
    digits = given.lstrip("0") if given.isascii() and given.isdigit() else ""
    if not digits:
        raise DavError(400, words="nresults is a whole number of at least 1.")
    return int(digits) if len(digits) < 10 else _MAX_LIMIT
