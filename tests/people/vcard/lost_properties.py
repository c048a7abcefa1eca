"""Finds the properties and parameters of a card that are lost in a round trip.

It has its own parser and shares no code with the service. It ignores only the differences that docs/vcard.md lists
under "Allowed differences".
"""

import base64
import binascii
import quopri
import re
from collections import Counter
from dataclasses import dataclass

_STRUCTURED = {"N", "ADR", "ORG", "GENDER", "X-CUSTOM-FIELD", "X-ANDROID-CUSTOM"}
_LISTS = {"N", "ADR", "NICKNAME", "CATEGORIES"}
_WRITER_PROPERTIES = {"BEGIN", "END", "VERSION", "PRODID", "REV"}
_BARE_PARAMETER_NAMES = {
    "QUOTED-PRINTABLE": "ENCODING",
    "BASE64": "ENCODING",
    "8BIT": "ENCODING",
    "7BIT": "ENCODING",
    "URL": "VALUE",
}
_PICTURES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF")
_DATE = re.compile(r"(\d{4}|--)-?(\d\d)-?(\d\d)(?:[T ]?(\d\d):?(\d\d):?(\d\d)?(.*))?$")
_GEO = re.compile(r"(?:geo:)?([-+]?\d+(?:\.\d*)?)[;,]([-+]?\d+(?:\.\d*)?)$", re.IGNORECASE)


@dataclass(frozen=True)
class Property:
    """One property in normal form, which both texts must contain."""

    name: str
    group: str
    params: frozenset[tuple[str, str]]
    value: object

    def __str__(self) -> str:
        params = "".join(f";{name}={value}" for name, value in sorted(self.params))
        return f"{self.group}.{self.name}{params}:{str(self.value)[:90]}".removeprefix(".")


def parse_properties(data: bytes) -> list[Property]:
    """The properties of one card, in their order, without those that every writer generates."""
    lines = [line for line in _unfold(data) if ":" in line]
    version = next((line[8:].strip() for line in lines if line.upper().startswith("VERSION:")), "")
    found = (_parse_property(line, is_version_21=version == "2.1") for line in lines)
    return [prop for prop in found if prop.name not in _WRITER_PROPERTIES and re.fullmatch(r"[\w/.-]+", prop.name)]


def find_lost_properties(before: bytes, after: bytes) -> list[str]:
    """The properties of `before` that are missing in `after`; if none is missing, whether their order differs."""
    old, new = parse_properties(before), parse_properties(after)
    old = _with_picture_as_stored(old, new)
    missing = list((Counter(old) - Counter(new)).elements())
    if missing:
        return [str(prop) for prop in missing]
    positions = {prop: place for place, prop in reversed(list(enumerate(new)))}
    order = [positions[prop] for prop in dict.fromkeys(old)]
    return [] if order == sorted(order) else [f"order: {[prop.name for prop in old]}"]


def _with_picture_as_stored(old: list[Property], new: list[Property]) -> list[Property]:
    """Replace the picture by the JPEG that was stored of it, if that has the same parameters."""
    stored = next((prop for prop in new if _is_photo(prop, b"\xff\xd8\xff") and prop not in old), None)
    first = next((prop for prop in old if _is_photo(prop, *_PICTURES) and prop not in new), None)
    if not stored or not first or (stored.group, stored.params) != (first.group, first.params):
        return old
    return [stored if prop == first else prop for prop in old]


def _is_photo(prop: Property, *starts: bytes) -> bool:
    return prop.name == "PHOTO" and isinstance(prop.value, bytes) and prop.value.startswith(starts)


def _unfold(data: bytes) -> list[str]:
    """The logical lines, with folds, soft breaks of quoted-printable and Base64 blocks of 2.1 joined."""
    joined: list[bytes] = []
    for line in re.split(rb"\r\n|\n|\r", data):
        head = joined[-1].partition(b":")[0].upper() if joined else b""
        if joined and b"QUOTED-PRINTABLE" in head and joined[-1].endswith(b"="):
            joined[-1] = joined[-1][:-1] + line
        elif line[:1] in {b" ", b"\t"} and joined:
            joined[-1] += line[1:]
        elif joined and re.search(rb"BASE64|ENCODING=B\b", head) and re.fullmatch(rb"[A-Za-z0-9+/]+=*\s*", line):
            joined[-1] += line
        elif line.strip():
            joined.append(line)
    return [_decode_line(line) for line in joined]


