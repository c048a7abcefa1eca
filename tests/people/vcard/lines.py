"""Helpers for tests of the lines of a card."""

from dataclasses import replace

from people.vcard import Card, KeptLine
from people.vcard.content_lines import parse_line


def unmapped_lines(card: Card) -> tuple[str, ...]:
    """The lines that belong to no field, without the labels of lines that do."""
    held = {str(parse_line(kept.text).group).lower() for kept in card.lines if kept.fields}
    return tuple(kept.text for kept in card.lines if not kept.fields and not _is_label(kept, held))


def without_lines(card: Card) -> Card:
    """The card with its values, but without its lines."""
    return replace(card, lines=())


def kept_lines(*texts: str) -> tuple[KeptLine, ...]:
    return tuple(map(KeptLine, texts))


def _is_label(line: KeptLine, held: set[str]) -> bool:
    found = parse_line(line.text)
    return found.name == "X-ABLABEL" and str(found.group).lower() in held
