"""Reads single content lines, with one reader for each property. Lines without a reader are kept but set no field."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from contacts_project.kernel.texts import Text, define_text
from people import field_table
from people.field_table import OTHER
from people.vcard import values
from people.vcard.card import CardDate
from people.vcard.content_lines import ContentLine
from people.vcard.labels import read_label, read_type
from people.vcard.limits import date_text, field_text

#: The name of a field of Card, or of one that the parser handles itself (`n`, `fn`, `kind` ...), and its value.
FieldValue = tuple[str, object]
_TRUE_WORDS = frozenset({"1", "true", "yes"})
_NO_BASE64 = define_text("photo_not_base64", "the photo is not valid base64; the line is kept as it is")
_NO_COORDINATES = define_text("geo_without_coordinates", "GEO holds no coordinates; the line is kept as it is")
_GEO_VALUE = re.compile(
    # Not "48,2;16,3", whose decimal commas would make it another place.
    r"(?:geo:)?(?![^,;]*,[^,;]*; ?[^,;]*,[^,;]*$)"
    r"([+-]?[0-9]{1,3}(?:[.][0-9]{0,30})?) ?[,;] ?([+-]?[0-9]{1,3}(?:[.][0-9]{0,30})?)(?:[;,?].*)?",
    re.IGNORECASE,
)
_URI_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}):(.*)", re.DOTALL)
_PROTOCOL_BY_SCHEME = {"xmpp": "jabber", "ymsgr": "yahoo", "msnim": "msn", "gtalk": "google-talk"}
PROTOCOL_BY_X_PROPERTY = {
    "X-AIM": "aim",
    "X-GADUGADU": "gadu-gadu",
    "X-GOOGLE-TALK": "google-talk",
    "X-GTALK": "google-talk",
    "X-GROUPWISE": "groupwise",
    "X-ICQ": "icq",
    "X-JABBER": "jabber",
    "X-MATRIX": "matrix",
    "X-MS-IMADDRESS": "im",
    "X-MSN": "msn",
    "X-QQ": "qq",
    "X-SIP": "sip",
    "X-SKYPE": "skype",
    "X-SKYPE-USERNAME": "skype",
    "X-TELEGRAM": "telegram",
    "X-YAHOO": "yahoo",
}
_NO_DATE = define_text("card_date_unreadable", "%(field)s: “%(value)s” is no date; the line is kept as it is")
_AMBIGUOUS = define_text(
    "card_date_ambiguous", "%(field)s: “%(value)s” may be %(first)s or %(second)s; the line is kept as it is"
)
_DATE_TYPES = {kind.lower(): kind for kind in ("ANNIVERSARY", "BIRTHDAY", "NAMEDAY", "MEMORIAL")}
_ANDROID_ITEM = "vnd.android.cursor.item/"
_ANDROID_EVENTS = {"1": "ANNIVERSARY", "3": "BIRTHDAY"}


@dataclass(slots=True)
class ReaderContext:
    """The parts of a card that the reader of a line needs. `labels` are by item group, in lower case."""

    labels: dict[str, str] = field(default_factory=dict)
    warnings: list[Text] = field(default_factory=list)

    def label(self, line: ContentLine) -> str | None:
        return self.labels.get(line.group.lower()) if line.group else None

    def entry_type(self, line: ContentLine) -> str:
        """The `type` of an entry."""
        return read_type(line.types, self.label(line) or _android_label(line)) if line.params or line.group else OTHER


Reader = Callable[[ContentLine, ReaderContext], Iterator[FieldValue]]


def group_labels(lines: Iterable[ContentLine]) -> dict[str, str]:
    """The X-ABLabel of each item group; if a group has several, the first one."""
    labels: dict[str, str] = {}
    for line in lines:
        if line.name == "X-ABLABEL" and line.group and (label := read_label(single_line_text(line))):
            labels.setdefault(line.group.lower(), label)
    return labels


def single_line_text(line: ContentLine) -> str:
    """The unescaped value as one line of text."""
    return values.single_line(values.text(line))


def _android_label(line: ContentLine) -> str | None:
    """The label in Android's form `TEL;X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=C3=84):1`, if there is one."""
    for name, (charset, *more) in line.params:
        if name == "X-CUSTOM(CHARSET" and more:
            return values.single_line(values.decode_quoted_printable(more[-1].rstrip(")"), charset)) or None
    return None


