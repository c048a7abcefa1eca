"""Writes cards as vCard 4.0 (RFC 6350) or 3.0 (RFC 2426), which is what other programs read.

`card_lines` gives the content lines of each field, so that a write-back can patch single ones; `write_card`
puts them together. What has no property of its own travels in X- properties that `reading` knows.
"""

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from urllib.parse import quote

from people.vcard import values
from people.vcard.card import Card, CardDate, Entry
from people.vcard.labels import type_words, write_label
from people.vcard.lines import ContentLine, Params, fold, parse_line

PRODID = "-//Contact Network//EN"
VERSIONS = ("4.0", "3.0")

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
_DATE_LABELS = {
    "BIRTHDAY": "birthday",
    "ANNIVERSARY": "anniversary",
    "NAMEDAY": "Nameday",
    "MEMORIAL": "Memorial",
}


def write_card(card: Card, version: str = "4.0", *, full_name: str | None = None, revised: str | None = None) -> str:
    """The card as text with CRLF, folded. `full_name` is FN where it shall be another; `revised` is REV."""
    lines = [_line("VERSION", version), _line("PRODID", PRODID)]
    lines += [line for _, line in card_lines(card, version, full_name=full_name)]
    if revised:
        lines.append(_line("REV", revised))
    return "".join(["BEGIN:VCARD\r\n", *(fold(line.spelled()) for line in lines), "END:VCARD\r\n"])


def card_lines(card: Card, version: str = "4.0", *, full_name: str | None = None) -> Iterator[tuple[str, ContentLine]]:
    """(field of Card, line) for everything the card says, labels right behind the line they belong to."""
    writer = _Writer(version, card.extra)
    yield from writer.identity(card, full_name)
    for field, write in (
        ("phone_numbers", writer.telephone),
        ("emails", writer.email),
        ("addresses", writer.address),
        ("urls", writer.url),
        ("im_handles", writer.messenger),
        ("locations", writer.location),
    ):
        for entry in getattr(card, field):
            yield from ((field, line) for line in write(entry))
    yield from writer.custom_fields(card)
    yield from writer.dates(card)
    if card.photo:
        yield "photo", writer.photo(card.photo)
    if card.notes:
        yield "notes", _line("NOTE", values.escape(card.notes))
    if card.categories:
        yield "categories", _line("CATEGORIES", ",".join(map(values.escape, card.categories)))
    for spelled in card.extra:
        if line := in_version(spelled, version):
            yield "extra", line


