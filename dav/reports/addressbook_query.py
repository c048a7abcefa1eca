"""`addressbook-query` (RFC 6352, 8.6 and 10.5): the cards that match a filter."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from xml.etree.ElementTree import Element

from dav.cards.texts import unpack
from dav.filters import check_filter, read_choice, read_collation, read_limit
from dav.models import CardRow
from dav.preconditions import DavStatusError
from dav.reports.address_data import describe_cards, read_card_request
from dav.resources.book import BookResource
from dav.xml import INSUFFICIENT_STORAGE, card, dav, status_response, tag
from people.find import has_number, is_searchable_number, parse_number
from people.vcard import ContentLine, parse_lines
from people.vcard.values import unescape

_BATCH_SIZE = 200
Test = Callable[[str], bool]
# The first is the default (10.5.4).
_COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "contains": lambda value, wanted: wanted in value,
    "equals": lambda value, wanted: value == wanted,
    "starts-with": lambda value, wanted: value.startswith(wanted),
    "ends-with": lambda value, wanted: value.endswith(wanted),
}


@dataclass(frozen=True)
class Filter:
    """A filter over the lines of a card: all or any of the tests of its properties; none: every card."""

    tests: Sequence[Callable[[Sequence[ContentLine]], bool]]
    needs_all: bool

    def matches(self, lines: Sequence[ContentLine]) -> bool:
        if not self.tests:
            return True
        results = (test(lines) for test in self.tests)
        return all(results) if self.needs_all else any(results)


def addressbook_query(book: BookResource, root: Element, *, is_minimal: bool) -> Iterator[str]:
    """The matching cards; with a limit (10.6) 507 on the collection where it cut. Raises DavStatusError."""
    request, chosen = read_card_request(root), read_filter(root.find(card("filter")))
    limit = read_limit(root)
    rows = chain.from_iterable(book.batches(book.cards(), _BATCH_SIZE, request.names))
    matching = (row for row in rows if _matches(chosen, row))

    def responses() -> Iterator[str]:
        shown = 0
        while batch := list(islice(matching, _BATCH_SIZE if limit is None else min(_BATCH_SIZE, limit - shown + 1))):
            kept = batch if limit is None else batch[: limit - shown]
            shown += len(kept)
            yield from describe_cards(book, book.card_resources(kept, request.names), request, is_minimal=is_minimal)
            if len(kept) < len(batch):
                error = tag(dav("number-of-matches-within-limits"))
                yield status_response(book.path, INSUFFICIENT_STORAGE, error)
                return

    return responses()


def _matches(chosen: Filter, row: CardRow) -> bool:
    """Whether the card matches. One that cannot be read does not."""
    try:
        return chosen.matches(parse_lines(unpack(row.text)))
    except (ValueError, zlib.error):
        return False


def read_filter(element: Element | None) -> Filter:
    """Raises DavStatusError (`supported-filter`, `supported-collation`)."""
    check_filter(element, card("supported-filter"))
    if element is None:
        return Filter((), needs_all=True)
    tests = [_read_prop_filter(inner) for inner in element.findall(card("prop-filter"))]
    return Filter(tests, needs_all=_needs_all(element))


def _needs_all(element: Element) -> bool:
    return read_choice(element, "test", ("anyof", "allof"), card("supported-filter")) == "allof"


def _read_prop_filter(element: Element) -> Callable[[Sequence[ContentLine]], bool]:
    group, _, name = element.get("name", "").upper().rpartition(".")
    if not name:
        raise DavStatusError(403, card("supported-filter"), "A prop-filter has the name of a property.")
    is_absent = element.find(card("is-not-defined")) is not None
    read = _read_number_match if name == "TEL" else _read_text_match
    tests = [_of_value(read(inner)) for inner in element.findall(card("text-match"))]
    tests += [_read_param_filter(inner) for inner in element.findall(card("param-filter"))]
    combine = all if _needs_all(element) else any

    def test(lines: Sequence[ContentLine]) -> bool:
        found = [line for line in lines if line.name == name and (not group or (line.group or "").upper() == group)]
        if is_absent:
            return not found
        if not tests:
            return bool(found)
        # Both kinds of tests are of one and the same property: a number of home that contains 99, not a number of home
        # beside one that contains 99.
        return any(combine(matches(line) for matches in tests) for line in found)

    return test


def _of_value(test: Test) -> Callable[[ContentLine], bool]:
    return lambda line: test(unescape(line.value))


def _read_param_filter(element: Element) -> Callable[[ContentLine], bool]:
    name = element.get("name", "").upper()
    if not name:
        raise DavStatusError(403, card("supported-filter"), "A param-filter has the name of a parameter.")
    is_absent = element.find(card("is-not-defined")) is not None
    match = element.find(card("text-match"))
    test = _read_text_match(match) if match is not None else None

    def matches(line: ContentLine) -> bool:
        values = line.types if name == "TYPE" else line.param(name)
        if is_absent:
            return not values
        return bool(values) and (test is None or any(map(test, values)))

    return matches


def _read_text_match(element: Element) -> Test:
    """RFC 6352, 10.5.4."""
    normalize = read_collation(element, default="i;unicode-casemap", condition=card("supported-collation"))
    compare = _COMPARISONS[read_choice(element, "match-type", tuple(_COMPARISONS), card("supported-filter"))]
    negation = read_choice(element, "negate-condition", ("no", "yes"), card("supported-filter"))
    wanted, is_negated = normalize(element.text or ""), negation == "yes"
    return lambda value: compare(normalize(value), wanted) != is_negated


def _read_number_match(element: Element) -> Test:
    """A number is contained in any of its spellings: a phone that looks for the one that calls knows one of them."""
    matches, text = _read_text_match(element), element.text or ""
    is_contained = element.get("match-type", "contains") == "contains"
    number = parse_number(text) if is_contained and is_searchable_number(text) else None
    if number is None:
        return matches
    if element.get("negate-condition", "no") == "yes":
        return lambda value: matches(value) and not has_number(value, number.digits)
    return lambda value: matches(value) or has_number(value, number.digits)
