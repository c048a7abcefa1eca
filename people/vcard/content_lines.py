"""Content lines (RFC 6350, 3.3): name, group, parameters, raw value, and the text as it stood.

`parse_lines` covers every character: joining `original` of all lines gives the card again, so that single lines can be
replaced and the rest stays as it is. Everything here is linear in the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from people.vcard.card import VCardError

MAX_LINES = 20_000
_MAX_PARAM_VALUES = 200
_FOLD_AT = 75

_LINE_END = re.compile(r"\r+\n?|\n")
_NAME = re.compile(r"[A-Za-z0-9_/-]+")  # a slash as KDE has it: X-messaging/skype-All
# Most lines: no quotes, white space, circumflexes or bare words in what stands before the value.
_USUAL = re.compile(
    r"(?:([A-Za-z0-9_-]++)\.)?([A-Za-z0-9_/-]++)((?:;[A-Za-z0-9-]++=[^;:\",^\s]*+(?:,[^;:\",^\s]*+)*+)*+):"
)
_PARAM_NAME = re.compile(r"[^=;:]*")
_PARAM_VALUE = re.compile(r"[^,;:]*")
# No line begins with a space: servers that know folds alone would take it for one.
_SOFT_BREAKS = re.compile(r"(?:=[0-9A-F]{2}|[^=]){1,70}(?=[^ \t])")
_HEX_BEHIND_FOLD = re.compile(r"[ \t][0-9A-F]{2}")
# A line break, or bytes of one character of UTF-8, of which a fold would leave halves.
_ONE_PIECE = re.compile(r"=0D=0A|=[89A-F][0-9A-F]=[89AB][0-9A-F]")
_DAVICAL_FOLDS_AT = 72
_BASE64_LINE = re.compile(r"[A-Za-z0-9+/]+=*\s*")
_CIRCUMFLEX = re.compile(r"\^([\^n'])")
_BARE_ENCODINGS = frozenset({"QUOTED-PRINTABLE", "BASE64", "8BIT", "7BIT", "B"})
_BARE_VALUES = frozenset({"INLINE", "URL", "CID", "CONTENT-ID"})

Params = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class ContentLine:
    """One logical line. `name` is upper case, empty where there is no property; `value` is still escaped."""

    name: str
    value: str
    params: Params = ()
    group: str | None = None
    text: str = ""
    original: str = ""
    has_bare_params: bool = False

    def param(self, name: str) -> tuple[str, ...]:
        # Loops and no comprehensions: it is asked several times of each line of a file.
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
        """TYPE values in lower case, quoted lists taken apart, 2.1's bare ones included."""
        words = [word.strip().lower() for text in self.param("TYPE") for word in text.split(",")]
        return tuple(filter(None, words))

    @property
    def encoding(self) -> str:
        """`quoted-printable`, `base64` or empty."""
        if not self.params:
            return ""
        declared = (self.first_param("ENCODING") or "").lower()
        return "base64" if declared == "b" else declared if declared in {"quoted-printable", "base64"} else ""

    def with_value(self, value: str) -> "ContentLine":
        """The line with another value; what stands before it stays letter for letter."""
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

    def spelled(self) -> str:
        """The line unfolded: as it was read, or put together from its parts."""
        if self.text or not self.name:
            return self.text
        params = "".join(
            f";{name}{'=' if values else ''}{','.join(map(_quote, values))}" for name, values in self.params
        )
        return f"{self.group + '.' if self.group else ''}{self.name}{params}:{self.value}"


def parse_lines(text: str) -> list[ContentLine]:
    """All lines of a card, BEGIN and END included; raises VCardError when there are too many."""
    lines: list[ContentLine] = []
    logical: list[str] = []
    original: list[str] = []
    blank_since = False
    for content, end in _physical_lines(text):
        if not logical:
            logical, original = [content], [content, end]
            continue
        joined = _continuation(logical, content, blank_since=blank_since)
        if joined is not None:
            logical.append(joined)
            blank_since = False
        elif not content.strip():
            blank_since = True
        else:
            lines.append(parse_line("".join(logical), "".join(original)))
            if len(lines) > MAX_LINES:
                raise VCardError(f"the card has more than {MAX_LINES:,} lines")
            logical, original, blank_since = [content], [], False
            original.append(content)
            original.append(end)
            continue
        original += (content, end)
    if logical:
        lines.append(parse_line("".join(logical), "".join(original)))
    return lines


def _physical_lines(text: str) -> Iterator[tuple[str, str]]:
    start = 0
    for end in _LINE_END.finditer(text):
        yield text[start : end.start()], end.group()
        start = end.end()
    if start < len(text):
        yield text[start:], ""


