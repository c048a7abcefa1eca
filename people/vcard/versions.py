"""Converts content lines between versions: from 2.1 to 3.0 when reading, between 3.0 and 4.0 when writing.

Only what the target version writes differently changes; everything else stays byte for byte. docs/vcard.md lists the
differences.
"""

import re

from contacts_project.kernel.charsets import remove_controls
from contacts_project.kernel.text_forms import nfc
from people import field_table
from people.vcard import values
from people.vcard.content_lines import ContentLine, Params

VERSIONS = ("4.0", "3.0")

# Properties whose value may be a list or have components. In others, a comma or semicolon of 2.1 is text.
_STRUCTURED_PROPERTIES = frozenset({"N", "ADR", "ORG", "GENDER", "X-CUSTOM-FIELD", "X-ANDROID-CUSTOM"})
_LIST_PROPERTIES = frozenset({"CATEGORIES", "NICKNAME"})
_TEXT_FIELD_PROPERTIES = {
    name
    for field in field_table.CARD_SCALARS
    if field.kind is field_table.FieldKind.TEXT
    for name in field.card_properties
}
_TEXT_PROPERTIES = frozenset(
    {
        *(_TEXT_FIELD_PROPERTIES - _STRUCTURED_PROPERTIES - _LIST_PROPERTIES),
        *("FN", "ROLE", "LABEL", "TEL", "EMAIL", "MAILER", "SORT-STRING", "IMPP"),
        *("X-ABLABEL", "X-ABDATE"),
        *("X-AIM", "X-GADUGADU", "X-GOOGLE-TALK", "X-GTALK", "X-GROUPWISE", "X-ICQ", "X-JABBER", "X-MATRIX"),
        *("X-MS-IMADDRESS", "X-MSN", "X-QQ", "X-SIP", "X-SKYPE", "X-SKYPE-USERNAME", "X-TELEGRAM", "X-YAHOO"),
    }
)
_LONE_BACKSLASH = re.compile(r"\\(?![,;:])")
_DATE_PROPERTIES = frozenset({"BDAY", "ANNIVERSARY", "DEATHDATE"})
_DATE_TIME = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](.*))?|--(\d{2})-(\d{2})", re.ASCII)
_STANDARD_DATE = re.compile(r"(?:\d{4}-?\d{2}-?\d{2}|--\d{2}-?\d{2})(?:[T ]|$)", re.ASCII)
_APPLE_YEARLESS = re.compile(r"1604-?(\d{2})-?(\d{2})", re.ASCII)
_YEARLESS = re.compile(r"--(\d{2})-?(\d{2})", re.ASCII)
_GEO_PAIR = re.compile(r"([+-]?\d{1,3}(?:\.\d{0,30})?) ?\\?[;,] ?([+-]?\d{1,3}(?:\.\d{0,30})?)", re.ASCII)
_GEO_URI = re.compile(r"geo:([+-]?\d{1,3}(?:\.\d{0,30})?)\\?,([+-]?\d{1,3}(?:\.\d{0,30})?)", re.ASCII | re.IGNORECASE)
_IMAGE_URI = re.compile(r"data:image/([a-z0-9.+-]{1,40});base64\\?,", re.IGNORECASE)


def convert_from_21(line: ContentLine, *, is_v21: bool) -> ContentLine:
    """Convert a line to 3.0: name bare parameters, decode quoted-printable and charsets.

    `is_v21` is set for lines of a 2.1 card. Lines of later versions with features of 2.1 are converted as well, since
    many programs write them.
    """
    if not (is_v21 or line.has_bare_params or (line.params and (line.encoding or line.param("CHARSET")))):
        return line
    value = line.value
    if line.encoding == "quoted-printable":
        value = _decode_value_21(line)
    elif line.encoding == "base64":
        value = "".join(value.split())
    elif is_v21 and "\\" in value and line.name != "AGENT":  # inline_agents has escaped AGENT
        value = _reescape_value_21(line.name, value)
    elif is_v21 and line.name in _TEXT_PROPERTIES:
        value = values.escape(value)
    params = _params_30(line)
    if params == line.params and not line.has_bare_params:
        return line if value == line.value else line.with_value(value)
    return ContentLine(line.name, value, params, line.group, original=line.original)


