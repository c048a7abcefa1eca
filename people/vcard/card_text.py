"""A card as text, with what is parsed of it: each part when it is first asked for, and once."""

from dataclasses import replace

from contacts_project.kernel.texts import Text, define_text
from people.vcard.card import Card, VCardError
from people.vcard.charsets import has_controls, remove_controls
from people.vcard.content_lines import ContentLine, parse_lines
from people.vcard.limits import CONTROLS_REMOVED, Limits, Remarks
from people.vcard.parser import inline_agents, normalize_properties, read_lines

_NAMELESS = define_text("nameless_card", "the card has no name, and nothing else to call it by")


class CardText:
    """The text of one card. What it returns is shared: nobody may change it."""

    __slots__ = ("_lines", "_parsed", "_properties", "_read", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines: list[ContentLine] | None = None
        self._properties: list[ContentLine] | None = None
        self._parsed: Card | None = None
        self._read: tuple[Card, tuple[Text, ...]] | None = None

    @property
    def lines(self) -> list[ContentLine]:
        """All lines, including BEGIN and END; those of a card nested in an AGENT property are one."""
        if self._lines is None:
            self._lines = inline_agents(parse_lines(self.text))
        return self._lines

    @property
    def properties(self) -> list[ContentLine]:
        """Those of the lines that are properties of the card (parser.normalize_properties)."""
        if self._properties is None:
            self._properties = normalize_properties(self.lines, [])
        return self._properties

    @property
    def parsed(self) -> Card:
        """The card with all its lines, as many as there are. It may have no name."""
        if self._parsed is None:
            self._parsed = read_lines(self.properties, [])
        return self._parsed

    @property
    def card(self) -> Card:
        """The card within the limits. Raises VCardError if it contains nothing that can serve as a name."""
        return self.read()[0]

    def read(self) -> tuple[Card, tuple[Text, ...]]:
        """The card, with warnings about what could not be shown. Raises VCardError."""
        if self._read is None:
            warnings = Remarks()
            if has_controls(self.text):
                warnings.append(CONTROLS_REMOVED)
                properties = normalize_properties(parse_lines(remove_controls(self.text)), warnings)
                parsed = read_lines(properties, warnings)
            else:
                self._properties = normalize_properties(self.lines, warnings)
                parsed = self._parsed = read_lines(self._properties, warnings)
            if not parsed.name:
                raise VCardError(_NAMELESS)
            card = replace(parsed, lines=Limits(warnings).limit_lines(parsed.lines))
            self._read = card, warnings.all_remarks()
        return self._read


def read_card(text: str) -> tuple[Card, tuple[Text, ...]]:
    """Parse a card. Returns it with warnings about what could not be shown.

    Raises VCardError if the card contains nothing that can serve as a name.
    """
    return CardText(text).read()
