"""Detects the encoding of text files and decodes them line by line."""

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from charset_normalizer import from_bytes

_CHUNK = 64 * 1024
_SAMPLE = 16 * 1024
#: A line that does not end is yielded in pieces of this many characters.
_MAX_LINE = 1024 * 1024

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Legacy encodings that spreadsheets and address books write. cp1252 wins if several fit equally well, because a text
# with few accented letters fits many of them.
_LEGACY_ENCODINGS = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp932", "euc_jp", "gb18030", "big5", "cp949"]
_NAMES = {"utf-8-sig": "utf-8", "cp932": "shift_jis", "cp949": "euc-kr", "euc_jp": "euc-jp", "utf_8": "utf-8"}
# Archives, spreadsheets, documents and images. Compressed files may contain hardly any control characters.
_SIGNATURES = (
    *(b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"\xfd7zXZ", b"Rar!\x1a"),
    *(b"\xd0\xcf\x11\xe0", b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"SQLite format 3\0"),
)
# In binary data about one byte in ten is a control character. In text a few are accepted, and removed with a warning.
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_MAX_CONTROLS = 1 / 20
_LINE_END = re.compile(r"\r\n|\n|\r")


def detect_encoding(file: BinaryIO) -> str:
    """The codec of a file: by its byte order mark, else UTF-8 if all of it is valid, else a likely legacy encoding."""
    file.seek(0)
    head = file.read(_CHUNK)
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    # Many zero bytes and no mark: UTF-16, whose zero bytes are on the side of the high byte in western text.
    if head[:200].count(0) > len(head[:200]) // 3:
        return "utf-16-le" if head[1:200:2].count(0) > head[0:200:2].count(0) else "utf-16-be"
    return "utf-8" if _is_utf8(file, head) else _guess_legacy_encoding(file)


def is_text(file: BinaryIO, codec: str) -> bool:
    """Whether the beginning of a file is text, and no image, archive or the like."""
    file.seek(0)
    raw = file.read(_CHUNK)
    if raw.startswith(_SIGNATURES):
        return False
    head = codecs.getincrementaldecoder(codec)(errors="replace").decode(raw)
    controls = len(_CONTROL.findall(head))
    return controls < 2 or controls <= len(head) * _MAX_CONTROLS


def display_encoding(codec: str) -> str:
    """The usual name of a Python codec."""
    return _NAMES.get(codec, codec.replace("cp125", "windows-125"))


def read_lines(file: BinaryIO, encoding: str) -> Iterator[str]:
    """Yield the lines with their line ends (`\\r\\n`, `\\n` or `\\r`), with one chunk in memory at a time."""
    file.seek(0)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    unfinished = ""
    while chunk := file.read(_CHUNK):
        unfinished += decoder.decode(chunk)
        start = 0
        for end in _LINE_END.finditer(unfinished):
            if end.end() == len(unfinished) and end.group() == "\r":
                break  # the next chunk may begin with its newline
            yield unfinished[start : end.end()]
            start = end.end()
        unfinished = unfinished[start:]
        while len(unfinished) > _MAX_LINE:
            yield unfinished[:_MAX_LINE]
            unfinished = unfinished[_MAX_LINE:]
    unfinished += decoder.decode(b"", final=True)
    if unfinished:
        yield unfinished


def _is_utf8(file: BinaryIO, head: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    chunk = head
    try:
        while chunk:
            decoder.decode(chunk)
            chunk = file.read(_CHUNK)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _guess_legacy_encoding(file: BinaryIO) -> str:
    """Guess from the lines that are not ASCII only: all others fit every encoding."""
    file.seek(0)
    sample = bytearray()
    while len(sample) < _SAMPLE and (chunk := file.read(_CHUNK)):
        for line in chunk.splitlines(keepends=True):
            if not line.isascii():
                sample += line[:_SAMPLE]
    matches = from_bytes(bytes(sample[:_SAMPLE]), cp_isolation=_LEGACY_ENCODINGS)
    best = matches.best()
    if best is None:
        return "cp1252"
    equal = [match for match in matches if match.chaos <= best.chaos and match.coherence >= best.coherence]
    # Encodings that decode the sample to the same text are one match, but may differ in the rest of the file.
    return "cp1252" if any("cp1252" in match.could_be_from_charset for match in equal) else best.encoding
