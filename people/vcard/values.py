"""Values of content lines: escaping, components, quoted-printable, base64, dates.

Every function runs in linear time, and none raises, whatever the input.
"""

import binascii
import re
from datetime import date
from urllib.parse import unquote_to_bytes

from contacts_project.kernel.charsets import decode_value, is_guess, join_surrogates, remove_controls
from contacts_project.kernel.text_forms import nfc
from people.vcard.card import UNKNOWN_YEAR
from people.vcard.content_lines import ContentLine

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_NESTED = re.compile(r"[\\;]")
_NESTED_PAIR = re.compile(r"\\([\\;])")
_WHITESPACE = re.compile(r"\s+")
_DATE_LENGTH = 40
_FULL_DATE = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})|([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})")
_YEARLESS = re.compile(r"--([0-9]{2})-?([0-9]{2})")
# What other programs write: 1973-9-28, 1973/9/28, 1973.9.28.
_YEAR_FIRST = re.compile(r"([0-9]{4})([-./])([0-9]{1,2})\2([0-9]{1,2})\.?")
_SHORT_YEARLESS = re.compile(r"--([0-9]{1,2})-([0-9]{1,2})")
# A day with a time and no `T` between them: 19560411230000.
_DIGITS = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})[0-9]{4}(?:[0-9]{2})?Z?")
# Where the year is last or missing: 28.09.1973, 9/28/1973, 28.9.
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-./])([0-9]{1,2})(?:\2([0-9]{4})?)?")
# Chinese, Japanese and Korean write the units behind the numbers.
_DATE_UNITS = str.maketrans({"年": "-", "년": "-", "月": "-", "월": "-", "日": None, "일": None})
_BLANK_IN_DATE = re.compile(r"(?<=[-./]) +(?=[0-9])")
# A hostile value may consist of separators only.
_MAX_COMPONENTS = 2_000

_IMAGE_SIGNATURES = ((b"\xff\xd8\xff", "JPEG"), (b"\x89PNG", "PNG"), (b"GIF8", "GIF"))


def unescape(value: str) -> str:
    """Unescape as RFC 6350, 3.4, into NFC. Other escapes, such as `\\:` of some writers of 3.0, yield the character
    itself."""
    if "\\" not in value:
        return nfc(value)
    return nfc(_ESCAPE.sub(lambda found: "\n" if found.group(1) in "nN" else found.group(1), value))


def unescape_21(value: str) -> str:
    """Unescape as vCard 2.1, which escapes only separators; any other backslash is part of the text."""
    return re.sub(r"\\([;,:])", r"\1", value) if "\\" in value else value


def escape(value: str) -> str:
    value = value.replace("\r\n", "\n").replace("\r", "\n").replace("\\", "\\\\")
    return value.replace("\n", "\\n").replace(",", "\\,").replace(";", "\\;")


def escape_uri(value: str) -> str:
    """Escape a URI. Commas and semicolons stay as they are: they are part of the URI, and not separators.

    Backslashes and line breaks are not valid in a URI, but must be escaped to be read back.
    """
    return value.replace("\\", "\\\\").replace("\r", "").replace("\n", "\\n")


def split(value: str, separator: str) -> list[str]:
    """Split at separators that are not escaped. The pieces stay escaped."""
    if "\\" not in value:
        return value.split(separator, _MAX_COMPONENTS)
    pieces: list[str] = []
    unfinished: list[str] = []
    for piece in value.split(separator, _MAX_COMPONENTS):
        unfinished.append(piece)
        # An even number of backslashes are escaped backslashes; an odd one escapes the separator.
        if (len(piece) - len(piece.rstrip("\\"))) % 2 == 0:
            pieces.append(separator.join(unfinished))
            unfinished = []
    if unfinished:
        pieces.append(separator.join(unfinished))
    return pieces


def text(line: ContentLine) -> str:
    """The unescaped value, stripped, with line breaks as newlines."""
    return _unescape_and_trim(line.value)


def parse_components(value: str) -> list[str]:
    """The components of a structured value (N, ADR, ORG), unescaped and stripped."""
    return [_unescape_and_trim(piece) for piece in split(value, ";")]


def structured(value: str, most: int = _MAX_COMPONENTS) -> str:
    """The value of a property with at most `most` components, whose semicolons a server may have escaped.

    vobject, and so Radicale, takes every property that it does not know for a text: `key;value` becomes `key\\;value`.
    """
    if "\\;" not in value or len(split(value, ";")) > 1:
        return value
    pieces = split(unescape(value), ";")
    if len(pieces) > most:
        pieces[most - 1 :] = [";".join(pieces[most - 1 :])]
    return ";".join(map(escape, pieces))


def nest(text: str) -> str:
    """A component whose end is found even if a server escapes all semicolons: one with a semicolon is escaped twice."""
    return _NESTED.sub(r"\\\g<0>", text) if ";" in text or text.endswith("\\") else text


def unnest(text: str) -> str:
    """The text of which `nest` made `text`; another text, such as `a;b` of a single escape, is itself."""
    if not (";" in text or text.endswith("\\")) or _NESTED.search(_NESTED_PAIR.sub("", text)):
        return text
    return _NESTED_PAIR.sub(r"\1", text)


def parse_list(piece: str) -> list[str]:
    """The values of a list, or of a component that is a list (`Richter,James`), without empty ones."""
    return [part for part in map(_unescape_and_trim, split(piece, ",")) if part]


