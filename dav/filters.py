"""What filters of cards and of calendars may ask: collations (RFC 4790, 9.2 and 9.3; RFC 5051), choices, limits."""

import string
from collections.abc import Callable, Sequence
from itertools import islice
from xml.etree.ElementTree import Element

from contacts_project.kernel.text_forms import case_key
from dav.preconditions import DavStatusError
from dav.xml import card, dav

_TO_SMALL_LETTERS = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


_COLLATIONS: dict[str, Callable[[str], str]] = {
    "i;ascii-casemap": lambda text: text.translate(_TO_SMALL_LETTERS),
    "i;unicode-casemap": case_key,
    "default": case_key,
    "i;octet": str,
}
#: Those that the books and calendars say they have.
COLLATIONS = ("i;ascii-casemap", "i;unicode-casemap", "i;octet")


def read_collation(match: Element, *, default: str, condition: str) -> Callable[[str], str]:
    """The function that makes equal what a text-match compares as equal. Raises DavStatusError with the `condition`."""
    normalize = _COLLATIONS.get(match.get("collation", default))
    if normalize is None:
        raise DavStatusError(403, condition, f"The collations are {', '.join(COLLATIONS)}.")
    return normalize


# More than any account has, and a number that each database can compare with.
_MAX_LIMIT = 10**9
#: Tests of a filter, at all levels. Each is made for each member; clients send up to ten.
MAX_TESTS = 50


def check_filter(element: Element | None, condition: str) -> None:
    """Raises DavStatusError with the `condition` for a filter of more than MAX_TESTS elements."""
    if element is not None and sum(1 for _ in islice(element.iter(), MAX_TESTS + 2)) > MAX_TESTS + 1:
        raise DavStatusError(403, condition, f"A filter has at most {MAX_TESTS} tests.")


def read_choice(element: Element, name: str, choices: Sequence[str], condition: str) -> str:
    """The value of an attribute that has only these; the first where it is missing. Raises DavStatusError with the
    `condition` for any other: to guess what it means would find other cards than those that are meant."""
    value = element.get(name, choices[0])
    if value not in choices:
        raise DavStatusError(403, condition, f"{name} is {' or '.join(choices)}.")
    return value


def read_limit(root: Element) -> int | None:
    """The limit of a report: of DAV: (RFC 5323, 5.17) or of CardDAV (RFC 6352, 10.6). Raises DavStatusError."""
    paths = (f"{name('limit')}/{name('nresults')}" for name in (dav, card))
    given = next((text.strip() for path in paths if (text := root.findtext(path)) is not None), None)
    if given is None:
        return None
    digits = given.lstrip("0") if given.isascii() and given.isdigit() else ""
    if not digits:
        raise DavStatusError(400, words="nresults is a whole number of at least 1.")
    return int(digits) if len(digits) < 10 else _MAX_LIMIT
