"""Reads the ways to reach somebody: TEL, EMAIL, ADR, URL, IMPP and its X- forms, GEO, our X-CUSTOM-FIELD."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from people.vcard import values
from people.vcard.content_lines import ContentLine
from people.vcard.readers.context import Context, Reader, Statement, single

_COORDINATES = re.compile(
    r"(?:geo:)?([+-]?[0-9]{1,3}(?:[.][0-9]{0,30})?) ?[,;] ?([+-]?[0-9]{1,3}(?:[.][0-9]{0,30})?)(?:[;,?].*)?",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}):(.*)", re.DOTALL)
_PROTOCOLS = {"xmpp": "jabber", "ymsgr": "yahoo", "msnim": "msn", "gtalk": "google-talk"}
X_PROTOCOLS = {
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


def _telephone(line: ContentLine, context: Context) -> Iterator[Statement]:
    """Text, or a tel: URI (RFC 3966) of which the extension is kept in words."""
    number = single(line)
    if number[:4].lower() == "tel:":
        number, *parameters = unquote(number[4:]).split(";")
        number += "".join(f" ext. {p[4:]}" for p in parameters if p[:4].lower() == "ext=")
        number = values.clean_line(number)
    if number:
        yield "phone_numbers", {"type": context.kind(line), "number": number}


def _email(line: ContentLine, context: Context) -> Iterator[Statement]:
    address = single(line)
    address = address[7:] if address[:7].lower() == "mailto:" else address
    if address:
        yield "emails", {"type": context.kind(line), "email": address}


def _url(line: ContentLine, context: Context) -> Iterator[Statement]:
    if address := single(line):
        yield "urls", {"type": context.kind(line), "url": address}


def _impp(line: ContentLine, context: Context) -> Iterator[Statement]:
    """RFC 4770 with Apple's X-SERVICE-TYPE, which names the service better than the scheme does."""
    service = values.single_line(line.first_param("X-SERVICE-TYPE") or "")
    handle = single(line)
    scheme = ""
    if found := _SCHEME.fullmatch(handle):
        scheme, handle = found.group(1).lower(), unquote(found.group(2).removeprefix("//")).strip()
    handle = values.clean_line(handle)
    if handle:
        protocol = service or _PROTOCOLS.get(scheme, scheme)
        kind = context.kind(line)
        yield "im_handles", {"type": kind, "protocol": protocol or kind, "handle": handle}


def _x_messenger(line: ContentLine, context: Context) -> Iterator[Statement]:
    if handle := single(line):
        yield (
            "im_handles",
            {"type": context.kind(line), "protocol": X_PROTOCOLS[line.name], "handle": handle},
        )


def _geo(line: ContentLine, context: Context) -> Iterator[Statement]:
    """`geo:` URI (RFC 5870) or 3.0's pair of numbers; out of range is kept as it is."""
    found = _COORDINATES.fullmatch(single(line))
    latitude, longitude = (float(part) for part in found.groups()) if found else (999.0, 999.0)
    if abs(latitude) > 90 or abs(longitude) > 180:
        context.warnings.append("GEO holds no coordinates; the line is kept as it is")
        return
    label = values.single_line(line.first_param("X-LABEL") or "")
    yield (
        "locations",
        {"type": context.kind(line), "latitude": latitude, "longitude": longitude, "label": label or None},
    )


def _address(line: ContentLine, context: Context) -> Iterator[Statement]:
    """RFC 6350, 6.3.1. PO box and extended address are shown behind the street; the line keeps their places."""
    pieces = values.split(line.value, ";")[:7]
    pieces += [""] * (7 - len(pieces))
    street = [text for texts in street_parts(pieces) for text in texts]
    locality, region, postal_code, country = (", ".join(values.list_parts(piece)) for piece in pieces[3:])
    entry = {
        "streetLine1": (street[0] if street else "") or None,
        "streetLine2": ", ".join(filter(None, street[1:])) or None,
        "locality": values.single_line(locality) or None,
        "region": values.single_line(region) or None,
        "country": values.single_line(country) or None,
        "postalCode": values.single_line(postal_code) or None,
    }
    if any(entry.values()):
        yield "addresses", {"type": context.kind(line), **entry}


def street_parts(pieces: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The lines of street, extended address and PO box, of which the first that is not empty starts the address."""
    box, extended, street = (values.street_lines(piece) for piece in pieces[:3])
    return street, extended, box


def _custom_field(line: ContentLine, context: Context) -> Iterator[Statement]:
    key, *rest = values.components(line.value)
    if key and 1 <= len(rest) <= 2:
        yield "custom_fields", {"key": key, "value": rest[0], "type": (rest[1] if len(rest) == 2 else "") or None}


READERS: dict[str, Reader] = {
    "TEL": _telephone,
    "EMAIL": _email,
    "ADR": _address,
    "URL": _url,
    "IMPP": _impp,
    "GEO": _geo,
    "X-CUSTOM-FIELD": _custom_field,
    **dict.fromkeys(X_PROTOCOLS, _x_messenger),
}
