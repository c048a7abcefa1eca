"""Writes a card as text."""

from people.vcard.builder import PRODID, LineBuilder
from people.vcard.card import Card
from people.vcard.content_lines import ContentLine, fold, parse_line
from people.vcard.line_updates import update_lines
from people.vcard.parser import GENERATED_PROPERTIES, read_lines
from people.vcard.versions import convert_line

#: Properties that are placed at the beginning of a card when they are added.
LEADING_PROPERTIES = ("UID", "FN", "N")


def write_card(card: Card, version: str = "4.0", *, full_name: str | None = None, revised: str | None = None) -> str:
    """The card as text in `version`, folded, with CRLF. Lines keep their order; those of edited values are changed.

    `full_name` overrides FN; `revised` is the value of REV.
    """
    written = [fold(line.serialize()) for line in card_lines(card, version, full_name=full_name)]
    head = ["BEGIN:VCARD\r\n", f"VERSION:{version}\r\n", f"PRODID:{PRODID}\r\n"]
    return "".join([*head, *written, *([fold(f"REV:{revised}")] if revised else []), "END:VCARD\r\n"])


def card_lines(card: Card, version: str, *, full_name: str | None = None) -> list[ContentLine]:
    """The content lines of the card in `version`, without GENERATED_PROPERTIES."""
    lines = [parse_line(kept.text) for kept in card.lines]
    parsed = read_lines(lines, [], [bool(kept.fields) for kept in card.lines]) if lines else Card()
    update = update_lines(lines, parsed, card, LineBuilder(version, lines), full_name=full_name)
    rest = update.place_new_lines()
    first = [line for line in rest if line.name in LEADING_PROPERTIES]
    existing = (line for index, old in enumerate(lines) for line in update.replacements.get(index, [old]))
    written = (*first, *existing, *(line for line in rest if line.name not in LEADING_PROPERTIES))
    return [convert_line(line, version) for line in written if line.name and line.name not in GENERATED_PROPERTIES]
