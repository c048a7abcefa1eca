"""Decodes the bytes of a card: as UTF-8, else by the CHARSET of the line, else as Windows-1252.

A fold may split a multibyte character, so a line that is not valid UTF-8 is unfolded before it is decoded.
"""

import codecs
import re

_LINE_END = re.compile(rb"\r+\n?|\n")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_REMOVE_CONTROLS = dict.fromkeys(c for c in (*range(0x20), *range(0x7F, 0xA0)) if c not in {9, 10, 13})
# The text encodings of real exports. Python's other codecs (idna, punycode, utf-7, unicode_escape) are not allowed: on
# hostile input some are slow and some produce surrogates.
_CHARSETS = re.compile(
    r"utf-?8|ascii|iso8859-\d+|cp\d+|koi8-[ru]|gb2312|gbk|gb18030|big5(hkscs)?|shift_jis(_2004|x0213)?|euc_\w+|mac-\w+"
)


def allowed_charset(name: str | None) -> str | None:
    """The name of Python's codec for a declared charset; None if it is unknown or not allowed in cards."""
    if not name or len(name) > 40 or not name.isascii():
        return None
    try:
        codec = codecs.lookup(name.strip().strip('"')).name
    except (LookupError, ValueError):
        return None
    return codec if _CHARSETS.fullmatch(codec) else None


def decode_value(data: bytes, charset: str | None) -> str:
    """Decode by the first codec that fits: `charset`, UTF-8, UTF-8 with surrogates, Windows-1252, Latin-1.

    Never fails, since every byte is valid in Latin-1.
    """
    return _decode(data, charset)[0]


def is_guess(data: bytes, charset: str | None) -> bool:
    """Whether `decode_value` can only guess, because the text fits neither UTF-8 nor `charset`."""
    return _decode(data, charset)[1]


def _decode(data: bytes, charset: str | None) -> tuple[str, bool]:
    """The text, and whether its charset is a guess."""
    for codec in (allowed_charset(charset), "utf-8"):
        if codec:
            try:
                return data.decode(codec), False
            except UnicodeDecodeError:
                continue
    try:
        # Java writes characters beyond U+FFFF as two surrogates, each encoded in UTF-8 (CESU-8).
        return join_surrogates(data.decode("utf-8", "surrogatepass")), False
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252"), True
    except UnicodeDecodeError:
        return data.decode("latin-1"), True


def join_surrogates(text: str) -> str:
    """Join surrogate pairs into one character and replace lone surrogates by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def remove_controls(text: str) -> str:
    """Remove NUL and the other control characters, except tab and line breaks. PostgreSQL stores no NUL in text."""
    return text.translate(_REMOVE_CONTROLS) if _CONTROLS.search(text) else text


def has_controls(text: str) -> bool:
    return _CONTROLS.search(text) is not None


def decode_card(data: bytes, fallback: str | None = None) -> str:
    """Decode a card. Folds stay, except in lines that are not valid UTF-8.

    `fallback` is the charset of the whole file, for example from a Content-Type header.
    """
    return decode_or_guess(data, fallback)[0]


def decode_or_guess(data: bytes, fallback: str | None = None) -> tuple[str, bool]:
    """As `decode_card`; also whether the charset of a line is a guess."""
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        lines = [_decode_line(line, fallback) for line in _logical_lines(data)]
        return "".join(text for text, _ in lines), any(guessed for _, guessed in lines)


def _logical_lines(data: bytes) -> list[list[tuple[bytes, bytes]]]:
    """The physical lines as (content, line end), grouped into logical lines."""
    lines: list[list[tuple[bytes, bytes]]] = []
    start = 0
    for end in _LINE_END.finditer(data):
        _add_physical_line(lines, data[start : end.start()], end.group())
        start = end.end()
    if start < len(data):
        _add_physical_line(lines, data[start:], b"")
    return lines


def _add_physical_line(lines: list[list[tuple[bytes, bytes]]], content: bytes, end: bytes) -> None:
    if lines and content[:1] in {b" ", b"\t"}:
        lines[-1].append((content, end))
    else:
        lines.append([(content, end)])


def _decode_line(physical: list[tuple[bytes, bytes]], fallback: str | None) -> tuple[str, bool]:
    try:
        return b"".join(content + end for content, end in physical).decode("utf-8"), False
    except UnicodeDecodeError:
        pass
    unfolded = physical[0][0] + b"".join(content[1:] for content, _ in physical[1:])
    end = physical[-1][1].decode("ascii")
    try:
        return unfolded.decode("utf-8") + end, False
    except UnicodeDecodeError:
        text, guessed = _decode(unfolded, _declared_charset(unfolded) or fallback)
        return text + end, guessed


def _declared_charset(line: bytes) -> str | None:
    head = line.partition(b":")[0].upper()
    _, found, rest = head.partition(b"CHARSET=")
    return rest.partition(b";")[0].decode("ascii", "ignore") if found else None
