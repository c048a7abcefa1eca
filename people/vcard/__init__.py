"""Reads vCard 2.1, 3.0 and 4.0 as phones and address books export them; writes 3.0 and 4.0. Uses no Django models.

See docs/vcard.md.
"""

from contacts_project.kernel.charsets import decode_card
from people.vcard.card import UNKNOWN_YEAR, Card, CardDate, CardLine, CardResult, Entry, VCardError
from people.vcard.content_lines import ContentLine, fold, parse_line, parse_lines
from people.vcard.files import read_cards, read_resource, split_cards
from people.vcard.line_merge import without_photo
from people.vcard.parser import CardText, read_card
from people.vcard.versions import VERSIONS
from people.vcard.writer import patch_card, patch_text, write_card

__all__ = [
    "UNKNOWN_YEAR",
    "VERSIONS",
    "Card",
    "CardDate",
    "CardLine",
    "CardResult",
    "CardText",
    "ContentLine",
    "Entry",
    "VCardError",
    "decode_card",
    "fold",
    "parse_line",
    "parse_lines",
    "patch_card",
    "patch_text",
    "read_card",
    "read_cards",
    "read_resource",
    "split_cards",
    "without_photo",
    "write_card",
]
