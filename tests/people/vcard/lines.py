"""Helpers that build and read cards, and select their lines."""

from dataclasses import replace
from typing import Any

from people.vcard import Card, CardLine, CardResult, read_cards
from people.vcard.content_lines import parse_line


def card_text(*lines: str, version: str = "3.0") -> str:
    return "\r\n".join(["BEGIN:VCARD", f"VERSION:{version}", *lines, "END:VCARD", ""])


def read_result(*lines: str, version: str = "3.0") -> CardResult:
    """The result of reading one card with these lines."""
    [result] = read_cards(card_text(*lines, version=version))
    return result


def read_card(*lines: str, version: str = "3.0") -> Card:
    """The card with these lines, which must be readable."""
    result = read_result(*lines, version=version)
    assert result.card is not None, result.error
    return result.card


def unmapped_lines(card: Card) -> tuple[str, ...]:
    """The lines that belong to no field, without the labels of lines that do."""
    held = {str(parse_line(kept.text).group).lower() for kept in card.lines if kept.fields}
    return tuple(kept.text for kept in card.lines if not kept.fields and not _is_label(kept, held))


def without_lines(card: Card) -> Card:
    """The card with its values, but without its lines."""
    return replace(card, lines=())


def replace_entry(card: Card, field: str, old: Any, new: Any) -> Card:
    """The card with the entry `old` replaced by `new`, as after an edit; None removes it."""
    entries = tuple(new if entry is old else entry for entry in getattr(card, field))
    lines = tuple(
        CardLine(kept.text, kept.fields, new) if field in kept.fields and kept.entry == old else kept
        for kept in card.lines
    )
    changes: dict[str, Any] = {field: tuple(entry for entry in entries if entry is not None), "lines": lines}
    return replace(card, **changes)


def card_lines(*texts: str) -> tuple[CardLine, ...]:
    return tuple(map(CardLine, texts))


def _is_label(line: CardLine, held: set[str]) -> bool:
    found = parse_line(line.text)
    return found.name == "X-ABLABEL" and str(found.group).lower() in held
