"""Excerpts of texts: the place where most terms of a query stand together."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from people.find import Term
from people.lookup import words_of
from people.scripts import CJK_RANGES

MAX_EXCERPT_LENGTH: Final = 120
_ELLIPSIS: Final = "\u2026"
# A text is cut at white space, and between characters of scripts without spaces. Whatever it is, no part is longer than
# an excerpt.
_PART = re.compile(rf"[{CJK_RANGES}][^\w\s]{{0,9}}\s{{0,9}}|[^\s{CJK_RANGES}]{{1,60}}\s{{0,9}}|\s{{1,60}}")
_PIECE_LENGTH: Final = 30


class Excerpt(NamedTuple):
    """A place of a text, and how many terms of the query stand there."""

    terms: int
    text: str


def find_excerpt(text: str, terms: Sequence[Term]) -> Excerpt:
    """The first place with the most terms; the beginning of a text in which no term is found."""
    bounds = [0, *_piece_ends(text)]
    found = [_terms_in(text[start:end], terms) for start, end in pairwise(bounds)]
    # Two pieces together, since the cut may be between two words of the query.
    together = [one | other if one else one for one, other in zip(found, [*found[1:], frozenset[int]()], strict=True)]
    counts = [len(one) for one in together]
    most = max(counts, default=0)
    return Excerpt(most, _cut(text, bounds, counts.index(most) if counts else 0))


def _piece_ends(text: str) -> list[int]:
    """Where the text may be cut: about every thirty characters."""
    ends: list[int] = []
    for part in _PART.finditer(text):
        if ends and part.end() - (ends[-2] if len(ends) > 1 else 0) <= _PIECE_LENGTH:
            ends[-1] = part.end()
        else:
            ends.append(part.end())
    return ends


def _terms_in(piece: str, terms: Sequence[Term]) -> frozenset[int]:
    words, plain = words_of(piece), piece.lower()
    return frozenset(
        place
        for place, term in enumerate(terms)
        if (term.word and any(word.startswith(term.word) for word in words)) or (term.email and term.email in plain)
    )


def _cut(text: str, bounds: Sequence[int], piece: int) -> str:
    """The piece, with as many others behind and before it as an excerpt holds."""
    if len(text) <= MAX_EXCERPT_LENGTH:
        return text.strip()
    first, last, longest = piece, piece + 1, MAX_EXCERPT_LENGTH - 2 * len(_ELLIPSIS)
    while True:
        before = first, last
        if last + 1 < len(bounds) and bounds[last + 1] - bounds[first] <= longest:
            last += 1
        if first and bounds[last] - bounds[first - 1] <= longest:
            first -= 1
        if (first, last) == before:
            break
    begin = _ELLIPSIS if first else ""
    end = _ELLIPSIS if last + 1 < len(bounds) else ""
    return begin + text[bounds[first] : bounds[last]].strip() + end
