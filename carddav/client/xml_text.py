"""Cleans the text of an XML response for the parser: servers send characters that XML does not allow.

Cards contain control characters and halves of surrogate pairs, literally or as references. Characters that XML does not
allow are removed, and two references to one surrogate pair are joined. Carriage returns, which a parser would drop,
become references, so that a card arrives byte for byte. CDATA sections are converted to escaped text first, since what
looks like a tag or a reference in them is neither. Invalid UTF-8 is a character that was folded in its middle, or
Windows-1252: a replacement character would be written over the card with its next edit.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from xml.sax.saxutils import escape

from people.vcard.charsets import allowed_charset, decode_value

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCES = re.compile(r"(?:&#(?:x[0-9A-Fa-f]{1,8}|[0-9]{1,10});)+")
_REFERENCE = re.compile(r"&#(?:x([0-9A-Fa-f]+)|([0-9]+));")
_TEXT_WITH_CR = re.compile(r">([^<]*[^<\s][^<]*)")
_DECLARED_ENCODING = re.compile(rb"""<\?xml[^>]*encoding=["']([A-Za-z0-9._-]+)["']""")
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
# A character split by line folding, whose line break may be a reference.
_SPLIT_CHARACTER = re.compile(rb"([\xc2-\xf4][\x80-\xbf]{0,2})((?:\r|&#13;|&#x0*[dD];)?\n[ \t])([\x80-\xbf]{1,3})")
_REPAIR_HANDLER = "carddav-repair"
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def clean_text(chunks: Iterable[bytes], charset: str | None = None) -> Iterator[str]:
    """The cleaned text in pieces that end before a tag. `charset` is the one of Content-Type."""
    held: list[str] = []
    for text in _escape_cdata(_decode(chunks, charset)):
        head, tag, rest = text.rpartition("<")
        if tag:
            yield _clean("".join([*held, head]))
            held = [tag + rest]
        else:
            held.append(text)
    yield _clean("".join(held))


def _decode(chunks: Iterable[bytes], charset: str | None) -> Iterator[str]:
    decoder: codecs.IncrementalDecoder | None = None
    for chunk in chunks:
        if decoder is None:
            name, skipped = _detect_encoding(chunk, charset)
            decoder = codecs.getincrementaldecoder(name)(_REPAIR_HANDLER if name == "utf-8" else "replace")
            yield decoder.decode(chunk[skipped:])
        else:
            yield decoder.decode(chunk)
    if decoder is not None:
        yield decoder.decode(b"", final=True)


def _repair_bytes(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: the replacement for invalid UTF-8, and the position at which decoding continues."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if divided := _SPLIT_CHARACTER.match(error.object, error.start):
        with suppress(UnicodeDecodeError):
            return (divided[1] + divided[3]).decode() + divided[2].decode(), divided.end()
    return decode_value(error.object[error.start : error.end], None), error.end


codecs.register_error(_REPAIR_HANDLER, _repair_bytes)


def _escape_cdata(texts: Iterable[str]) -> Iterator[str]:
    """The text with each CDATA section as escaped text; sections and their markers may span several pieces."""
    held, mark, other_mark = "", _CDATA, _CDATA_END
    for text in texts:
        held += text
        while mark in held:
            head, _, held = held.partition(mark)
            yield escape(head) if mark == _CDATA_END else head
            mark, other_mark = other_mark, mark
        # A possible beginning of the marker is kept until the rest arrives.
        kept = next(length for length in range(len(mark) - 1, -1, -1) if held.endswith(mark[:length]))
        head, held = held[: len(held) - kept], held[len(held) - kept :]
        yield escape(head) if mark == _CDATA_END else head
    yield held


def _detect_encoding(first: bytes, charset: str | None) -> tuple[str, int]:
    """The encoding, and the length of the byte order mark."""
    for mark, name in _BOMS:
        if first.startswith(mark):
            return (name, len(mark)) if name == "utf-8" else (name, 0)
    declared = _DECLARED_ENCODING.match(first[:200].lstrip())
    return charset or allowed_charset(declared[1].decode() if declared else None) or "utf-8", 0


def _clean(text: str) -> str:
    if "&#" in text:
        text = _REFERENCES.sub(_join_references, text)
    text = _NOT_XML.sub("", text)
    if "\r" in text:
        # White space between tags stays as it is: references are not allowed before the root element.
        text = _TEXT_WITH_CR.sub(lambda match: match[0].replace("\r", "&#13;"), text)
    return text


def _join_references(match: re.Match[str]) -> str:
    """References in a row: valid ones unchanged, halves of a pair joined, all others removed."""
    numbers = [
        int(hexadecimal or "0", 16) or int(decimal or 0) for hexadecimal, decimal in _REFERENCE.findall(match[0])
    ]
    if all(_is_xml_character(number) for number in numbers):
        return match[0]
    units = "".join(chr(number) for number in numbers if number < 0x110000)
    joined = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return "".join(f"&#{ord(character)};" for character in joined if _is_xml_character(ord(character)))


def _is_xml_character(number: int) -> bool:
    return (
        number in {0x9, 0xA, 0xD}
        or 0x20 <= number < 0xD800
        or 0xE000 <= number < 0xFFFE
        or 0x10000 <= number < 0x110000
    )
