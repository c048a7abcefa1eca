"""vCard: reads 2.1, 3.0 and 4.0 as phones and address books export them, writes 3.0 and 4.0. Pure: no Django.

How and why: docs/vcard.md.
"""

from people.vcard.assembling import read_card
from people.vcard.card import UNKNOWN_YEAR, Card, CardDate, CardResult, Entry, VCardError
from people.vcard.files import decode_card, read_cards
from people.vcard.lines import ContentLine, fold, parse_line, parse_lines
from people.vcard.writing import VERSIONS, card_lines, write_card

__all__ = [
    "UNKNOWN_YEAR",
    "VERSIONS",
    "Card",
    "CardDate",
    "CardResult",
    "ContentLine",
    "Entry",
    "VCardError",
    "card_lines",
    "decode_card",
    "fold",
    "parse_line",
    "parse_lines",
    "read_card",
    "read_cards",
    "write_card",
]
