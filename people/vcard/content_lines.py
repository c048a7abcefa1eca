"""Content lines (RFC 6350, 3.3): parsing, serializing, folding.

`parse_lines` keeps every character: joining `original` of all lines gives the text of the card again, so that single
lines can be replaced and the rest stays byte for byte. Every function runs in linear time, whatever the input.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from contacts_project.kernel.text_forms import nfc
from contacts_project.kernel.texts import define_text
from people.vcard.card import VCardError

_TOO_MANY_LINES = define_text("too_many_lines", "the card has more than %(limit)s lines")

MAX_LINES = 20_000
_MAX_PARAM_VALUES = 200
_MAX_LINE_OCTETS = 75

_LINE_END = re.compile(r"\r+\n?|\n")
# Folds, blank lines, single carriage returns, and encodings whose values may go on in the next line.
_UNUSUAL = re.compile(r"(?:\A|\n)\s|\r(?!\n)|QUOTED-PRINTABLE|ENCODING=B|;BASE64", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9_/-]+")  # KDE uses slashes: X-messaging/skype-All
# The form of most lines: no quoted, escaped or bare parameters and no white space before the value. One match is much
# faster than the loop over parameters. Possessive quantifiers keep it linear.
_COMMON_LINE = re.compile(
    r"(?:([A-Za-z0-9_-]++)\.)?([A-Za-z0-9_/-]++)((?:;[A-Za-z0-9-]++=[^;:\",^\s]*+(?:,[^;:\",^\s]*+)*+)*+):"
)
_PARAM_NAME = re.compile(r"[^=;:]*")
_PARAM_VALUE = re.compile(r"[^,;:]*")
# A piece must not be followed by white space: a server that does not know quoted-printable would read the next line,
# which starts with it, as a fold.
_SOFT_BREAKS = re.compile(r"(?:=[0-9A-F]{2}|[^=]){1,70}(?=[^ \t])")
_HEX_AFTER_FOLD = re.compile(r"[ \t][0-9A-F]{2}")
# An encoded line break, or two bytes of one UTF-8 character: an encoder does not break a line inside either.
_UNSPLITTABLE_ESCAPE = re.compile(r"=0D=0A|=[89A-F][0-9A-F]=[89AB][0-9A-F]")
_DAVICAL_LINE_LENGTH = 72
_BASE64_LINE = re.compile(r"[A-Za-z0-9+/]+=*\s*")
_PARAM_ESCAPE = re.compile(r"\^([\^n'])")
_BARE_ENCODING_PARAMS = frozenset({"QUOTED-PRINTABLE", "BASE64", "8BIT", "7BIT", "B"})
_BARE_VALUE_PARAMS = frozenset({"INLINE", "URL", "CID", "CONTENT-ID"})

Params = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class ContentLine:
    """One logical (unfolded) line.

    `name` is in upper case; it is empty if the line is not a property. `value` is still escaped or encoded. `text` is
    the unfolded line and `original` the line as it was read, with folds and line end; both are empty for new lines.
    `has_bare_params` is set if vCard 2.1 parameters without a name (`TEL;HOME:`) were read.
    """

    name: str
    value: str
    params: Params = ()
    group: str | None = None
    text: str = ""
    original: str = ""
    has_bare_params: bool = False

    def param(self, name: str) -> tuple[str, ...]:
        """All values of a parameter, which may be given several times."""
        # Plain loops are measurably faster than comprehensions, and this runs several times for each line of a file.
        for key, values in self.params:
            if key == name:
                others = [value for other, more in self.params if other == name for value in more]
                return values if len(others) == len(values) else tuple(others)
        return ()

    def first_param(self, name: str) -> str | None:
        for key, values in self.params:
            if key == name and values:
                return values[0]
        return None

    @property
    def types(self) -> tuple[str, ...]:
        """The TYPE values in lower case, with quoted lists (`TYPE="home,work"`) split. Includes bare types of 2.1."""
        words = [nfc(word.strip().lower()) for text in self.param("TYPE") for word in text.split(",")]
        return tuple(filter(None, words))

    @property
    def encoding(self) -> str:
        """`quoted-printable`, `base64`, or an empty string for any other encoding or none."""
        if not self.params:
            return ""
        declared = (self.first_param("ENCODING") or "").lower()
        return "base64" if declared == "b" else declared if declared in {"quoted-printable", "base64"} else ""

    def with_value(self, value: str) -> "ContentLine":
        """A copy with another value. The group, name and parameters keep their spelling."""
        text = self.text and self.text[: len(self.text) - len(self.value)] + value
        return replace(self, value=value, text=text, original="")

    def with_params(self, params: Params) -> "ContentLine":
        return replace(self, params=params, text="", original="") if params != self.params else self

    def without_params(self, *names: str) -> "ContentLine":
        return self.with_params(tuple(param for param in self.params if param[0] not in names))

    def in_group(self, group: str | None) -> "ContentLine":
        if group == self.group:
            return self
        text = self.text[len(self.group) + 1 :] if self.group else self.text
        return replace(self, group=group, text=f"{group}.{text}" if group and text else text, original="")

    def serialize(self) -> str:
        """The line, unfolded: as it was read, or else built from its parts."""
        if self.text or not self.name:
            return self.text
        params = "".join(
            f";{name}{'=' if values else ''}{','.join(map(_encode_param_value, values))}"
            for name, values in self.params
        )
        return f"{self.group + '.' if self.group else ''}{self.name}{params}:{self.value}"


def parse_lines(text: str) -> list[ContentLine]:
    """All logical lines of a card, including BEGIN and END. Raises VCardError for more than MAX_LINES."""
    if not _UNUSUAL.search(text):
        return _parse_usual_lines(text)
    lines: list[ContentLine] = []
    current: _LogicalLine | None = None
    for content, end in _physical_lines(text):
        if current and current.takes(content):
            current.original += (content, end)
            continue
        if current:
            lines.append(current.parse())
            if len(lines) > MAX_LINES:
                raise VCardError(_TOO_MANY_LINES.format(limit=MAX_LINES))
        current = _LogicalLine(content, end)
    if current:
        lines.append(current.parse())
    return lines


def _parse_usual_lines(text: str) -> list[ContentLine]:
    """The same for a text of which each physical line is a logical one."""
    pieces = text.split("\n", MAX_LINES + 2)
    last = pieces.pop()
    if len(pieces) + bool(last) > MAX_LINES + 1:
        raise VCardError(_TOO_MANY_LINES.format(limit=MAX_LINES))
    lines = [parse_line(line[:-1] if line[-1:] == "\r" else line, f"{line}\n") for line in pieces]
    return [*lines, parse_line(last, last)] if last else lines


def _physical_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield (content, line end) of each line."""
    # Not str.splitlines(): it also splits at characters such as U+2028, which may be part of a value.
    start = 0
    for end in _LINE_END.finditer(text):
        yield text[start : end.start()], end.group()
        start = end.end()
    if start < len(text):
        yield text[start:], ""


