"""`address-data` (RFC 6352, 10.4): the text of cards in a report, whole or in part, in the version asked for."""

import logging
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from dav.cards.client_state import record_sent_texts
from dav.errors import DavError
from dav.properties import LISTED, SAMPLE, Request, names_of, sample_card
from dav.resources.book import BookResource, CardResource
from dav.xml import FAILED, MISSING, OK, Propstat, card, dav, path_text, response, status_response, tag, text
from people.vcard import VCardError

logger = logging.getLogger(__name__)

ADDRESS_DATA = card("address-data")


@dataclass(frozen=True)
class CardRequest:
    """The properties that a report asks for of each card. `version`: of the text, if that is among them."""

    names: Sequence[str]
    wants_text: bool = False
    version: str = "3.0"
    parts: Mapping[str, bool] = field(default_factory=dict)
    """The properties of a part of the text, as in dav.cards.texts.selected_lines; empty: the whole text."""

    @property
    def asked(self) -> Request:
        return Request(self.names)


def read_card_request(root: Element) -> CardRequest:
    """What a report asks for. Raises DavError (`supported-address-data`)."""
    prop = root.find(dav("prop"))
    names = names_of(prop) if prop is not None else [dav("getetag")]
    data = prop.find(ADDRESS_DATA) if prop is not None else None
    if data is None:
        return CardRequest(names)
    version = data.get("version", "3.0")
    if data.get("content-type", "text/vcard").partition(";")[0].strip().lower() not in {"text/vcard", "*/*"} or (
        version not in {"3.0", "4.0"}
    ):
        raise DavError(403, card("supported-address-data"), "Cards come as text/vcard in version 3.0 or 4.0.")
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
    element = _describe(sample_card(book), request, text(SAMPLE), is_minimal=is_minimal)
    return element.replace(path_text(sample_card(book).path), SAMPLE).split(SAMPLE)


def _describe_alone(member: CardResource, request: CardRequest, form: list[str] | None, *, is_minimal: bool) -> str:
    """The response element of a card. One that cannot be read has a status of its own: it must not hide the others."""
    try:
        shown = text(member.text(request.version, request.parts)) if request.wants_text else None
        if form is None or shown is None:
            return _describe(member, request, shown, is_minimal=is_minimal)
        if len(form) == 4:
            before, to_etag, to_text, after = form
            return f"{before}{path_text(member.path)}{to_etag}{member.etag}{to_text}{shown}{after}"
        before, to_text, after = form
        return f"{before}{path_text(member.path)}{to_text}{shown}{after}"
    except (VCardError, ValueError, zlib.error):
        logger.exception("card cannot be read", extra={"card": str(member.row.pk)})
        return status_response(member.path, FAILED)


def _describe(member: CardResource, request: CardRequest, shown: str | None, *, is_minimal: bool) -> str:
    found = Propstat()
    for name in request.names:
        content = member.content(name)
        if content is not None:
            found.add(OK, tag(name, content))
        else:
            found.add(MISSING, tag(name))
    if shown is not None:
        found.add(OK, tag(ADDRESS_DATA, shown))
    return response(member.path, found, is_minimal=is_minimal)
