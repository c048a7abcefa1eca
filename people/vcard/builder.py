"""New content lines for what a card says, as vCard 4.0 (RFC 6350) or 3.0 (RFC 2426).

What has no property of its own travels in X- properties that the readers know.
"""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from urllib.parse import quote

from people import field_table
from people.vcard import values
from people.vcard.card import DATES, Card, CardDate, Entry
from people.vcard.content_lines import ContentLine, Params
from people.vcard.labels import type_words, write_label

PRODID = "-//Contact Network//EN"

_SCHEMES = {
    "aim": "aim",
    "google-talk": "xmpp",
    "icq": "icq",
    "jabber": "xmpp",
    "matrix": "matrix",
    "msn": "msnim",
    "qq": "qq",
    "signal": "sgnl",
    "sip": "sip",
    "skype": "skype",
    "telegram": "tg",
    "xmpp": "xmpp",
    "yahoo": "ymsgr",
}
_PROPERTIES = {field.card: field.card_property for field in field_table.CARD_SCALARS}
_OLD_PROPERTIES = {field.card: field.old_property or field.card_property for field in field_table.CARD_SCALARS}
_DATE_LABELS = {
    "BIRTHDAY": "birthday",
    "ANNIVERSARY": "anniversary",
    "NAMEDAY": "Nameday",
    "MEMORIAL": "Memorial",
}


class LineBuilder:
    """Lines of one card in one version; item groups are numbered above those of the `lines` that are there."""

    def __init__(self, version: str, lines: Iterable[ContentLine] = ()) -> None:
        self.is_new = version == "4.0"
        self.group_number = max((_group_number(line.group) for line in lines if line.group), default=0)

    def scalar(self, field: str, card: Card) -> list[ContentLine]:
        """The line of a single-valued field, none where it is empty."""
        value = getattr(card, field)
        if not value:
            return []
        name = (_PROPERTIES if self.is_new else _OLD_PROPERTIES)[field]
        if field == "last_contact":
            return [ContentLine(name, value.isoformat())]
        if field in DATES:
            return [ContentLine(name, self.date(value)[1])]
        return [ContentLine(name, self.gender(value) if field == "gender" else values.escape(value))]

    def name(self, card: Card) -> ContentLine:
        parts = (card.surname, card.name, card.middle_name, card.prefix, card.suffix)
        return ContentLine("N", ";".join(values.escape(part or "") for part in parts))

    def gender(self, gender: str) -> str:
        if not self.is_new or not gender or gender in {"M", "F", "O", "N", "U"}:
            return values.escape(gender)
        return f";{values.escape(gender)}"

    def entry(self, field: str, entry: Entry) -> list[ContentLine]:
        """The line of an entry of a multi-value field, with its label."""
        if field == "custom_fields":
            parts = [text_of(entry, "key"), text_of(entry, "value"), text_of(entry, "type")]
            return [ContentLine("X-CUSTOM-FIELD", ";".join(map(values.escape, parts if parts[2] else parts[:2])))]
        if field == "im_handles":
            return self._messenger(entry)
        if field == "locations":
            label = text_of(entry, "label")
            return self._typed("GEO", self.coordinates(entry), entry, (("X-LABEL", (label,)),) if label else ())
        if field == "addresses":
            return self._typed("ADR", self._address(entry), entry)
        if field == "urls":
            return self._typed("URL", values.escape_uri(text_of(entry, "url")), entry)
        name, key = ("TEL", "number") if field == "phone_numbers" else ("EMAIL", "email")
        return self._typed(name, values.escape(text_of(entry, key)), entry)

    def _address(self, entry: Entry) -> str:
        street = text_of(entry, "streetLine1")
        if second := text_of(entry, "streetLine2"):
            street = f"{street}\n{second}"
        keys = ("locality", "region", "postalCode", "country")
        return ";".join(map(values.escape, ("", "", street, *(text_of(entry, key) for key in keys))))

    def _messenger(self, entry: Entry) -> list[ContentLine]:
        protocol = text_of(entry, "protocol")
        scheme = _SCHEMES.get(protocol.casefold(), "x-im")
        service = (("X-SERVICE-TYPE", (protocol,)),)
        return self._typed("IMPP", f"{scheme}:{quoted_handle(entry)}", entry, service)

    def coordinates(self, entry: Entry) -> str:
        latitude, longitude = (format(Decimal(repr(entry[key])), "f") for key in ("latitude", "longitude"))
        return f"geo:{latitude},{longitude}" if self.is_new else f"{latitude};{longitude}"

    def important_date(self, day: CardDate) -> list[ContentLine]:
        params, value = self.date(day.date, year_unknown=day.year_unknown)
        if day.type == "BIRTHDAY":
            return self.labelled(ContentLine("BDAY", value, params), day.title)
        if day.type:
            params = (*params, ("X-TYPE", (day.type,)))
        label = day.title or _DATE_LABELS.get(day.type or "", "Other")
        return self.labelled(ContentLine("X-ABDATE", value, params), label)

    def date(self, day: date, *, year_unknown: bool = False) -> tuple[Params, str]:
        """4.0 has a form without year; for 3.0 Apple's is the one that others read."""
        if not year_unknown:
            return (), day.strftime("%Y%m%d") if self.is_new else day.isoformat()
        if self.is_new:
            return (), f"--{day:%m%d}"
        return (("X-APPLE-OMIT-YEAR", ("1604",)),), f"1604-{day:%m-%d}"

    def photo(self, data: bytes, params: Params = ()) -> ContentLine:
        kind = values.image_type(data)
        packed = values.encode_base64(data)
        if self.is_new:
            return ContentLine("PHOTO", f"data:image/{kind.lower()};base64,{packed}", params)
        return ContentLine("PHOTO", packed, (("ENCODING", ("b",)), ("TYPE", (kind,)), *params))

    def _typed(self, name: str, value: str, entry: Entry, params: Params = ()) -> list[ContentLine]:
        words, label = type_words(text_of(entry, "type"))
        if words:
            params = (*params, ("TYPE", self.words(words)))
        return self.labelled(ContentLine(name, value, params), label)

    def words(self, words: tuple[str, ...]) -> tuple[str, ...]:
        return words if self.is_new else tuple(word.upper() for word in words)

    def labelled(self, line: ContentLine, label: str | None) -> list[ContentLine]:
        """The line in an item group with its label, a new group if it is in none."""
        if not label:
            return [line]
        group = line.group or self.new_group()
        return [line.in_group(group), ContentLine("X-ABLabel", values.escape(write_label(label)), group=group)]

    def new_group(self) -> str:
        self.group_number += 1
        return f"item{self.group_number}"


def quoted_handle(entry: Entry) -> str:
    """The handle of a messenger as the part of a URI behind the scheme."""
    quoted = quote(text_of(entry, "handle"), safe="@/:+.,~!$*=?&#'()")
    # Behind a scheme "//" starts an authority (RFC 3986, section 3): readers, ours too, take it off.
    return f"%2F%2F{quoted[2:]}" if quoted.startswith("//") else quoted


def text_of(entry: Entry, key: str) -> str:
    value = entry.get(key)
    return "" if value is None else str(value)


def _group_number(group: str) -> int:
    digits = group.lower().removeprefix("item")
    return int(digits) if len(digits) < len(group) and digits.isascii() and digits.isdigit() and len(digits) < 7 else 0