class _LogicalLine:
    """A logical line while its physical lines are collected.

    `parts` are the physical lines without folds and soft line breaks, `original` what was read, with line ends. The
    encoding is looked up once, in the first physical line: a header may be long, and the lines after it many.
    """

    def __init__(self, content: str, end: str) -> None:
        self.parts, self.original = [content], [content, end]
        self.after_blank_line = False
        header = content.partition(":")[0].upper()
        self.is_quoted_printable = "QUOTED-PRINTABLE" in header
        self.is_base64 = "ENCODING=B" in header or ";BASE64" in header

    def parse(self) -> ContentLine:
        return parse_line("".join(self.parts), "".join(self.original))

    def takes(self, content: str) -> bool:
        """Whether `content` belongs to this line, to which it is then added. A blank line adds nothing."""
        added = self._continuation(content)
        if added is not None:
            self.parts.append(added)
            self.after_blank_line = False
        elif not content.strip():
            self.after_blank_line = True
        else:
            return False
        return True

    def _continuation(self, content: str) -> str | None:
        """The text that `content` adds to this line; None if it starts a new line or is blank.

        Removes the `=` of a quoted-printable soft line break.
        """
        if self.is_quoted_printable and self.parts[-1].endswith("=") and not self.after_blank_line:
            # Some writers leave a `=` at the end of the last value; it must not swallow the end of the card.
            if content[:12].upper().startswith(("END:VCARD", "BEGIN:VCARD")):
                return None
            if _is_fold_inside_escape(self.parts[-1], content):
                return content[1:]
            self.parts[-1] = self.parts[-1][:-1]
            return content
        if content[:1] in {" ", "\t"}:
            return content[1:]
        # vCard 2.1 ends base64 with a blank line, and some writers do not indent the lines of its data.
        if self.is_base64 and content and not self.after_blank_line and _BASE64_LINE.fullmatch(content):
            return content
        return None


def _is_fold_inside_escape(before: str, content: str) -> bool:
    """Whether a line that ends in `=` was folded between the `=` and its two hex digits, instead of a soft line break.

    Servers that do not know quoted-printable fold there. It is such a fold if the escape is part of a pair that no
    encoder separates, or if the line has the length at which DAViCal folds.
    """
    if not _HEX_AFTER_FOLD.match(content):
        return False
    return len(before) == _DAVICAL_LINE_LENGTH or _UNSPLITTABLE_ESCAPE.search(before[-4:] + content[1:6]) is not None