def _decode_line(line: bytes) -> str:
    declared = re.search(rb"CHARSET=([\w-]+)", line.partition(b":")[0], re.IGNORECASE)
    for codec in ([declared.group(1).decode()] if declared else []) + ["utf-8", "cp1252", "latin-1"]:
        try:
            return line.decode(codec)
        except (UnicodeDecodeError, LookupError):
            continue
    return ""


def _parse_property(line: str, *, is_version_21: bool) -> Property:
    found = re.match(r'(?:([\w-]+)\.)?([^;:]+)((?:;(?:"[^"]*"|[^":])*)?):(.*)$', line, re.DOTALL)
    assert found, line
    group, name, tail, value = found.groups("")
    name, params = name.strip().upper(), _parse_params(tail)
    encoding = next((value.upper() for key, value in params if key == "ENCODING"), "")
    charset = next((value for key, value in params if key == "CHARSET"), "utf-8")
    kept = {(key, text) for key, text in params if key not in {"ENCODING", "CHARSET"}}
    if encoding == "QUOTED-PRINTABLE":
        value = _decode(quopri.decodestring(value.encode()), charset).replace("\r\n", "\n")
    if (data := _decode_base64(value, encoding)) is not None:
        forms = {"type", "mediatype", "value"}
        return Property(name, group.upper(), frozenset(p for p in kept if p[0].lower() not in forms), data)
    return Property(name, group.upper(), frozenset(kept), _parse_value(name, value, is_version_21=is_version_21))


def _decode(data: bytes, charset: str) -> str:
    for codec in (charset, "utf-8", "cp1252", "latin-1"):
        try:
            return data.decode(codec)
        except (UnicodeDecodeError, LookupError):
            continue
    return ""


def _parse_params(tail: str) -> list[tuple[str, str]]:
    params: list[tuple[str, str]] = []
    for part in re.findall(r';((?:"[^"]*"|[^";])*)', tail):
        key, equals, text = part.partition("=")
        key = key.strip().upper()
        if not equals:
            key, text = _BARE_PARAMETER_NAMES.get(key, "TYPE"), key
        for value in re.findall(r'"[^"]*"|[^",]+', text):
            for word in value.strip('"').split(",") if key == "TYPE" else [value.strip('"')]:
                params += _parse_param(key, word.strip())
    return params


def _parse_param(key: str, value: str) -> list[tuple[str, str]]:
    if key == "TYPE" and value.lower() == "pref":
        return [("PREF", "1")]
    if key == "TYPE":
        return [] if value.lower() in {"internet", "voice"} else [(key, value.lower())]
    return [(key, value)] if key != "X-APPLE-OMIT-YEAR" else []


def _decode_base64(value: str, encoding: str) -> object:
    """The bytes of Base64 and data: URIs, so that both forms are equal; the text if it is no valid Base64."""
    uri = re.match(r"data:[^,]*;base64\\?,(.*)$", value, re.IGNORECASE | re.DOTALL)
    if encoding not in {"B", "BASE64"} and not uri:
        return None
    letters = re.sub(r"\s|\\", "", uri.group(1) if uri else value)
    try:
        return base64.b64decode(letters, validate=True)
    except binascii.Error:
        return letters


def _parse_value(name: str, value: str, *, is_version_21: bool) -> object:
    value = value.strip()
    if found := _GEO.match(value) if name == "GEO" else None:
        return tuple(map(float, found.groups()))
    if re.search("BDAY|ANNIVERSARY|ABDATE", name) and (date := _DATE.match(value)):
        return tuple((part or "").replace("1604", "--").replace(":", "") for part in date.groups())
    if name in _STRUCTURED:
        parts = tuple(_parts(name, part, is_version_21=is_version_21) for part in _split(value, ";"))
        while parts and parts[-1] in {"", ("",)}:
            parts = parts[:-1]
        return parts
    return _parts(name, value, is_version_21=is_version_21)


def _parts(name: str, value: str, *, is_version_21: bool) -> object:
    if name in _LISTS:
        return tuple(_unescape(part, is_version_21=is_version_21) for part in _split(value, ","))
    return _unescape(value, is_version_21=is_version_21)


def _split(value: str, separator: str) -> list[str]:
    return re.findall(rf"((?:\\.|[^\\{separator}]|\\$)*)(?:{separator}|$)", value, re.DOTALL)[
        : len(re.sub(r"\\.", "", value, flags=re.DOTALL).split(separator))
    ]


def _unescape(value: str, *, is_version_21: bool) -> str:
    if is_version_21:
        return re.sub(r"\\([;,:])", r"\1", value).strip()
    return re.sub(r"\\(.)", lambda m: "\n" if m.group(1) in "nN" else m.group(1), value, flags=re.DOTALL).strip()