class _Writer:
    """One card in one version; numbers the item groups above those that the extra lines use."""

    def __init__(self, version: str, extra: tuple[str, ...]) -> None:
        self.is_new = version == "4.0"
        self.group_number = max((_group_number(line) for line in extra), default=0)

    def identity(self, card: Card, full_name: str | None) -> Iterator[tuple[str, ContentLine]]:
        if card.uid:
            yield "uid", _line("UID", values.escape(card.uid))
        if card.is_group:
            yield "kind", _line("KIND" if self.is_new else "X-ADDRESSBOOKSERVER-KIND", "group")
            member = "MEMBER" if self.is_new else "X-ADDRESSBOOKSERVER-MEMBER"
            yield from (("members", _line(member, values.escape_uri(uid))) for uid in card.members)
        yield "name", _line("FN", values.escape(full_name or card.full_name))
        parts = (card.surname, card.name, card.middle_name, card.prefix, card.suffix)
        yield "name", _line("N", ";".join(values.escape(part or "") for part in parts))
        units = _units(card)
        organization = ";".join(values.escape(part) for part in (card.organization or "", *units))
        yield from _texts(
            ("second_last_name", "X-SECOND-LAST-NAME", values.escape(card.second_last_name or "")),
            ("display_name", "X-DISPLAY-NAME", values.escape(card.display_name or "")),
            ("nickname", "NICKNAME", values.escape(card.nickname or "")),
            ("organization", "ORG", organization),
            ("job_title", "TITLE", values.escape(card.job_title or "")),
            ("gender", "GENDER" if self.is_new else "X-GENDER", self._gender(card.gender or "")),
        )

    def _gender(self, gender: str) -> str:
        if not self.is_new or not gender or gender in {"M", "F", "O", "N", "U"}:
            return values.escape(gender)
        return f";{values.escape(gender)}"

    def telephone(self, entry: Entry) -> list[ContentLine]:
        return self._typed("TEL", values.escape(_text(entry, "number")), entry)

    def email(self, entry: Entry) -> list[ContentLine]:
        return self._typed("EMAIL", values.escape(_text(entry, "email")), entry)

    def url(self, entry: Entry) -> list[ContentLine]:
        return self._typed("URL", values.escape_uri(_text(entry, "url")), entry)

    def address(self, entry: Entry) -> list[ContentLine]:
        street = _text(entry, "streetLine1")
        if second := _text(entry, "streetLine2"):
            street = f"{street}\n{second}"
        keys = ("locality", "region", "postalCode", "country")
        parts = ("", "", street, *(_text(entry, key) for key in keys))
        return self._typed("ADR", ";".join(map(values.escape, parts)), entry)

    def messenger(self, entry: Entry) -> list[ContentLine]:
        protocol = _text(entry, "protocol")
        scheme = _SCHEMES.get(protocol.casefold(), "x-im")
        handle = quote(_text(entry, "handle"), safe="@/:+.,~!$*=?&#'()")
        return self._typed("IMPP", f"{scheme}:{handle}", entry, (("X-SERVICE-TYPE", (protocol,)),))

    def location(self, entry: Entry) -> list[ContentLine]:
        latitude, longitude = (format(Decimal(repr(entry[key])), "f") for key in ("latitude", "longitude"))
        value = f"geo:{latitude},{longitude}" if self.is_new else f"{latitude};{longitude}"
        label = _text(entry, "label")
        return self._typed("GEO", value, entry, (("X-LABEL", (label,)),) if label else ())

    def custom_fields(self, card: Card) -> Iterator[tuple[str, ContentLine]]:
        """All but the departments, which stand in ORG."""
        skipped = not _units(card)
        for entry in card.custom_fields:
            if not skipped and _is_department(entry):
                skipped = True
                continue
            parts = [_text(entry, "key"), _text(entry, "value"), _text(entry, "type")]
            parts = parts if parts[2] else parts[:2]
            yield "custom_fields", _line("X-CUSTOM-FIELD", ";".join(map(values.escape, parts)))

    def dates(self, card: Card) -> Iterator[tuple[str, ContentLine]]:
        if card.anniversary:
            name = "ANNIVERSARY" if self.is_new else "X-ANNIVERSARY"
            yield "anniversary", _line(name, self._date(card.anniversary)[1])
        if card.last_contact:
            yield "last_contact", _line("X-LAST-CONTACT", card.last_contact.isoformat())
        for day in card.important_dates:
            yield from (("important_dates", line) for line in self.important_date(day))

    def important_date(self, day: CardDate) -> list[ContentLine]:
        params, value = self._date(day.date, year_unknown=day.year_unknown)
        if day.type == "BIRTHDAY":
            return self._labelled("BDAY", value, params, day.title)
        if day.type:
            params = (*params, ("X-TYPE", (day.type,)))
        return self._labelled("X-ABDATE", value, params, day.title or _DATE_LABELS.get(day.type or "", "Other"))

    def _date(self, day: date, *, year_unknown: bool = False) -> tuple[Params, str]:
        """4.0 has a form without year; for 3.0 Apple's is the one that others read."""
        if not year_unknown:
            return (), day.strftime("%Y%m%d") if self.is_new else day.isoformat()
        if self.is_new:
            return (), f"--{day:%m%d}"
        return (("X-APPLE-OMIT-YEAR", ("1604",)),), f"1604-{day:%m-%d}"

    def photo(self, data: bytes) -> ContentLine:
        kind = values.image_type(data)
        if self.is_new:
            return _line("PHOTO", f"data:image/{kind.lower()};base64,{values.encode_base64(data)}")
        return _line("PHOTO", values.encode_base64(data), (("ENCODING", ("b",)), ("TYPE", (kind,))))

    def _typed(self, name: str, value: str, entry: Entry, params: Params = ()) -> list[ContentLine]:
        words, label = type_words(_text(entry, "type"))
        if words:
            params = (*params, ("TYPE", words if self.is_new else tuple(word.upper() for word in words)))
        return self._labelled(name, value, params, label)

    def _labelled(self, name: str, value: str, params: Params, label: str | None) -> list[ContentLine]:
        if not label:
            return [_line(name, value, params)]
        self.group_number += 1
        group = f"item{self.group_number}"
        text = values.escape(write_label(label))
        return [ContentLine(name, value, params, group), ContentLine("X-ABLabel", text, group=group)]


def _line(name: str, value: str, params: Params = ()) -> ContentLine:
    return ContentLine(name, value, params)


def _texts(*fields: tuple[str, str, str]) -> Iterator[tuple[str, ContentLine]]:
    return ((field, _line(name, value)) for field, name, value in fields if value)


def _text(entry: Entry, key: str) -> str:
    value = entry.get(key)
    return "" if value is None else str(value)


def _is_department(entry: Entry) -> bool:
    return entry.get("key") == "Department" and entry.get("type") is None


def _units(card: Card) -> list[str]:
    """Departments, which the reader takes from ORG and puts first among the custom fields."""
    if not card.organization or not card.custom_fields or not _is_department(card.custom_fields[0]):
        return []
    units = _text(card.custom_fields[0], "value").split("; ")
    return units if all(unit.strip() == unit != "" for unit in units) else []


def _group_number(line: str) -> int:
    group = line.partition(":")[0].partition(".")[0].lower()
    digits = group.removeprefix("item")
    return int(digits) if group != digits and digits.isascii() and digits.isdigit() and len(digits) < 7 else 0


def in_version(spelled: str, version: str) -> ContentLine | None:
    """A kept line as it stood, unless it is in vCard 2.1's own spelling, which later versions do not have."""
    line = parse_line(spelled)
    if not line.name:
        return None
    head = spelled.partition(":")[0]
    is_plain = all("=" in param for param in head.split(";")[1:]) or '"' in head
    if (
        is_plain
        and not line.param("CHARSET")
        and line.encoding != "quoted-printable"
        and not (line.encoding == "base64" and (version == "4.0" or line.first_param("ENCODING") != "b"))
    ):
        return line
    params = tuple(param for param in line.params if param[0] not in {"ENCODING", "CHARSET"})
    value = line.value
    if line.encoding == "quoted-printable":
        value = ";".join(map(values.escape, values.components(line, old=True)))
    elif line.encoding == "base64" and version == "4.0":
        value = f"data:;base64,{''.join(value.split())}"
    elif line.encoding == "base64":
        params, value = (*params, ("ENCODING", ("b",))), "".join(value.split())
    return ContentLine(line.name, value, params, line.group)
