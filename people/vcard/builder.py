"""Builds new content lines for the values of a card, in vCard 4.0 (RFC 6350) or 3.0 (RFC 2426).

Values without a standard property are written as X- properties, which `people.vcard.readers` can read.
"""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from urllib.parse import quote

from people import field_table
from people.vcard import values
from people.vcard.card import DATE_FIELDS, FLAG_FIELDS, Card, CardDate, Entry
from people.vcard.content_lines import ContentLine, Params
from people.vcard.labels import write_label, write_type

PRODID = "-//Contact Network//EN"

_IMPP_SCHEMES = {
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
_PROPERTIES_30 = {field.card: field.old_property or field.card_property for field in field_table.CARD_SCALARS}
_DATE_LABELS = {
    "BIRTHDAY": "birthday",
    "ANNIVERSARY": "anniversary",
    "NAMEDAY": "Nameday",
    "MEMORIAL": "Memorial",
}


class LineBuilder:
    """Builds lines for one card in one version. New item groups get numbers above those that `lines` already use."""

    def __init__(self, version: str, lines: Iterable[ContentLine] = ()) -> None:
        self.is_v4 = version == "4.0"
        self.group_number = max((_group_number(line.group) for line in lines if line.group), default=0)

    def scalar_lines(self, field: str, card: Card) -> list[ContentLine]:
        """The line of a single-valued field; an empty list if the field is empty."""
        value = getattr(card, field)
        if not value:
            return []
        name = (_PROPERTIES if self.is_v4 else _PROPERTIES_30)[field]
        # A property of our own, which has the same format in both versions.
        if field == "last_contact":
            return [ContentLine(name, value.isoformat())]
        if field in FLAG_FIELDS:
            return [ContentLine(name, "1")]
        if field in DATE_FIELDS:
            return [ContentLine(name, self.date_value(value)[1])]
        return [ContentLine(name, self.gender_value(value) if field == "gender" else values.escape(value))]

    def name_line(self, card: Card) -> ContentLine:
        parts = (card.surname, card.name, card.middle_name, card.prefix, card.suffix)
        return ContentLine("N", ";".join(values.escape(part or "") for part in parts))

    def gender_value(self, gender: str) -> str:
        # GENDER in 4.0 has two components, a letter and free text; 3.0 has only X-GENDER with a text.
        if not self.is_v4 or not gender or gender in {"M", "F", "O", "N", "U"}:
            return values.escape(gender)
        return f";{values.escape(gender)}"

    def entry_lines(self, field: str, entry: Entry) -> list[ContentLine]:
        """The line of an entry of a multi-value field, and the line of its label if it needs one."""
        if field == "custom_fields":
            parts = [entry_text(entry, "key"), entry_text(entry, "value"), entry_text(entry, "type")]
            return [
                ContentLine(
                    "X-CUSTOM-FIELD",
                    ";".join(values.escape(values.nest(part)) for part in (parts if parts[2] else parts[:2])),
                )
            ]
        if field == "im_handles":
            return self._impp_lines(entry)
        if field == "locations":
            label = entry_text(entry, "label")
            return self._typed_lines("GEO", self.geo_value(entry), entry, (("X-LABEL", (label,)),) if label else ())
        if field == "addresses":
            return self._typed_lines("ADR", self._address_value(entry), entry)
        if field == "urls":
            return self._typed_lines("URL", values.escape_uri(entry_text(entry, "url")), entry)
        name, key = ("TEL", "number") if field == "phone_numbers" else ("EMAIL", "email")
        return self._typed_lines(name, values.escape(entry_text(entry, key)), entry)

    def _address_value(self, entry: Entry) -> str:
        street = entry_text(entry, "streetLine1")
        if second := entry_text(entry, "streetLine2"):
            street = f"{street}\n{second}"
        keys = ("locality", "region", "postalCode", "country")
        return ";".join(map(values.escape, ("", "", street, *(entry_text(entry, key) for key in keys))))

    def _impp_lines(self, entry: Entry) -> list[ContentLine]:
        protocol = entry_text(entry, "protocol")
        scheme = _IMPP_SCHEMES.get(protocol.casefold(), "x-im")
        service = (("X-SERVICE-TYPE", (protocol,)),)
        return self._typed_lines("IMPP", f"{scheme}:{quote_handle(entry)}", entry, service)

    def geo_value(self, entry: Entry) -> str:
        # Decimal avoids the exponent of small floats (1e-05), which no version allows.
        latitude, longitude = (format(Decimal(repr(entry[key])), "f") for key in ("latitude", "longitude"))
        return f"geo:{latitude},{longitude}" if self.is_v4 else f"{latitude};{longitude}"

    def important_date_lines(self, day: CardDate) -> list[ContentLine]:
        params, value = self.date_value(day.date, year_unknown=day.year_unknown)
        if day.type == "BIRTHDAY":
            return self.with_label(ContentLine("BDAY", value, params), day.title)
        if day.type:
            params = (*params, ("X-TYPE", (day.type,)))
        label = day.title or _DATE_LABELS.get(day.type or "", "Other")
        return self.with_label(ContentLine("X-ABDATE", value, params), label)

    def date_value(self, day: date, *, year_unknown: bool = False) -> tuple[Params, str]:
        """The parameters and value of a date. Without a year, 3.0 uses Apple's form, the only one others read."""
        if not year_unknown:
            return (), day.strftime("%Y%m%d") if self.is_v4 else day.isoformat()
        if self.is_v4:
            return (), f"--{day:%m%d}"
        return (("X-APPLE-OMIT-YEAR", ("1604",)),), f"1604-{day:%m-%d}"

    def photo_line(self, data: bytes, params: Params = ()) -> ContentLine:
        kind = values.image_type(data)
        packed = values.encode_base64(data)
        if self.is_v4:
            return ContentLine("PHOTO", f"data:image/{kind.lower()};base64,{packed}", params)
        return ContentLine("PHOTO", packed, (("ENCODING", ("b",)), ("TYPE", (kind,)), *params))

    def _typed_lines(self, name: str, value: str, entry: Entry, params: Params = ()) -> list[ContentLine]:
        words, label = write_type(entry_text(entry, "type"))
        if words:
            params = (*params, ("TYPE", self.type_values(words)))
        return self.with_label(ContentLine(name, value, params), label)

    def type_values(self, words: tuple[str, ...]) -> tuple[str, ...]:
        return words if self.is_v4 else tuple(word.upper() for word in words)

    def with_label(self, line: ContentLine, label: str | None) -> list[ContentLine]:
        """The line in an item group with an X-ABLabel. A new group is used if the line is in none."""
        if not label:
            return [line]
        group = line.group or self.new_group()
        return [line.in_group(group), ContentLine("X-ABLabel", values.escape(write_label(label)), group=group)]

    def new_group(self) -> str:
        self.group_number += 1
        return f"item{self.group_number}"


def quote_handle(entry: Entry) -> str:
    """The handle of a messenger, quoted for the part of a URI after the scheme."""
    quoted = quote(entry_text(entry, "handle"), safe="@/:+.~!$*=?&#'()")
    # After a scheme "//" starts an authority (RFC 3986, section 3), which readers, including ours, remove.
    return f"%2F%2F{quoted[2:]}" if quoted.startswith("//") else quoted


def entry_text(entry: Entry, key: str) -> str:
    value = entry.get(key)
    return "" if value is None else str(value)


def _group_number(group: str) -> int:
    """The number of an item group (`item3`), 0 for other groups. A longer number of a hostile card is ignored."""
    digits = group.lower().removeprefix("item")
    return int(digits) if len(digits) < len(group) and digits.isascii() and digits.isdigit() and len(digits) < 7 else 0
