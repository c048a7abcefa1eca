"""Reads files of vCards. Each card has its own result, so that a card that cannot be read does not stop the others."""

import io
from collections.abc import Iterator

from people.vcard.card import CardResult, VCardError
from people.vcard.charsets import decode_card, join_surrogates
from people.vcard.content_lines import parse_line
from people.vcard.parser import read_card
from people.vcard.splitter import RawCard, Readable, split_cards

__all__ = ["decode_card", "read_cards"]


def read_cards(source: Readable | bytes | str, *, charset: str | None = None) -> Iterator[CardResult]:
    """Yield the result for each card of a file in order. Keeps one card in memory at a time.

    `charset` applies to lines that are not UTF-8 and have no CHARSET parameter.
    """
    if isinstance(source, str):
        source = join_surrogates(source).encode()
    stream: Readable = io.BytesIO(source) if isinstance(source, bytes) else source
    for index, raw in enumerate(split_cards(stream)):
        yield _read_raw_card(index, raw, charset)


def _read_raw_card(index: int, raw: RawCard, charset: str | None) -> CardResult:
    if raw.error:
        return CardResult(index=index, name="", error=raw.error)
    text = decode_card(raw.data, charset)
    try:
        card, warnings = read_card(text)
    except VCardError as error:
        return CardResult(index=index, name=_name_hint(text), error=str(error), text=text)
    if raw.warning:
        warnings = (raw.warning, *warnings)
    return CardResult(index=index, name=card.full_name, card=card, warnings=warnings, text=text)


def _name_hint(text: str) -> str:
    """The FN of a card that cannot be parsed, as written, if it is among the first lines; else an empty string."""
    for line in text[:4096].splitlines():
        found = parse_line(line)
        if found.name == "FN":
            return found.value.strip()[:100]
    return ""
