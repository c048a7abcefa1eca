"""`address-data` (RFC 6352, 10.4): the text of cards in a report, whole or in part, in the version asked for."""

import logging
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from xml.etree.ElementTree import Element

from dav.cards.client_state import record_sent_texts
from dav.preconditions import DavStatusError
from dav.properties import LISTED, SAMPLE, PropertyRequest, describe, names_of, sample_card
from dav.resources.book import BookResource, CardResource
from dav.resources.uris import is_card_name, plain_name, read_href
from dav.xml import FAILED, MISSING, card, dav, path_text, status_response, tag, text
from people.vcard import VCardError

logger = logging.getLogger(__name__)

ADDRESS_DATA = card("address-data")
_BATCH_SIZE = 200


@dataclass(frozen=True)
class CardRequest:
    """The properties that a report asks for of each card. `version`: of the text, if that is among them."""

    names: Sequence[str]
    wants_text: bool = False
    version: str = "3.0"
    parts: Mapping[str, bool] = field(default_factory=dict)
    """The properties of a part of the text, as in dav.cards.texts.selected_lines; empty: the whole text."""

    @property
    def asked(self) -> PropertyRequest:
        return PropertyRequest(self.names)


def read_card_request(root: Element) -> CardRequest:
    """What a report asks for. Raises DavStatusError (`supported-address-data`)."""
    prop = root.find(dav("prop"))
    names = names_of(prop) if prop is not None else [dav("getetag")]
    data = prop.find(ADDRESS_DATA) if prop is not None else None
    if data is None:
        return CardRequest(names)
    version = data.get("version", "3.0")
    if data.get("content-type", "text/vcard").partition(";")[0].strip().lower() not in {"text/vcard", "*/*"} or (
        version not in {"3.0", "4.0"}
    ):
        raise DavStatusError(403, card("supported-address-data"), "Cards come as text/vcard in version 3.0 or 4.0.")
    elements = data.findall(card("prop"))
    parts = {element.get("name", "").upper(): element.get("novalue") == "yes" for element in elements}
    return CardRequest([name for name in names if name != ADDRESS_DATA], True, version, parts)


def describe_cards(
    book: BookResource, cards: Sequence[CardResource], request: CardRequest, *, is_minimal: bool
) -> list[str]:
    """The response elements of cards, whose rows have their texts if the request wants them.

    A whole text is recorded as what the device has.
    """
    if request.wants_text and not request.parts:
        record_sent_texts(book.device, [(member.row, member.stored_etag) for member in cards])
    has_form = request.wants_text and LISTED.issuperset(request.names)
    form = _form_of(book, request, is_minimal=is_minimal) if has_form and cards else None
    return [_describe_alone(member, request, form, is_minimal=is_minimal) for member in cards]


def _form_of(book: BookResource, request: CardRequest, *, is_minimal: bool) -> list[str]:
    """What elements of cards have in common that differ in path, ETag (if that is asked for) and text alone: what is
    before, between and behind these. To build each element anew takes as long as all else of a first fetch."""
    element = describe(sample_card(book), request.asked, is_minimal=is_minimal, data=tag(ADDRESS_DATA, text(SAMPLE)))
    return element.replace(path_text(sample_card(book).path), SAMPLE).split(SAMPLE)


def _describe_alone(member: CardResource, request: CardRequest, form: list[str] | None, *, is_minimal: bool) -> str:
    """The response element of a card. One that cannot be read has a status of its own: it must not hide the others."""
    try:
        shown = text(member.text(request.version, request.parts)) if request.wants_text else None
        if form is None or shown is None:
            data = "" if shown is None else tag(ADDRESS_DATA, shown)
            return describe(member, request.asked, is_minimal=is_minimal, data=data)
        if len(form) == 4:
            before, to_etag, to_text, after = form
            return f"{before}{path_text(member.path)}{to_etag}{member.etag}{to_text}{shown}{after}"
        before, to_text, after = form
        return f"{before}{path_text(member.path)}{to_text}{shown}{after}"
    except (VCardError, ValueError, zlib.error):
        logger.exception("card cannot be read", extra={"card": str(member.row.pk)})
        return status_response(member.path, FAILED)


def addressbook_multiget(book: BookResource, root: Element, *, is_minimal: bool) -> Iterator[str]:
    """A response for each href, in their order, 404 for one that is not there. Raises DavStatusError.

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