def convert_to_21(line: ContentLine) -> ContentLine:
    """Convert a line of 3.0 to 2.1: bare types, and quoted-printable for text with line breaks or beyond ASCII."""
    types = tuple((word.strip(), ()) for text in line.param("TYPE") for word in text.split(",") if word.strip())
    params = (*types, *((name, texts) for name, texts in line.params if name not in {"TYPE", "ENCODING"}))
    if line.encoding == "base64":
        return ContentLine(line.name, line.value, (*params, ("ENCODING", ("BASE64",))), line.group)
    if line.name in _STRUCTURED_PROPERTIES:
        pieces = values.split(line.value, ";")
        if line.name == "X-CUSTOM-FIELD":
            pieces = [values.escape(values.unnest(values.unescape(piece))) for piece in pieces]
        text = ";".join(map(_component_21, pieces))
    else:
        text = _component_21(line.value) if line.name in _LIST_PROPERTIES else values.unescape(line.value)
    if text.isascii() and "\n" not in text:
        return ContentLine(line.name, text, params, line.group)
    quoted = "".join(chr(c) if 32 <= c < 127 and c != 61 else f"={c:02X}" for c in text.replace("\n", "\r\n").encode())
    coding: Params = (("CHARSET", ("UTF-8",)), ("ENCODING", ("QUOTED-PRINTABLE",)))
    return ContentLine(line.name, quoted, (*params, *coding), line.group)


def _component_21(piece: str) -> str:
    parts = (values.unescape(part) for part in values.split(piece, ","))
    return ",".join(part.replace(",", "\\,").replace(";", "\\;") for part in parts)


def _params_30(line: ContentLine) -> Params:
    params = tuple(param for param in line.params if param[0] not in {"ENCODING", "CHARSET"})
    if line.encoding != "base64":
        return params
    return line.params if line.first_param("ENCODING") == "b" else (("ENCODING", ("b",)), *params)


def _decode_value_21(line: ContentLine) -> str:
    """Decode quoted-printable. Unencoded semicolons separate components; encoded ones are text."""
    charset = line.first_param("CHARSET")
    # An encoded backslash (=5C) before a semicolon escapes it.
    pieces = values.split(line.value.replace("=5C;", "\\;").replace("=5c;", "\\;"), ";")
    texts = [remove_controls(values.decode_quoted_printable(piece, charset).replace("\r\n", "\n")) for piece in pieces]
    if line.name in _TEXT_PROPERTIES:
        return values.escape(values.unescape_21(";".join(texts)))
    if line.name in _LIST_PROPERTIES:
        return _component_30(";".join(texts))
    return ";".join(map(_component_30, texts))


def _reescape_value_21(name: str, value: str) -> str:
    """Escape a value of 2.1 as in 3.0. In 2.1 a backslash is text, except before a separator."""
    if name in _TEXT_PROPERTIES:
        return values.escape(values.unescape_21(value))
    if name in _LIST_PROPERTIES:
        return _component_30(value)
    if name in _STRUCTURED_PROPERTIES:
        return ";".join(map(_component_30, values.split(value, ";")))
    if name == "URL":
        return values.escape_uri(values.unescape_21(value))
    return _LONE_BACKSLASH.sub(r"\\\\", value)


def _component_30(text: str) -> str:
    """Escape a component of 2.1, which may be a list, as in 3.0."""
    return ",".join(values.escape(values.unescape_21(part)) for part in values.split(text, ","))


def convert_line(line: ContentLine, version: str) -> ContentLine:
    """Convert a line of 3.0 or 4.0 to `version`."""
    if line.params:
        line = _convert_pref(line, is_v4=version == "4.0")
        if line.encoding == "base64" and version == "4.0":
            return _to_data_uri(line)
    if line.name in _DATE_PROPERTIES:
        return _convert_date(line, is_v4=version == "4.0")
    if line.name == "GEO":
        return _convert_geo(line, is_v4=version == "4.0")
    if version == "3.0" and line.name in {"PHOTO", "LOGO"} and (found := _IMAGE_URI.match(line.value)):
        params = (*line.without_params("VALUE", "MEDIATYPE").params, ("TYPE", (found.group(1).upper(),)))
        return ContentLine(line.name, line.value[found.end() :], (("ENCODING", ("b",)), *params), line.group)
    return line


def _convert_pref(line: ContentLine, *, is_v4: bool) -> ContentLine:
    """Convert the mark of the preferred value: `TYPE=pref` in 3.0, `PREF=1` in 4.0.

    3.0 has no form for lower preferences, so they keep PREF.
    """
    if is_v4 and "pref" in line.types:
        params = tuple(
            (name, remaining) if name == "TYPE" else (name, texts)
            for name, texts in line.params
            if name != "TYPE" or (remaining := _without_pref(texts))
        )
        return line.with_params(params if line.param("PREF") else (*params, ("PREF", ("1",))))
    if not is_v4 and line.first_param("PREF") == "1":
        rest = line.without_params("PREF").params
        return line.with_params(rest if "pref" in line.types else (*rest, ("TYPE", ("pref",))))
    return line


