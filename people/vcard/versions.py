"""Content lines in another version of vCard: of 2.1 in 3.0 when read, of 3.0 in 4.0 and back when written.

Only what the target spells differently changes; everything else stays letter for letter. docs/vcard.md lists it.
"""

import re

from people import field_table
from people.vcard import values
from people.vcard.charsets import clean_controls
from people.vcard.content_lines import ContentLine, Params

VERSIONS = ("4.0", "3.0")

# Lists and components may stand in these; elsewhere a comma or semicolon of 2.1 is text.
_STRUCTURED = frozenset({"N", "ADR", "ORG", "GENDER", "X-CUSTOM-FIELD", "X-ANDROID-CUSTOM"})
_LISTS = frozenset({"CATEGORIES", "NICKNAME"})
_OF_FIELDS = {
    name for field in field_table.CARD_SCALARS if field.kind is field_table.Kind.TEXT for name in field.card_properties
}
_TEXTS = frozenset(
    {
        *(_OF_FIELDS - _STRUCTURED - _LISTS),
        *("FN", "ROLE", "LABEL", "TEL", "EMAIL", "MAILER", "SORT-STRING", "IMPP"),
        *("X-ABLABEL", "X-ABDATE"),
        *("X-AIM", "X-GADUGADU", "X-GOOGLE-TALK", "X-GTALK", "X-GROUPWISE", "X-ICQ", "X-JABBER", "X-MATRIX"),
        *("X-MS-IMADDRESS", "X-MSN", "X-QQ", "X-SIP", "X-SKYPE", "X-SKYPE-USERNAME", "X-TELEGRAM", "X-YAHOO"),
    }
)
_LONE_BACKSLASH = re.compile(r"\\(?![,;:])")
_DATES = frozenset({"BDAY", "ANNIVERSARY", "DEATHDATE"})
_MOMENT = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](.*))?|--(\d{2})-(\d{2})", re.ASCII)
_APPLE_YEARLESS = re.compile(r"1604-?(\d{2})-?(\d{2})", re.ASCII)
_YEARLESS = re.compile(r"--(\d{2})-?(\d{2})", re.ASCII)
_PAIR = re.compile(r"([+-]?\d{1,3}(?:\.\d{0,30})?) ?[;,] ?([+-]?\d{1,3}(?:\.\d{0,30})?)", re.ASCII)
_GEO_URI = re.compile(r"geo:([+-]?\d{1,3}(?:\.\d{0,30})?),([+-]?\d{1,3}(?:\.\d{0,30})?)", re.ASCII | re.IGNORECASE)
_IMAGE_URI = re.compile(r"data:image/([a-z0-9.+-]{1,40});base64\\?,", re.IGNORECASE)


def modern(line: ContentLine, *, old: bool) -> ContentLine:
    """The line as 3.0 spells it: bare types named, quoted-printable and charsets decoded. `old`: of a 2.1 card."""
    if not (old or line.has_bare_params or (line.params and (line.encoding or line.param("CHARSET")))):
        return line
    value = line.value
    if line.encoding == "quoted-printable":
        value = _unquoted(line)
    elif line.encoding == "base64":
        value = "".join(value.split())
    elif old and "\\" in value and line.name != "AGENT":  # that has been escaped already
        value = _escaped_again(line.name, value)
    elif old and line.name in _TEXTS:
        value = values.escape(value)
    params = _modern_params(line)
    if params == line.params and not line.has_bare_params:
        return line if value == line.value else line.with_value(value)
    return ContentLine(line.name, value, params, line.group, original=line.original)


def spelled_old(line: ContentLine) -> ContentLine:
    """A line of 3.0 as 2.1 spells it: types bare, text beyond ASCII or of several lines quoted-printable."""
    bare = tuple((word.strip(), ()) for text in line.param("TYPE") for word in text.split(",") if word.strip())
    params = (*bare, *((name, texts) for name, texts in line.params if name not in {"TYPE", "ENCODING"}))
    if line.encoding == "base64":
        return ContentLine(line.name, line.value, (*params, ("ENCODING", ("BASE64",))), line.group)
    if line.name in _STRUCTURED:
        text = ";".join(map(_old_component, values.split(line.value, ";")))
    else:
        text = _old_component(line.value) if line.name in _LISTS else values.unescape(line.value)
    if text.isascii() and "\n" not in text:
        return ContentLine(line.name, text, params, line.group)
    quoted = "".join(chr(c) if 32 <= c < 127 and c != 61 else f"={c:02X}" for c in text.replace("\n", "\r\n").encode())
    coding: Params = (("CHARSET", ("UTF-8",)), ("ENCODING", ("QUOTED-PRINTABLE",)))
    return ContentLine(line.name, quoted, (*params, *coding), line.group)


def _old_component(piece: str) -> str:
    parts = (values.unescape(part) for part in values.split(piece, ","))
    return ",".join(part.replace(",", "\\,").replace(";", "\\;") for part in parts)


def _modern_params(line: ContentLine) -> Params:
    params = tuple(param for param in line.params if param[0] not in {"ENCODING", "CHARSET"})
    if line.encoding != "base64":
        return params
    return line.params if line.first_param("ENCODING") == "b" else (("ENCODING", ("b",)), *params)


def _unquoted(line: ContentLine) -> str:
    """Semicolons that separate stand outside of the encoding; those inside are text."""
    charset = line.first_param("CHARSET")
    pieces = values.split(line.value.replace("=5C;", "\\;").replace("=5c;", "\\;"), ";")
    texts = [clean_controls(values.unquote_printable(piece, charset).replace("\r\n", "\n")) for piece in pieces]
    if line.name in _TEXTS:
        return values.escape(values.unescape_21(";".join(texts)))
    if line.name in _LISTS:
        return _component(";".join(texts))
    return ";".join(map(_component, texts))