def has_reader(name: str) -> bool:
    """Whether a property of this name can set a field."""
    return name in _READERS


def read_line(line: ContentLine, context: ReaderContext) -> list[FieldValue]:
    """The values for fields of Card that the line contains. Problems are appended to the warnings of `context`."""
    reader = _READERS.get(line.name)
    # An empty N counts as read: otherwise writing the card would add a second N.
    if reader is None or not (line.value.strip() or line.name == "N"):
        return []
    return list(reader(line, context))


def _text_reader(name: str) -> Reader:
    def read(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
        if text := single_line_text(line):
            yield name, text

    return read


def _flag_reader(name: str) -> Reader:
    def read(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
        """A line that says no (`X-ANDROID-STARRED:0`) belongs to the field, too: it is edited when the flag is set."""
        yield name, single_line_text(line).casefold() in _TRUE_WORDS

    return read


def _list_reader(name: str) -> Reader:
    def read(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
        for text in values.parse_list(line.value):
            yield name, values.single_line(text)

    return read


def _read_note(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    if text := values.text(line):
        yield "notes", text


def _read_name(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    """RFC 6350, 6.2.2. The sixth component is the secondary surname of RFC 9554, which the first one repeats."""
    parts = [values.parse_list(piece) for piece in values.split(line.value, ";")[:6]]
    parts += [[]] * (6 - len(parts))
    surnames, secondary = parts[0], parts[5]
    if secondary and surnames[-len(secondary) :] == secondary:
        surnames = surnames[: -len(secondary)]
    yield (
        "n",
        {
            "surname": values.single_line(" ".join(surnames)),
            "name": values.single_line(" ".join(parts[1])),
            "middle_name": values.single_line(" ".join(parts[2])),
            "prefix": values.single_line(" ".join(parts[3])),
            "suffix": values.single_line(", ".join(parts[4])),
            "second_last_name": values.single_line(" ".join(secondary)),
        },
    )


def _read_organization(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    parts = [values.single_line(part) for part in values.parse_components(line.value)]
    name, units = parts[0], [part for part in parts[1:] if part]
    if not name and units:
        name = units.pop(0)
    if name:
        yield "organization", (name, "; ".join(units))


def _read_gender(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    """RFC 6350, 6.2.7: the free text, else the letter."""
    letter, *words = values.parse_components(values.structured(line.value, 2))
    if text := values.single_line(" ".join(words)) or letter:
        yield "gender", text


def _read_photo(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    """Base64 or a data: URI. An http(s) URL is reported as `photo_url`; other values set no field."""
    value = line.value.strip()
    scheme = value[:8].lower()
    if line.encoding != "base64" and scheme.startswith(("http:", "https:")):
        yield "photo_url", values.unescape(value)
    elif scheme.startswith("data:"):
        yield from _decoded_photo(values.decode_data_uri(value), context)
    elif line.encoding == "base64" or value.startswith(("/9j/", "iVBOR", "R0lG", "UklGR")):
        yield from _decoded_photo(values.decode_base64(value), context)


def _decoded_photo(data: bytes | None, context: ReaderContext) -> Iterator[FieldValue]:
    if data:
        yield "photo", data
    else:
        context.warnings.append(_NO_BASE64)


def _read_kind(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    if single_line_text(line).lower() == "group":
        yield "kind", "group"


def _read_tel(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    """Text, or a tel: URI (RFC 3966), whose extension becomes part of the text (` ext. 12`)."""
    number = single_line_text(line)
    if number[:4].lower() == "tel:":
        number, *parameters = unquote(number[4:]).split(";")
        number += "".join(f" ext. {p[4:]}" for p in parameters if p[:4].lower() == "ext=")
        number = values.clean_line(number)
    if number:
        yield "phone_numbers", {"type": context.entry_type(line), "number": number}


def _read_email(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    address = single_line_text(line)
    address = address[7:] if address[:7].lower() == "mailto:" else address
    if address:
        yield "emails", {"type": context.entry_type(line), "email": address}


def _read_url(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    if address := single_line_text(line):
        yield "urls", {"type": context.entry_type(line), "url": address}


def _read_impp(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    """RFC 4770. Apple's X-SERVICE-TYPE, if given, names the service more precisely than the scheme of the URI."""
    service = values.single_line(line.first_param("X-SERVICE-TYPE") or "")
    handle = single_line_text(line)
    scheme = ""
    if found := _URI_SCHEME.fullmatch(handle):
        scheme, handle = found.group(1).lower(), unquote(found.group(2).removeprefix("//")).strip()
    handle = values.clean_line(handle)
    if handle:
        protocol = service or _PROTOCOL_BY_SCHEME.get(scheme, scheme)
        kind = context.entry_type(line)
        yield "im_handles", {"type": kind, "protocol": protocol or kind, "handle": handle}


def _read_x_messenger(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    if handle := single_line_text(line):
        yield (
            "im_handles",
            {"type": context.entry_type(line), "protocol": PROTOCOL_BY_X_PROPERTY[line.name], "handle": handle},
        )


def _read_geo(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    """A `geo:` URI (RFC 5870), or the pair of numbers of 3.0. Values out of range set no field; the line is kept."""
    found = _GEO_VALUE.fullmatch(single_line_text(line))
    latitude, longitude = (float(part) for part in found.groups()) if found else (999.0, 999.0)
    if abs(latitude) > 90 or abs(longitude) > 180:
        context.warnings.append(_NO_COORDINATES)
        return
    label = values.single_line(line.first_param("X-LABEL") or "")
    yield (
        "locations",
        {"type": context.entry_type(line), "latitude": latitude, "longitude": longitude, "label": label or None},
    )


def _read_address(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    """RFC 6350, 6.3.1. PO box and extended address are appended to the street; the kept line still separates them."""
    pieces = values.split(line.value, ";")[:7]
    pieces += [""] * (7 - len(pieces))
    street = [text for texts in street_parts(pieces) for text in texts]
    locality, region, postal_code, country = (", ".join(values.parse_list(piece)) for piece in pieces[3:])
    entry = {
        "streetLine1": (street[0] if street else "") or None,
        "streetLine2": ", ".join(filter(None, street[1:])) or None,
        "locality": values.single_line(locality) or None,
        "region": values.single_line(region) or None,
        "country": values.single_line(country) or None,
        "postalCode": values.single_line(postal_code) or None,
    }
    if any(entry.values()):
        yield "addresses", {"type": context.entry_type(line), **entry}


def street_parts(pieces: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The lines of street, extended address and PO box, in the order in which they are shown."""
    box, extended, street = (values.street_lines(piece) for piece in pieces[:3])
    return street, extended, box


def _read_custom_field(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    key, *rest = map(values.unnest, values.parse_components(values.structured(line.value)))
    if key and 1 <= len(rest) <= 2:
        yield "custom_fields", {"key": key, "value": rest[0], "type": (rest[1] if len(rest) == 2 else "") or None}


def _read_date(line: ContentLine, context: ReaderContext, kind: str | None, title: str | None) -> Iterator[FieldValue]:
    parsed = values.parse_any_date(values.text(line), line.first_param("X-APPLE-OMIT-YEAR"))
    if parsed is None:
        what = title or date_text(kind)
        if not _tell_ambiguous(values.text(line), what, context):
            context.warnings.append(_NO_DATE.format(field=what, value=single_line_text(line)[:40]))
        return
    yield "important_dates", CardDate(date=parsed[0], type=kind, title=title, year_unknown=parsed[1])


def _tell_ambiguous(value: str, what: Text | str, context: ReaderContext) -> bool:
    """Whether day and month of the date may be swapped. Then the two days are in a remark, and neither is taken."""
    readings = values.date_readings(value)
    if len(readings) < 2:
        return False
    first, second = (f"{day:--%m-%d}" if unknown else day.isoformat() for day, unknown in readings)
    context.warnings.append(_AMBIGUOUS.format(field=what, value=value.strip()[:40], first=first, second=second))
    return True


def _read_anniversary(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    """The field `anniversary` needs a year; a date without one becomes an important date."""
    parsed = values.parse_any_date(values.text(line), line.first_param("X-APPLE-OMIT-YEAR"))
    if parsed and not parsed[1]:
        yield "anniversary", parsed[0]
    else:
        yield from _read_date(line, context, "ANNIVERSARY", None)


def _read_labelled_date(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    """X-ABDATE: X-TYPE (ours) or a predefined label of Apple gives the type; any other label becomes the title."""
    label = context.label(line)
    kind = (line.first_param("X-TYPE") or "").strip().upper()
    if kind not in _DATE_TYPES.values():
        kind = _DATE_TYPES.get(label or "", "")
    title = None if kind and (label or "").lower() in {"", kind.lower()} else label
    yield from _read_date(line, context, kind or None, title if kind else title or "Other")


def _full_date_reader(name: str) -> Reader:
    """A reader of a date with a year. A less exact value, such as a DEATHDATE of "circa 1800", sets no field."""

    def read(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
        parsed = values.parse_any_date(values.text(line), line.first_param("X-APPLE-OMIT-YEAR"))
        if parsed and not parsed[1]:
            yield name, parsed[0]
        else:
            _tell_ambiguous(values.text(line), field_text(name), context)

    return read


def _read_android_row(line: ContentLine, context: ReaderContext) -> Iterator[FieldValue]:
    """X-ANDROID-CUSTOM: kind, value, type, label, ... Nicknames and events have a field; other kinds are only kept."""
    kind, value, number, label, *_ = [*values.parse_components(values.structured(line.value)), "", "", ""]
    if kind == f"{_ANDROID_ITEM}nickname" and value:
        yield "nickname", values.single_line(value)
    elif kind == f"{_ANDROID_ITEM}contact_event":
        event = _ANDROID_EVENTS.get(number)
        parsed = values.parse_any_date(value)
        if parsed is None:
            _tell_ambiguous(value, date_text(event), context)
            return
        title = None if event else values.single_line(label) or "Other"
        yield "important_dates", CardDate(date=parsed[0], type=event, title=title, year_unknown=parsed[1])


_READERS: dict[str, Reader] = {
    # The text fields with a property of their own; some of these properties have a special reader below.
    **{
        name: _text_reader(field.card)
        for field in field_table.CARD_SCALARS
        if field.kind is field_table.FieldKind.TEXT
        for name in field.card_properties
    },
    **{
        name: _flag_reader(field.card)
        for field in field_table.CARD_SCALARS
        if field.kind is field_table.FieldKind.FLAG
        for name in field.card_properties
    },
    "FN": _text_reader("fn"),
    "N": _read_name,
    "NICKNAME": _list_reader("nickname"),
    "ORG": _read_organization,
    "GENDER": _read_gender,
    "NOTE": _read_note,
    "CATEGORIES": _list_reader("categories"),
    "PHOTO": _read_photo,
    "KIND": _read_kind,
    "X-ADDRESSBOOKSERVER-KIND": _read_kind,
    "MEMBER": _text_reader("members"),
    "X-ADDRESSBOOKSERVER-MEMBER": _text_reader("members"),
    "TEL": _read_tel,
    "EMAIL": _read_email,
    "ADR": _read_address,
    "URL": _read_url,
    "IMPP": _read_impp,
    "GEO": _read_geo,
    "X-CUSTOM-FIELD": _read_custom_field,
    **dict.fromkeys(PROTOCOL_BY_X_PROPERTY, _read_x_messenger),
    "BDAY": lambda line, context: _read_date(line, context, "BIRTHDAY", context.label(line)),
    "ANNIVERSARY": _read_anniversary,
    "X-ANNIVERSARY": _read_anniversary,
    "X-MS-ANNIVERSARY": _read_anniversary,
    "X-EVOLUTION-ANNIVERSARY": _read_anniversary,
    "X-KADDRESSBOOK-X-ANNIVERSARY": _read_anniversary,
    "X-ABDATE": _read_labelled_date,
    "DEATHDATE": _full_date_reader("deathday"),
    "X-DEATHDATE": _full_date_reader("deathday"),
    "X-LAST-CONTACT": _full_date_reader("last_contact"),
    "X-ANDROID-CUSTOM": _read_android_row,
}