def _without_pref(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The TYPE values without `pref`, also where it is part of a quoted list."""
    lists = ([word for word in text.split(",") if word.strip().lower() != "pref"] for text in texts)
    return tuple(",".join(words) for words in lists if words)


def _to_data_uri(line: ContentLine) -> ContentLine:
    kinds = {"JPEG": "image/jpeg", "JPG": "image/jpeg", "PNG": "image/png", "GIF": "image/gif", "WEBP": "image/webp"}
    types = {word.upper(): word for word in line.param("TYPE")}
    kind = next((word for word in types if word in kinds), None)
    media = kinds[kind] if kind else next((word for word in types.values() if "/" in word), "")
    params = tuple(
        (name, remaining) if name == "TYPE" else (name, texts)
        for name, texts in line.params
        if name not in {"ENCODING", "VALUE"}
        and (name != "TYPE" or (remaining := tuple(t for t in texts if t.upper() != kind and t != media)))
    )
    return ContentLine(line.name, f"data:{media};base64,{''.join(line.value.split())}", params, line.group)


def _convert_date(line: ContentLine, *, is_v4: bool) -> ContentLine:
    """Convert a date: 4.0 has only the basic format, with a form without year; for 3.0 that of Apple is used.

    RFC 6350, 4.3 allows no fractions of a second, but they stay so that nothing is lost. A spelling that no version
    allows (28.09.1973) becomes that of the version, since other programs do not read it.
    """
    value = _standard_date(line.value.strip())
    if not is_v4:
        found = _YEARLESS.fullmatch(value)
        if not found:
            return line if value == line.value.strip() else line.with_value(value)
        kept = line.without_params("X-APPLE-OMIT-YEAR").params
        params = (*kept, ("X-APPLE-OMIT-YEAR", ("1604",)))
        return line.with_params(params).with_value(f"1604-{found.group(1)}-{found.group(2)}")
    omitted = line.first_param("X-APPLE-OMIT-YEAR")
    if found := _APPLE_YEARLESS.fullmatch(value.replace(f"{omitted}-", "1604-", 1) if omitted else value):
        # The parameter says which year stands for none: here none stands.
        return line.without_params("X-APPLE-OMIT-YEAR").with_value(f"--{found.group(1)}{found.group(2)}")
    if found := _DATE_TIME.fullmatch(value):
        year, month, day, time, yearless_month, yearless_day = found.groups()
        if yearless_month:
            return line.with_value(f"--{yearless_month}{yearless_day}")
        basic_time = re.sub(r"(\d{2}):(?=\d{2})", r"\1", time or "")
        return line.with_value(f"{year}{month}{day}" + (f"T{basic_time}" if time else ""))
    return line


def _standard_date(value: str) -> str:
    """A date in the extended format if it is spelled otherwise than in any version; all else as it is."""
    if _STANDARD_DATE.match(value) or not (parsed := values.parse_any_date(value)):
        return value
    if parsed[1]:
        return f"{parsed[0]:--%m-%d}"
    time = value[8:] if value[:8].isdigit() else value.partition(" ")[2] if value[:1].isdigit() else ""
    return parsed[0].isoformat() + (f"T{time}" if time[:2].isdigit() else "")


def _convert_geo(line: ContentLine, *, is_v4: bool) -> ContentLine:
    """Convert GEO: a `geo:` URI in 4.0, two numbers in 3.0. A URI with parameters stays as it is."""
    found = (_GEO_PAIR if is_v4 else _GEO_URI).fullmatch(line.value.strip())
    if not found:
        return line
    return line.with_value(("geo:{},{}" if is_v4 else "{};{}").format(*found.groups()))


def canonical_key(line: ContentLine) -> tuple[object, ...]:
    """A key that is equal for two lines with the same meaning, whatever their group, version and spelling."""
    new = convert_line(line, "4.0")
    types = {word for word in new.types if word not in {"internet", "voice"}}
    params = {(name, nfc(text)) for name, texts in new.params if name not in {"TYPE", "VALUE"} for text in texts}
    return new.name.upper(), frozenset(types), frozenset(params), values.text(new)