def _escaped_again(name: str, value: str) -> str:
    """What 2.1 says with backslashes, which stand for themselves there but before a separator."""
    if name in _TEXTS:
        return values.escape(values.unescape_21(value))
    if name in _LISTS:
        return _component(value)
    if name in _STRUCTURED:
        return ";".join(map(_component, values.split(value, ";")))
    if name == "URL":
        return values.escape_uri(values.unescape_21(value))
    return _LONE_BACKSLASH.sub(r"\\\\", value)


def _component(text: str) -> str:
    """A component of 2.1, which may be a list, escaped as 3.0 has it."""
    return ",".join(values.escape(values.unescape_21(part)) for part in values.split(text, ","))


def in_version(line: ContentLine, version: str) -> ContentLine:
    """A line of 3.0 or 4.0 as `version` spells it."""
    if line.params:
        line = _with_pref(line, is_new=version == "4.0")
        if line.encoding == "base64" and version == "4.0":
            return _as_data_uri(line)
    if line.name in _DATES:
        return _date_in(line, is_new=version == "4.0")
    if line.name == "GEO":
        return _geo_in(line, is_new=version == "4.0")
    if version == "3.0" and line.name in {"PHOTO", "LOGO"} and (found := _IMAGE_URI.match(line.value)):
        params = (*line.without_params("VALUE", "MEDIATYPE").params, ("TYPE", (found.group(1).upper(),)))
        return ContentLine(line.name, line.value[found.end() :], (("ENCODING", ("b",)), *params), line.group)
    return line


def _with_pref(line: ContentLine, *, is_new: bool) -> ContentLine:
    """The preferred mark: `TYPE=pref` in 3.0, `PREF=1` in 4.0. Lower preferences have no other form in 3.0."""
    if is_new and "pref" in line.types:
        params = tuple(
            (name, left) if name == "TYPE" else (name, texts)
            for name, texts in line.params
            if name != "TYPE" or (left := _without_pref(texts))
        )
        return line.with_params(params if line.param("PREF") else (*params, ("PREF", ("1",))))
    if not is_new and line.first_param("PREF") == "1":
        rest = line.without_params("PREF").params
        return line.with_params(rest if "pref" in line.types else (*rest, ("TYPE", ("pref",))))
    return line


def _without_pref(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Without the mark, also where it stands in one quoted text with others."""
    lists = ([word for word in text.split(",") if word.strip().lower() != "pref"] for text in texts)
    return tuple(",".join(words) for words in lists if words)


def _as_data_uri(line: ContentLine) -> ContentLine:
    kinds = {"JPEG": "image/jpeg", "JPG": "image/jpeg", "PNG": "image/png", "GIF": "image/gif", "WEBP": "image/webp"}
    types = {word.upper(): word for word in line.param("TYPE")}
    kind = next((word for word in types if word in kinds), None)
    media = kinds[kind] if kind else next((word for word in types.values() if "/" in word), "")
    params = tuple(
        (name, left) if name == "TYPE" else (name, texts)
        for name, texts in line.params
        if name not in {"ENCODING", "VALUE"}
        and (name != "TYPE" or (left := tuple(t for t in texts if t.upper() != kind and t != media)))
    )
    return ContentLine(line.name, f"data:{media};base64,{''.join(line.value.split())}", params, line.group)


def _date_in(line: ContentLine, *, is_new: bool) -> ContentLine:
    """4.0 has dates in the basic form alone, and one without a year; for 3.0 Apple's is the one that others read."""
    value = line.value.strip()
    if not is_new:
        found = _YEARLESS.fullmatch(value)
        if not found:
            return line
        kept = line.without_params("X-APPLE-OMIT-YEAR").params
        params = (*kept, ("X-APPLE-OMIT-YEAR", ("1604",)))
        return line.with_params(params).with_value(f"1604-{found.group(1)}-{found.group(2)}")
    if found := _APPLE_YEARLESS.fullmatch(value):
        return line.with_value(f"--{found.group(1)}{found.group(2)}")
    if found := _MOMENT.fullmatch(value):
        year, month, day, time, yearless_month, yearless_day = found.groups()
        if yearless_month:
            return line.with_value(f"--{yearless_month}{yearless_day}")
        return line.with_value(f"{year}{month}{day}" + (f"T{_basic_time(time)}" if time else ""))
    return line


def _basic_time(time: str) -> str:
    """Hours, minutes and seconds without colons; RFC 6350, 4.3 knows no fractions of a second, but nothing is lost."""
    return re.sub(r"(\d{2}):(?=\d{2})", r"\1", time)


def _geo_in(line: ContentLine, *, is_new: bool) -> ContentLine:
    """A `geo:` URI in 4.0, two numbers in 3.0. A URI that says more stays one."""
    found = (_PAIR if is_new else _GEO_URI).fullmatch(line.value.strip())
    if not found:
        return line
    return line.with_value(("geo:{},{}" if is_new else "{};{}").format(*found.groups()))


def canonical(line: ContentLine) -> tuple[object, ...]:
    """The line without group and spelling: equal where two lines say the same."""
    new = in_version(line, "4.0")
    types = {word for word in new.types if word not in {"internet", "voice"}}
    params = {(name, text) for name, texts in new.params if name not in {"TYPE", "VALUE"} for text in texts}
    return new.name.upper(), frozenset(types), frozenset(params), values.text(new)
