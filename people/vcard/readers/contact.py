"""Readers of contact details: TEL, EMAIL, ADR, URL, IMPP and X- properties like it, GEO, our own X-CUSTOM-FIELD."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from contacts_project.kernel.texts import define_text
from people.vcard import values
from people.vcard.content_lines import ContentLine
from people.vcard.readers.context import Context, FieldValue, Reader, single_line_text

_NO_COORDINATES = define_text("geo_without_coordinates", "GEO holds no coordinates; the line is kept as it is")

_GEO_VALUE = re.compile(
    r"(?:geo:)?([+-]?[0-9]{1,3}(?:[.][0-9]{0,30})?) ?[,;] ?([+-]?[0-9]{1,3}(?:[.][0-9]{0,30})?)(?:[;,?].*)?",
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


def _read_tel(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    """Text, or a tel: URI (RFC 3966), whose extension becomes part of the text (` ext. 12`)."""
    number = single_line_text(line)
    if number[:4].lower() == "tel:":
        number, *parameters = unquote(number[4:]).split(";")
        number += "".join(f" ext. {p[4:]}" for p in parameters if p[:4].lower() == "ext=")
        number = values.clean_line(number)
    if number:
        yield "phone_numbers", {"type": context.entry_type(line), "number": number}


def _read_email(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    address = single_line_text(line)
    address = address[7:] if address[:7].lower() == "mailto:" else address
    if address:
        yield "emails", {"type": context.entry_type(line), "email": address}


def _read_url(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    if address := single_line_text(line):
        yield "urls", {"type": context.entry_type(line), "url": address}


def _read_impp(line: ContentLine, context: Context) -> Iterator[FieldValue]:
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


def _read_x_messenger(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    if handle := single_line_text(line):
        yield (
            "im_handles",
            {"type": context.entry_type(line), "protocol": PROTOCOL_BY_X_PROPERTY[line.name], "handle": handle},
        )


def _read_geo(line: ContentLine, context: Context) -> Iterator[FieldValue]:
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


def _read_address(line: ContentLine, context: Context) -> Iterator[FieldValue]:
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


def _read_custom_field(line: ContentLine, context: Context) -> Iterator[FieldValue]:
    key, *rest = map(values.unnest, values.parse_components(values.structured(line.value)))
    if key and 1 <= len(rest) <= 2:
        yield "custom_fields", {"key": key, "value": rest[0], "type": (rest[1] if len(rest) == 2 else "") or None}


READERS: dict[str, Reader] = {
    "TEL": _read_tel,
    "EMAIL": _read_email,
    "ADR": _read_address,
    "URL": _read_url,
    "IMPP": _read_impp,
    "GEO": _read_geo,
    "X-CUSTOM-FIELD": _read_custom_field,
    **dict.fromkeys(PROTOCOL_BY_X_PROPERTY, _read_x_messenger),
}
