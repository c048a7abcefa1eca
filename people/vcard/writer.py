"""Cards as text: written whole for others, or patched where a server's card differs from the person."""

from people.vcard.builder import PRODID, LineBuilder
from people.vcard.card import Card
from people.vcard.content_lines import ContentLine, fold, parse_line
from people.vcard.parser import GENERATED, read_lines
from people.vcard.revision import revise
from people.vcard.versions import in_version

#: What stands at the beginning of a card, whenever it was added.
FIRST = ("UID", "FN", "N")


def write_card(card: Card, version: str = "4.0", *, full_name: str | None = None, revised: str | None = None) -> str:
    """The card as text with CRLF, folded: its lines where they stood, as the card is now, in `version`.

    `full_name` is FN where it shall be another; `revised` is REV.
    """
    written = [fold(line.spelled()) for line in card_lines(card, version, full_name=full_name)]
    head = ["BEGIN:VCARD\r\n", f"VERSION:{version}\r\n", f"PRODID:{PRODID}\r\n"]
    return "".join([*head, *written, *([fold(f"REV:{revised}")] if revised else []), "END:VCARD\r\n"])


def card_lines(card: Card, version: str, *, full_name: str | None = None) -> list[ContentLine]:
    """The properties of the card, without those that are made anew for every card that is written."""
    lines = [parse_line(kept.text) for kept in card.lines]
    said = read_lines(lines, [], [bool(kept.fields) for kept in card.lines]) if lines else Card()
    revision = revise(lines, said, card, LineBuilder(version, lines), full_name=full_name)
    rest = revision.place_new_lines()
    first = [line for line in rest if line.name in FIRST]
    standing = (line for place, own in enumerate(lines) for line in revision.changed.get(place, [own]))
    written = (*first, *standing, *(line for line in rest if line.name not in FIRST))
    return [in_version(line, version) for line in written if line.name and line.name not in GENERATED]
