"""`addressbook-multiget` (RFC 6352, 8.7): cards by their hrefs."""

from collections.abc import Iterator, Mapping
from itertools import chain
from xml.etree.ElementTree import Element

from dav.reports.address_data import CardRequest, describe_cards, read_card_request
from dav.resources.book import BookResource
from dav.resources.paths import is_card_name, plain_name, read_href
from dav.xml import MISSING, dav, status_response

_BATCH_SIZE = 200


def addressbook_multiget(book: BookResource, root: Element, *, is_minimal: bool) -> Iterator[str]:
    """A response for each href, in their order, 404 for one that is not there. Raises DavError.

    A card that is named several times, however its hrefs are spelled, is answered once, by the first of them: an
    answer is no larger than the cards of the book and the request together.
    """
    request = read_card_request(root)
    # By the card's name; an href that names none cannot be the same as one.
    named: dict[str, tuple[str, str | None]] = {}
    for element in root.findall(dav("href")):
        href = (element.text or "").strip()
        name = _name_in(book, href)
        named.setdefault(f"/{href}" if name is None else name, (href, name))
    hrefs = list(named.values())
    batches = (dict(hrefs[start : start + _BATCH_SIZE]) for start in range(0, len(hrefs), _BATCH_SIZE))
    return chain.from_iterable(_describe_batch(book, batch, request, is_minimal=is_minimal) for batch in batches)


def _describe_batch(
    book: BookResource, names: Mapping[str, str | None], request: CardRequest, *, is_minimal: bool
) -> Iterator[str]:
    rows = book.cards_of_names([name for name in names.values() if name], request.names)
    members = {member.row.name: member for member in book.card_resources(rows, request.names)}
    described = dict(
        zip(members, describe_cards(book, list(members.values()), request, is_minimal=is_minimal), strict=True)
    )
    for href, name in names.items():
        yield described.get(name or "") or status_response(href, MISSING)


def _name_in(book: BookResource, href: str) -> str | None:
    """The name of a card of this book, by its href."""
    if plain := plain_name(book.path, href):
        return plain
    place = read_href(href, book.device.hosts)
    name = place.card_name(book.device.owner.pk) if place else None
    return name if name and is_card_name(name) else None