def _continuation(logical: list[str], content: str, *, blank_since: bool) -> str | None:
    """What `content` adds to the line before, None if it is its own. Takes a soft break off `logical`."""
    if logical[-1].endswith("=") and not blank_since and _head_says(logical[0], "QUOTED-PRINTABLE"):
        if content.upper().startswith(("END:VCARD", "BEGIN:VCARD")):
            return None
        if _divides_escape(logical[-1], content):
            return content[1:]
        logical[-1] = logical[-1][:-1]
        return content
    if content[:1] in {" ", "\t"}:
        return content[1:]
    if (
        not blank_since
        and content
        and _BASE64_LINE.fullmatch(content)
        and _head_says(logical[0], "ENCODING=B", ";BASE64")
    ):
        return content
    return None


def _divides_escape(before: str, content: str) -> bool:
    """Whether what looks like a soft break is a fold between `=` and the digits behind it, as servers make that know
    no quoted-printable: where the digits are half of something, or where DAViCal folds."""
    if not _HEX_BEHIND_FOLD.match(content):
        return False
    return len(before) == _DAVICAL_FOLDS_AT or _ONE_PIECE.search(before[-4:] + content[1:6]) is not None


def _head_says(first: str, *words: str) -> bool:
    head = first.partition(":")[0].upper()
    return any(word in head for word in words)


def parse_line(text: str, original: str = "") -> ContentLine:
    """One unfolded line. Text that is no property gets an empty name and is its own value."""
    if found := _USUAL.match(text):
        group, name, tail = found.groups()
        pairs = (part.partition("=") for part in tail[1:].split(";")) if tail else ()
        usual = tuple((key.upper(), tuple(value.split(","))) for key, _, value in pairs)
        return ContentLine(name.upper(), text[found.end() :], usual, group, text, original)
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
    kept = tuple(param for param in params if param[0])
    return ContentLine(name.upper(), text[position + 1 :], kept, group or None, text, original, is_bare)


def _parse_param(text: str, position: int) -> tuple[tuple[str, tuple[str, ...]], int]:
    match = _PARAM_NAME.match(text, position)
    end = match.end() if match else position
    name = text[position:end].strip().upper()
    if end >= len(text) or text[end] != "=":
        return (_bare_param(name), (text[position:end].strip(),)), end
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
        return _decode_param(text[position:end].strip()), end
    rest = _PARAM_VALUE.match(text, close + 1)
    return _decode_param(text[position + 1 : close]), rest.end() if rest else close + 1


def _bare_param(word: str) -> str:
    """The name that a nameless parameter of vCard 2.1 stands for; empty for nothing at all."""
    if word in _BARE_ENCODINGS:
        return "ENCODING"
    if word in _BARE_VALUES:
        return "VALUE"
    return "TYPE" if word else ""


def _decode_param(value: str) -> str:
    """RFC 6868: ^n ^^ ^'."""
    if "^" not in value:
        return value
    return _CIRCUMFLEX.sub(lambda found: {"n": "\n", "'": '"', "^": "^"}[found.group(1)], value)


def _quote(value: str) -> str:
    encoded = value.replace("^", "^^").replace("\n", "^n").replace('"', "^'")
    return f'"{encoded}"' if not encoded or any(c in encoded for c in ",;:") or encoded != encoded.strip() else encoded


def fold_old(line: ContentLine) -> str:
    """The line with CRLF as 2.1 breaks it: quoted-printable by soft breaks, base64 by folds, else not at all."""
    if line.encoding == "base64":
        return fold(line.spelled()) + "\r\n"
    text = line.spelled()
    if line.encoding and len(text) > _FOLD_AT:
        broken = _SOFT_BREAKS.sub(r"\g<0>=\r\n", line.value)
        text = f"{text[: len(text) - len(line.value)]}=\r\n{broken}"
    return text + "\r\n"


def fold(text: str) -> str:
    """The line with CRLF, folded at 75 octets, never inside a character (RFC 6350, 3.2)."""
    if len(text) <= _FOLD_AT and text.isascii():
        return text + "\r\n"
    data = text.encode("utf-8", "replace")
    parts: list[bytes] = []
    start, limit = 0, _FOLD_AT
    while len(data) - start > limit:
        end = start + limit
        while data[end] & 0xC0 == 0x80:
            end -= 1
        parts.append(data[start:end])
        start, limit = end, _FOLD_AT - 1
    parts.append(data[start:])
    return b"\r\n ".join(parts).decode() + "\r\n"
