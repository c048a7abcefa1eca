"""The text of an XML answer, made fit for a parser: servers put into it what XML does not allow.

Cards hold control characters and halves of surrogate pairs, written as they are or as references. What cannot be in XML
is taken out, two references that are one character become it, and carriage returns, which a parser would drop, become
references, so that a card arrives byte for byte. Sections of CDATA become escaped text first: what looks like a tag or
a reference in them is neither. Bytes that are no UTF-8 are a character that was folded in its middle, or Windows-1252:
what became a question mark here would be written over the card with its next edit.
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
_DECLARED = re.compile(rb"""<\?xml[^>]*encoding=["']([A-Za-z0-9._-]+)["']""")
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
# A character that a fold divides, whose line break may be a reference.
_DIVIDED = re.compile(rb"([\xc2-\xf4][\x80-\xbf]{0,2})((?:\r|&#13;|&#x0*[dD];)?\n[ \t])([\x80-\xbf]{1,3})")
_REPAIR = "carddav-repair"
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def clean_text(chunks: Iterable[bytes], charset: str | None = None) -> Iterator[str]:
    """The text of the body, in pieces that end where a tag begins. `charset` is the one of Content-Type."""
    held: list[str] = []
    for text in _without_cdata(_decoded(chunks, charset)):
        head, tag, rest = text.rpartition("<")
        if tag:
            yield _clean("".join([*held, head]))
            held = [tag + rest]
        else:
            held.append(text)
    yield _clean("".join(held))


def _decoded(chunks: Iterable[bytes], charset: str | None) -> Iterator[str]:
    decoder: codecs.IncrementalDecoder | None = None
    for chunk in chunks:
        if decoder is None:
            name, skipped = _encoding(chunk, charset)
            decoder = codecs.getincrementaldecoder(name)(_REPAIR if name == "utf-8" else "replace")
            yield decoder.decode(chunk[skipped:])
        else:
            yield decoder.decode(chunk)
    if decoder is not None:
        yield decoder.decode(b"", final=True)


def _repaired(error: UnicodeError) -> tuple[str, int]:
    """For a codec: what stands for bytes that are no UTF-8, and where to go on."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if divided := _DIVIDED.match(error.object, error.start):
        with suppress(UnicodeDecodeError):
            return (divided[1] + divided[3]).decode() + divided[2].decode(), divided.end()
    return decode_value(error.object[error.start : error.end], None), error.end


codecs.register_error(_REPAIR, _repaired)


def _without_cdata(texts: Iterable[str]) -> Iterator[str]:
    """The text with each section of CDATA as escaped text; sections and their marks may go over several pieces."""
    held, mark, other_mark = "", _CDATA, _CDATA_END
    for text in texts:
        held += text
        while mark in held:
            head, _, held = held.partition(mark)
            yield escape(head) if mark == _CDATA_END else head
            mark, other_mark = other_mark, mark
        # What may be the beginning of the mark waits for the rest of it.
        kept = next(length for length in range(len(mark) - 1, -1, -1) if held.endswith(mark[:length]))
        head, held = held[: len(held) - kept], held[len(held) - kept :]
        yield escape(head) if mark == _CDATA_END else head
    yield held


def _encoding(first: bytes, charset: str | None) -> tuple[str, int]:
    """The encoding, and how many bytes of mark there are."""
    for mark, name in _BOMS:
        if first.startswith(mark):
            return (name, len(mark)) if name == "utf-8" else (name, 0)
    declared = _DECLARED.match(first[:200].lstrip())
    return charset or allowed_charset(declared[1].decode() if declared else None) or "utf-8", 0


def _clean(text: str) -> str:
    if "&#" in text:
        text = _REFERENCES.sub(_joined, text)
    text = _NOT_XML.sub("", text)
    if "\r" in text:
        # White space between tags stays: a reference is not allowed before the first of them.
        text = _TEXT_WITH_CR.sub(lambda match: match[0].replace("\r", "&#13;"), text)
    return text


def _joined(match: re.Match[str]) -> str:
    """References in a row: those that XML allows as they are, halves of a pair as the character, others not at all."""
    numbers = [
        int(hexadecimal or "0", 16) or int(decimal or 0) for hexadecimal, decimal in _REFERENCE.findall(match[0])
    ]
    if all(_is_xml(number) for number in numbers):
        return match[0]
    units = "".join(chr(number) for number in numbers if number < 0x110000)
    joined = units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return "".join(f"&#{ord(character)};" for character in joined if _is_xml(ord(character)))


def _is_xml(number: int) -> bool:
    return (
        number in {0x9, 0xA, 0xD}
        or 0x20 <= number < 0xD800
        or 0xE000 <= number < 0xFFFE
        or 0x10000 <= number < 0x110000
    )