def street_lines(piece: str) -> list[str]:
    """The lines of a street address, stripped. Empty lines at the end are removed; an empty first line stays."""
    parts = (unescape(part).replace("\r", "\n") for part in split(piece, ","))
    lines = [line.strip() for line in ", ".join(filter(None, parts)).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _unescape_and_trim(value: str) -> str:
    return unescape(value).replace("\r", "\n").strip()


def decode_quoted_printable(value: str, charset: str | None) -> str:
    if value.isascii():
        return join_surrogates(decode_value(binascii.a2b_qp(value.encode("ascii")), charset))
    return join_surrogates(decode_value(binascii.a2b_qp(value.encode("utf-8", "replace")), "utf-8"))


def has_guessed_charset(line: ContentLine) -> bool:
    """Whether `decode_quoted_printable` can only guess the charset of the value."""
    if line.encoding != "quoted-printable" or "=" not in line.value or not line.value.isascii():
        return False
    return is_guess(binascii.a2b_qp(line.value.encode("ascii")), line.first_param("CHARSET"))


def single_line(value: str) -> str:
    """Replace line breaks by a space; other white space inside the value stays. The result is in NFC."""
    return nfc(" ".join(part.strip() for part in value.split("\n")).strip() if "\n" in value else value.strip())


def clean_line(value: str) -> str:
    """`single_line` without control characters and surrogates, which decoding a value (%-escapes) may have produced."""
    return single_line(remove_controls(join_surrogates(value)))


def decode_base64(value: str) -> bytes | None:
    """The decoded bytes; None if it is not base64. Accepts missing padding, white space and URL-safe characters."""
    packed = _WHITESPACE.sub("", value).replace("\\", "").rstrip("=").replace("-", "+").replace("_", "/")
    if not packed or len(packed) % 4 == 1:
        return None
    try:
        # Without strict_mode, characters that are not base64 are skipped, and any text could be decoded.
        return binascii.a2b_base64((packed + "=" * (-len(packed) % 4)).encode("ascii"), strict_mode=True)
    except (binascii.Error, UnicodeEncodeError):
        return None


def decode_data_uri(value: str) -> bytes | None:
    """The bytes of a data: URI (RFC 2397), base64 or percent-encoded; None if it is not valid."""
    # Some writers escape the separators of the URI as in a text.
    head, comma, body = value.replace("\\", "").partition(",")
    if not comma:
        return None
    return decode_base64(body) if head.lower().endswith(";base64") else unquote_to_bytes(body)


def encode_base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def image_type(data: bytes) -> str:
    """The TYPE of an image in 3.0; JPEG when the format is not recognised."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    return next((name for start, name in _IMAGE_SIGNATURES if data.startswith(start)), "JPEG")


def parse_date(value: str, omitted_year: str | None = None) -> tuple[date, bool] | None:
    """Parse a date in ISO basic or extended format, with or without year or time; None if it is not a date.

    Returns (date, whether the year is unknown). The time is ignored and time zones are never converted. The year is
    unknown if it is missing, 1604 or 0000, or equals `omitted_year`, the value of X-APPLE-OMIT-YEAR.
    """
    day = re.split(r"[T ]", value.strip()[:_DATE_LENGTH], maxsplit=1)[0]
    if found := _YEARLESS.fullmatch(day):
        return _date_of_parts(None, found.group(1), found.group(2))
    if found := _FULL_DATE.fullmatch(day):
        year, month, day_of_month = (part for part in found.groups() if part)
        return _date_of_parts(year, month, day_of_month, omitted_year)
    return None


def parse_any_date(value: str, omitted_year: str | None = None) -> tuple[date, bool] | None:
    """As `parse_date`, also for the other spellings in cards; None if the value may mean two dates."""
    readings = date_readings(value, omitted_year)
    return readings[0] if len(readings) == 1 else None


def date_readings(value: str, omitted_year: str | None = None) -> list[tuple[date, bool]]:
    """The dates that a value may mean in any spelling: none, one, or two where day and month may be swapped."""
    if parsed := parse_date(value, omitted_year):
        return [parsed]
    readings = (_date_of_parts(*parts, omitted_year) for parts in _parts_of_other_spellings(value))
    return list(dict.fromkeys(reading for reading in readings if reading))


def _parts_of_other_spellings(value: str) -> list[tuple[str | None, str, str]]:
    """Year, month and day of a date that is spelled otherwise than in RFC 6350; None for a missing year."""
    text = _BLANK_IN_DATE.sub("", value.strip()[:_DATE_LENGTH].translate(_DATE_UNITS))
    day = re.split(r"[T ]", text, maxsplit=1)[0]
    if found := _SHORT_YEARLESS.fullmatch(day):
        return [(None, found.group(1), found.group(2))]
    if found := _YEAR_FIRST.fullmatch(day):
        return [(found.group(1), found.group(3), found.group(4))]
    if found := _DIGITS.fullmatch(day):
        return [(found.group(1), found.group(2), found.group(3))]
    if not (found := _YEAR_LAST.fullmatch(day)):
        return []
    first, separator, second, year = found.groups()
    if separator == "." and int(second) <= 12:
        # With dots the day is first in every country that writes them.
        return [(year, second, first)]
    return [(year, first, second), (year, second, first)]


def _date_of_parts(
    year: str | None, month: str, day_of_month: str, omitted_year: str | None = None
) -> tuple[date, bool] | None:
    if year is None:
        return _make_date(UNKNOWN_YEAR, month, day_of_month, unknown=True)
    unknown = int(year) in {0, UNKNOWN_YEAR} or year == (omitted_year or "").strip()
    # The API accepts no year before 1000.
    if not unknown and int(year) < 1000:
        return None
    return _make_date(UNKNOWN_YEAR if unknown else int(year), month, day_of_month, unknown=unknown)


def _make_date(year: int, month: str, day: str, *, unknown: bool) -> tuple[date, bool] | None:
    try:
        return date(year, int(month), int(day)), unknown
    except ValueError:
        return None
