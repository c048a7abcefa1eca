"""The collations of text-match (RFC 4790, 9.2 and 9.3; RFC 5051), for cards and calendars alike."""

import string
from collections.abc import Callable
from xml.etree.ElementTree import Element

from contacts_project.kernel.text_forms import case_key
from dav.errors import DavError

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
    """The function that makes equal what a text-match compares as equal. Raises DavError with the `condition`."""
    normalize = _COLLATIONS.get(match.get("collation", default))
    if normalize is None:
        raise DavError(403, condition, f"The collations are {', '.join(COLLATIONS)}.")
    return normalize