def parse_line(text: str, original: str = "") -> ContentLine:
    """Parse an unfolded line. If it is not a property, the result has no name and the whole text as its value."""
    if found := _COMMON_LINE.match(text):
        group, name, tail = found.groups()
        pairs = (part.partition("=") for part in tail[1:].split(";")) if tail else ()
        common_params = tuple((key.upper(), tuple(value.split(","))) for key, _, value in pairs)
        if "\\" in tail:
            common_params = tuple(map(_unescape_types, common_params))
        return ContentLine(name.upper(), text[found.end() :], common_params, group, text, original)
    head = re.match(r"[^;:]*", text)
    stop = head.end() if head else 0
    group, _, name = text[:stop].strip().rpartition(".")
    if stop == len(text) or not _NAME.fullmatch(name) or (group and not _NAME.fullmatch(group)):
        return ContentLine("", text, text=text, original=original)
    params: list[tuple[str, tuple[str, ...]]] = []
    position, count, is_bare = stop, 0, False
    while position < len(text) and text[position] == ";":
        start = position + 1
        param, position = _parse_param(text, start)
        params.append(param)
        count += len(param[1])
        is_bare |= bool(param[0]) and "=" not in text[start:position]
        if count > _MAX_PARAM_VALUES:
            break
    if position >= len(text) or text[position] != ":":
        return ContentLine("", text, text=text, original=original)
    kept = tuple(_unescape_types(param) for param in params if param[0])
    return ContentLine(name.upper(), text[position + 1 :], kept, group or None, text, original, is_bare)


def _unescape_types(param: tuple[str, tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
    """TYPE without the backslashes before its commas (`TYPE=VOICE\\,CELL`), which some programs write."""
    name, texts = param
    return (name, tuple(text.replace("\\", "") for text in texts)) if name == "TYPE" else param


def _parse_param(text: str, position: int) -> tuple[tuple[str, tuple[str, ...]], int]:
    match = _PARAM_NAME.match(text, position)
    end = match.end() if match else position
    name = text[position:end].strip().upper()
    if end >= len(text) or text[end] != "=":
        return (_bare_param_name(name), (text[position:end].strip(),)), end
    values: list[str] = []
    while end < len(text) and text[end] in "=,":
        value, end = _parse_param_value(text, end + 1)
        values.append(value)
        if len(values) > _MAX_PARAM_VALUES:
            break
    return (name, tuple(values)), end


def _parse_param_value(text: str, position: int) -> tuple[str, int]:
    close = text.find('"', position + 1) if text[position : position + 1] == '"' else -1
    if close < 0:
        match = _PARAM_VALUE.match(text, position)
        end = match.end() if match else position
        return _decode_param_value(text[position:end].strip()), end
    rest = _PARAM_VALUE.match(text, close + 1)
    return _decode_param_value(text[position + 1 : close]), rest.end() if rest else close + 1


def _bare_param_name(word: str) -> str:
    """The parameter that a bare word of vCard 2.1 is a value of (`TEL;HOME:` is TYPE); empty if there is no word."""
    if word in _BARE_ENCODING_PARAMS:
        return "ENCODING"
    if word in _BARE_VALUE_PARAMS:
        return "VALUE"
    return "TYPE" if word else ""


def _decode_param_value(value: str) -> str:
    """Decode the escapes of RFC 6868: ^n ^^ ^'."""
    if "^" not in value:
        return value
    return _PARAM_ESCAPE.sub(lambda found: {"n": "\n", "'": '"', "^": "^"}[found.group(1)], value)


def _encode_param_value(value: str) -> str:
    encoded = value.replace("^", "^^").replace("\n", "^n").replace('"', "^'")
    return f'"{encoded}"' if not encoded or any(c in encoded for c in ",;:") or encoded != encoded.strip() else encoded


def fold_21(line: ContentLine) -> str:
    """The line as vCard 2.1 wraps it, with CRLF: soft line breaks in quoted-printable, folds in base64, else none."""
    if line.encoding == "base64":
        return fold(line.serialize()) + "\r\n"  # a blank line ends base64 in 2.1
    text = line.serialize()
    if line.encoding and len(text) > _MAX_LINE_OCTETS:
        broken = _SOFT_BREAKS.sub(r"\g<0>=\r\n", line.value)
        text = f"{text[: len(text) - len(line.value)]}=\r\n{broken}"
    return text + "\r\n"


def fold(text: str) -> str:
    """The line with CRLF, folded at 75 octets and never inside a UTF-8 character (RFC 6350, 3.2)."""
    if len(text) <= _MAX_LINE_OCTETS and text.isascii():
        return text + "\r\n"
    data = text.encode("utf-8", "replace")
    parts: list[bytes] = []
    start, limit = 0, _MAX_LINE_OCTETS
    while len(data) - start > limit:
        end = start + limit
        while data[end] & 0xC0 == 0x80:  # a continuation byte of UTF-8
            end -= 1
        parts.append(data[start:end])
        start, limit = end, _MAX_LINE_OCTETS - 1  # the space of the fold counts
    parts.append(data[start:])
    return b"\r\n ".join(parts).decode() + "\r\n"
