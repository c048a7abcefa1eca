"""Which characters the bytes of a text file stand for."""

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from charset_normalizer import from_bytes

_CHUNK = 64 * 1024
_SAMPLE = 16 * 1024
#: A line without an end is handed on in pieces of this many characters.
_MAX_LINE = 1024 * 1024

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What spreadsheets and address books write that is no Unicode. The western one wins where several fit equally well:
# few accents in much ASCII fit many.
_LEGACY_ENCODINGS = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp932", "euc_jp", "gb18030", "big5", "cp949"]
_NAMES = {"utf-8-sig": "utf-8", "cp932": "shift_jis", "cp949": "euc-kr", "euc_jp": "euc-jp", "utf_8": "utf-8"}
# Archives, spreadsheets, documents and pictures: compressed, some have next to no controls.
_SIGNATURES = (
    *(b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"7z\xbc\xaf", b"\xfd7zXZ", b"Rar!\x1a"),
    *(b"\xd0\xcf\x11\xe0", b"%PDF-", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"SQLite format 3\0"),
)
# Of bytes that are no text about a tenth are controls. A text may have one or the other: they are taken out and told.
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_MAX_CONTROLS = 1 / 20
_LINE_END = re.compile(r"\r\n|\n|\r")


def detect_encoding(file: BinaryIO) -> str:
    """The codec of the whole file: by its mark, UTF-8 where all of it is that, else the likeliest of the old ones."""
    file.seek(0)
    head = file.read(_CHUNK)
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    if head[:200].count(0) > len(head[:200]) // 3:
        return "utf-16-le" if head[1:200:2].count(0) > head[0:200:2].count(0) else "utf-16-be"
    return "utf-8" if _is_utf8(file, head) else _guess_legacy_encoding(file)


def is_text(file: BinaryIO, codec: str) -> bool:
    """Whether the beginning of a file reads as text; pictures, archives and the like do not."""
    file.seek(0)
    raw = file.read(_CHUNK)
    if raw.startswith(_SIGNATURES):
        return False
    head = codecs.getincrementaldecoder(codec)(errors="replace").decode(raw)
    controls = len(_CONTROL.findall(head))
    return controls < 2 or controls <= len(head) * _MAX_CONTROLS


def display_encoding(codec: str) -> str:
    """The name by which people know a codec."""
    return _NAMES.get(codec, codec.replace("cp125", "windows-125"))


def read_lines(file: BinaryIO, encoding: str) -> Iterator[str]:
    """The lines with their ends, whichever of the three they are; a chunk in memory at a time."""
    file.seek(0)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    rest = ""
    while chunk := file.read(_CHUNK):
        rest += decoder.decode(chunk)
        start = 0
        for end in _LINE_END.finditer(rest):
            if end.end() == len(rest) and end.group() == "\r":
                break  # a newline may follow
            yield rest[start : end.end()]
            start = end.end()
        rest = rest[start:]
        while len(rest) > _MAX_LINE:
            yield rest[:_MAX_LINE]
            rest = rest[_MAX_LINE:]
    rest += decoder.decode(b"", final=True)
    if rest:
        yield rest


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
    """Judged by the lines that are not plain ASCII: the others fit every encoding."""
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
    # Those in which the sample reads the same are one match, and the rest of the file may not.
    return "cp1252" if any("cp1252" in match.could_be_from_charset for match in equal) else best.encoding
