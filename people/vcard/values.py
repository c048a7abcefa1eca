"""Values of content lines: escapes, components, quoted-printable, base64, dates. All linear, none raises."""

import binascii
import re
from datetime import date
from urllib.parse import unquote_to_bytes

from people.vcard.card import UNKNOWN_YEAR
from people.vcard.charsets import clean_controls, decode_value, join_surrogates
from people.vcard.content_lines import ContentLine

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_WHITE = re.compile(r"\s+")
_FULL_DATE = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})|([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})")
_YEARLESS = re.compile(r"--([0-9]{2})-?([0-9]{2})")
_MAX_COMPONENTS = 2_000

_SIGNATURES = ((b"\xff\xd8\xff", "JPEG"), (b"\x89PNG", "PNG"), (b"GIF8", "GIF"))


def unescape(value: str) -> str:
    """RFC 6350, 3.4, and what writers of 3.0 escape beyond it: any escaped character stands for itself."""
    if "\\" not in value:
        return value
    return _ESCAPE.sub(lambda found: "\n" if found.group(1) in "nN" else found.group(1), value)


def unescape_21(value: str) -> str:
    """vCard 2.1 escapes separators only; a backslash before anything else is a backslash."""
    return re.sub(r"\\([;,:])", r"\1", value) if "\\" in value else value


def escape(value: str) -> str:
    value = value.replace("\r\n", "\n").replace("\r", "\n").replace("\\", "\\\\")
    return value.replace("\n", "\\n").replace(",", "\\,").replace(";", "\\;")


def escape_uri(value: str) -> str:
    """In a URI comma and semicolon stand for themselves; a backslash or line break would not be read back."""
    return value.replace("\\", "\\\\").replace("\r", "").replace("\n", "\\n")


def split(value: str, separator: str) -> list[str]:
    """At separators that no backslash escapes; the pieces stay escaped."""
    if "\\" not in value:
        return value.split(separator, _MAX_COMPONENTS)
    pieces: list[str] = []
    open_piece: list[str] = []
    for piece in value.split(separator, _MAX_COMPONENTS):
        open_piece.append(piece)
        if (len(piece) - len(piece.rstrip("\\"))) % 2 == 0:
            pieces.append(separator.join(open_piece))
            open_piece = []
    if open_piece:
        pieces.append(separator.join(open_piece))
    return pieces


def text(line: ContentLine) -> str:
    """The value as text, trimmed, its line breaks as newlines."""
    return _unescaped(line.value)


def components(value: str) -> list[str]:
    """The components of N, ADR, ORG; each trimmed."""
    return [_unescaped(piece) for piece in split(value, ";")]


def list_parts(piece: str) -> list[str]:
    """A list, or a component that is one (`Richter,James`), empty ones left out."""
    return [part for part in map(_unescaped, split(piece, ",")) if part]


def street_lines(piece: str) -> list[str]:
    """A street address by its lines, each trimmed; an empty first line stays, those at the end go."""
    parts = (unescape(part).replace("\r", "\n") for part in split(piece, ","))
    lines = [line.strip() for line in ", ".join(filter(None, parts)).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _unescaped(value: str) -> str:
    return unescape(value).replace("\r", "\n").strip()


def unquote_printable(value: str, charset: str | None) -> str:
    if value.isascii():
        return join_surrogates(decode_value(binascii.a2b_qp(value.encode("ascii")), charset))
    return join_surrogates(decode_value(binascii.a2b_qp(value.encode("utf-8", "replace")), "utf-8"))


def single_line(value: str) -> str:
    """Line breaks as blanks; white space within a line stays as typed."""
    return " ".join(part.strip() for part in value.split("\n")).strip() if "\n" in value else value.strip()


def clean_line(value: str) -> str:
    """A single line without what no stored text may hold; for values that were decoded once more."""
    return single_line(clean_controls(join_surrogates(value)))


def decode_base64(value: str) -> bytes | None:
    """None when it is no base64. Padding may be missing, white space and URL-safe letters are taken."""
    packed = _WHITE.sub("", value).replace("\\", "").rstrip("=").replace("-", "+").replace("_", "/")
    if not packed or len(packed) % 4 == 1:
        return None
    try:
        return binascii.a2b_base64((packed + "=" * (-len(packed) % 4)).encode("ascii"), strict_mode=True)
    except (binascii.Error, UnicodeEncodeError):
        return None


def decode_data_uri(value: str) -> bytes | None:
    """RFC 2397, base64 or percent-encoded."""
    head, comma, body = value.replace("\\", "").partition(",")
    if not comma:
        return None
    return decode_base64(body) if head.lower().endswith(";base64") else unquote_to_bytes(body)


def encode_base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def image_type(data: bytes) -> str:
    """The TYPE of 3.0; JPEG when nothing else is recognised."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    return next((name for start, name in _SIGNATURES if data.startswith(start)), "JPEG")


def parse_date(value: str, omitted_year: str | None = None) -> tuple[date, bool] | None:
    """(date, year unknown) of ISO basic or extended, year-less or with a time, which is ignored; else None.

    The day is taken as written: a date never passes through a time zone. The year counts as unknown when it
    is left out, is 1604 or 0000, or equals the one that X-APPLE-OMIT-YEAR names.
    """
    day = re.split(r"[T ]", value.strip()[:40], maxsplit=1)[0]
    if found := _YEARLESS.fullmatch(day):
        return _make_date(UNKNOWN_YEAR, found.group(1), found.group(2), unknown=True)
    if not (found := _FULL_DATE.fullmatch(day)):
        return None
    year, month, day_of_month = (part for part in found.groups() if part)
    unknown = int(year) in {0, UNKNOWN_YEAR} or year == (omitted_year or "").strip()
    if not unknown and int(year) < 1000:
        return None
    return _make_date(UNKNOWN_YEAR if unknown else int(year), month, day_of_month, unknown=unknown)


def _make_date(year: int, month: str, day: str, *, unknown: bool) -> tuple[date, bool] | None:
    try:
        return date(year, int(month), int(day)), unknown
    except ValueError:
        return None
