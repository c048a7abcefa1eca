"""Detects the encoding of text files and decodes them line by line."""

import codecs
import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO, NamedTuple

import chardet

from contacts_project.kernel.text_forms import nfc
from people.importing.sources.alphabets import cost_of_letters

_CHUNK = 64 * 1024
_SAMPLE = 8 * 1024
#: A line that does not end is yielded in pieces of this many characters.
_MAX_LINE = 1024 * 1024

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The old encodings that spreadsheets and address books write, with the languages that are written in them. Those of one
# row of the table fit the same texts nearly as well: the first of them wins where nothing decides.
_LEGACY_ENCODINGS = {
    codec: tuple(languages.split())
    for names, languages in (
        ("cp1252 iso8859-15 cp850 cp437 mac-roman", "de fr es nb sv pt it is et"),
        ("cp1250 iso8859-2 cp852", "pl cs sk hu ro hr de"),
        ("cp1254 iso8859-9 cp857", "tr"),
        ("cp1257", "lt lv et pl"),
        ("cp1251 koi8-u mac-cyrillic", "ru uk sr"),
        ("koi8-r iso8859-5 cp866", "ru"),
        ("cp1253 iso8859-7 cp737", "el"),
        ("cp1255 iso8859-8 cp862", "he"),
        ("cp1256", "ar fa"),
        ("iso8859-6", "ar"),
        ("cp874", "th"),
        ("cp932 euc_jp", "ja"),
        ("cp949", "ko"),
        ("gb18030", "zh zh-hant"),
        ("big5hkscs", "zh-hant"),
    )
    for codec in names.split()
}
# Those that fit some texts as well as one above does, so that what is read is uncertain. They are not guessed: each is
# rarer than what it would be confused with. A client may name them.
_RARE_ENCODINGS = {
    codec: tuple(languages.split())
    for names, languages in (
        ("mac-latin2", "pl cs sk hu ro hr de"),
        ("iso8859-16", "pl hu ro hr de"),
        ("mac-turkish iso8859-3", "tr"),
        ("cp860 hp-roman8", "de fr es nb sv pt it is et"),
        ("cp775 iso8859-13", "lt lv et pl"),
        ("cp720 cp864", "ar"),
        ("mac-greek cp869", "el"),
        ("cp855 cp1125", "ru uk sr"),
    )
    for codec in names.split()
}
# What makes an encoding less likely before its text is looked at, in the unit of `cost_of_letters`.
_RARITY = {"cp1252": 0.0, "cp850": 2.0, **dict.fromkeys(("cp1250", "cp1251", "cp1253", "cp1254", "cp1255"), 1.5)}
_RARITY |= dict.fromkeys(("cp1256", "cp1257", "cp932", "cp949", "gb18030"), 1.5)
_USUAL_RARITY = 2.5
# Encodings of seven bits: their text is ASCII with escape sequences.
_ESCAPED_ENCODINGS = ("iso2022_jp_2", "iso2022_jp_ext", "iso2022_kr")
# chardet's names where they differ from the ones above.
_CHARDET_NAMES = {"euc_jp": "euc_jis_2004"}
#: Below this difference of cost to the next encoding with another text, a guess is told to be one (docs/imports.md).
_CERTAIN_MARGIN = 4.0
# The largest cost that the opinion of chardet makes, for each square root of a byte beyond ASCII.
_MAX_DOUBT = 6.0
# The likeliest encodings that are tried on the whole file.
_MAX_TRIED = 3

_NAMES = {
    "utf-8-sig": "utf-8",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "euc_jp": "euc-jp",
    "big5hkscs": "big5",
    "iso2022_jp_2": "iso-2022-jp",
    "iso2022_jp_ext": "iso-2022-jp",
    "iso2022_kr": "iso-2022-kr",
    "mac-roman": "macintosh",
}
# The text encodings that a client may name. Python's other codecs (idna, punycode, utf-7, unicode_escape) are left out:
# on hostile input some are slow and some produce surrogates.
_MAX_NAME = 60
_ALLOWED_CODECS = re.compile(
    r"utf-(8|8-sig|16|16-le|16-be|32|32-le|32-be)|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|tis-620|hz|gb2312|gbk|gb18030"
    r"|big5(hkscs)?|shift_jis(_2004|x0213)?|euc_\w+|iso2022_\w+|johab|mac-\w+|kz1048|ptcp154|hp-roman8"
)
# Names of IANA, of WHATWG and of Windows that Python does not know, as letters and digits without `x-` and `cs`.
_REGISTERED_NAMES = {
    name: codec
    for codec, names in {
        "utf-8": "unicode11utf8 unicode20utf8 65001",
        "utf-16": "unicode iso10646ucs2 ucs2",
        "utf-16-le": "utf16le unicodefeff 1200",
        "utf-16-be": "utf16be unicodefffe 1201",
        "utf-32": "iso10646ucs4 ucs4",
        "utf-32-le": "utf32le 12000",
        "utf-32-be": "utf32be 12001",
        "ascii": "20127",
        "cp1252": "ansi",
        "iso8859-2": "latin2",
        "iso8859-3": "latin3",
        "iso8859-4": "latin4",
        "iso8859-7": "suneugreek",
        "iso8859-8": "visual logical",
        "iso8859-9": "latin5",
        "iso8859-10": "latin6",
        "iso8859-13": "latin7",
        "iso8859-14": "latin8",
        "iso8859-15": "latin9 isolatin9",
        "iso8859-16": "latin10",
        "koi8-r": "koi koi8 20866",
        "koi8-u": "koi8u koi8ru 21866",
        "kz1048": "strk10482002 rk1048",
        "ptcp154": "pt154 154 cyrillicasian",
        "hp-roman8": "hproman8 roman8 r8",
        "mac-roman": "mac macintosh 10000",
        "mac-cyrillic": "macukrainian 10007 10017",
        "mac-greek": "10006",
        "mac-latin2": "macce maccentraleurroman maccentraleurope 10029",
        "mac-turkish": "10081",
        "mac-iceland": "macicelandic 10079",
        "mac-croatian": "10082",
        "mac-romanian": "10010",
        "cp858": "pcmultilingual850euro 858",
        "cp1140": "ebcdicus37euro 1140",
        "tis-620": "tis620",
        "cp932": "windows31j 932",
        "cp949": "ksc56011989 ksc5601 949",
        "gb2312": "gb231280",
        "gbk": "936",
        "gb18030": "54936",
        "hz": "52936",
        "big5": "cnbig5 xbig5 950",
        "big5hkscs": "951",
        "euc_jp": "extendedunixcodepackedformatforjapanese eucpkdfmtjapanese 51932 20932",
        "euc_kr": "iso149 isoir149 ksc56011987 51949",
        "iso2022_jp": "50220 50221 50222",
        "iso2022_jp_2": "iso2022jp2",
        "iso2022_kr": "50225",
    }.items()
    for name in names.split()
}
_NOT_IN_A_KEY = re.compile(r"[^a-z0-9]+")
_ISO_8859 = re.compile(r"iso8859(?:0*)([1-9]|1[0-6])(?:[ei]|(?:19|20)[0-9]{2})?")
_CODE_PAGE = re.compile(r"(?:windows|win|ibm|dos|cp|ms|mscp|ccsid|codepage|pccp)0*([0-9]+)")
_ISO_OF_WINDOWS = 28590  # code page 28591 is ISO 8859-1
# Under the names of these standards, programs write their supersets.
_SUPERSETS = {
    "utf-8": "utf-8-sig",
    "iso8859-1": "cp1252",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "iso2022_jp": "iso2022_jp_2",
}
# In binary data about one byte in ten is a control character. In text a few are accepted, and removed with a warning.
_CONTROL = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_MAX_CONTROLS = 1 / 20
_LINE_END = re.compile(r"\r\n|\n|\r")
_WORD = re.compile(rb'[^ \r\n,;|\t"]+')
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")


class Encoding(NamedTuple):
    """How to decode a file. Not `is_certain`: other encodings fit about as well, or some bytes fit none."""

    codec: str
    is_certain: bool

    @property
    def name(self) -> str:
        """The usual name of the codec, as a client may give it."""
        if self.codec in _NAMES:
            return _NAMES[self.codec]
        return self.codec.replace("cp125", "windows-125").replace("iso8859", "iso-8859")


def detect_encoding(file: BinaryIO) -> Encoding:
    """The encoding of a file: by its byte order mark, else UTF-8 if all of it is valid, else a likely old one."""
    file.seek(0)
    head = file.read(_CHUNK)
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return Encoding(name, fits(file, name))
    if codec := _find_utf16(head):
        return Encoding(codec, fits(file, codec))
    if fits(file, "utf-8"):
        return _detect_escapes(file)
    return _guess_legacy_encoding(file)


def named_codecs(name: str) -> tuple[str, ...]:
    """The codecs for the name of an encoding, the one to try first in front; none if there is no such encoding."""
    codec = _find_codec(name.strip()) if len(name) <= _MAX_NAME and name.isascii() else ""
    return (_SUPERSETS.get(codec, codec), codec) if _ALLOWED_CODECS.fullmatch(codec) else ()


def _find_codec(name: str) -> str:
    """Python's name of the codec, for a name that Python knows or that is registered elsewhere; empty if none is."""
    key = _NOT_IN_A_KEY.sub("", name.lower())
    keys = [key, *(key.removeprefix(prefix) for prefix in ("x", "cs", "xx"))]
    candidates = [name, *(_REGISTERED_NAMES[one] for one in keys if one in _REGISTERED_NAMES)]
    for one in dict.fromkeys(keys):
        if found := _ISO_8859.fullmatch(one):
            candidates.append(f"iso8859-{found[1]}")
        elif found := _CODE_PAGE.fullmatch(one):
            number = int(found[1])
            candidates += [_REGISTERED_NAMES.get(found[1], ""), f"cp{number}", f"iso8859-{number - _ISO_OF_WINDOWS}"]
        candidates += [one, one.replace("mac", "mac_", 1)]
    for candidate in filter(None, candidates):
        with suppress(LookupError, ValueError):
            return codecs.lookup(candidate).name
    return ""


def fits(file: BinaryIO, codec: str) -> bool:
    """Whether every byte of a file is valid in an encoding."""
    file.seek(0)
    decoder = codecs.getincrementaldecoder(codec)()
    try:
        while chunk := file.read(_CHUNK):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def is_text(file: BinaryIO, codec: str) -> bool:
    """Whether the beginning of a file, decoded by this codec, has few control characters."""
    file.seek(0)
    head = codecs.getincrementaldecoder(codec)(errors="replace").decode(file.read(_CHUNK))
    controls = len(_CONTROL.findall(head))
    return controls < 2 or controls <= len(head) * _MAX_CONTROLS


def read_lines(file: BinaryIO, codec: str) -> Iterator[str]:
    """Yield the lines in NFC, with their line ends (`\\r\\n`, `\\n` or `\\r`), with one chunk in memory at a time."""
    return map(nfc, _decode_lines(file, codec))


def _decode_lines(file: BinaryIO, codec: str) -> Iterator[str]:
    file.seek(0)
    decoder = codecs.getincrementaldecoder(codec)(errors="replace")
    unfinished = ""
    is_first = True
    while chunk := file.read(_CHUNK):
        text = decoder.decode(chunk)
        # A byte order mark, where the codec was named together with the byte order.
        unfinished += text.removeprefix("\ufeff") if is_first else text
        is_first = is_first and not text
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


def _find_utf16(head: bytes) -> str | None:
    """UTF-16 without a mark: the high bytes of separators and line ends are zero, in western text most high bytes."""
    high, low = head[1::2].count(0), head[0::2].count(0)
    if high + low <= len(head) // 20:
        return None
    if min(high, low) > max(high, low) // 20:
        return None
    return "utf-16-le" if high > low else "utf-16-be"


def _detect_escapes(file: BinaryIO) -> Encoding:
    """The encoding of a valid UTF-8 file: also those of seven bits are, which write characters by escape sequences."""
    sample = _sample_lines(file, lambda line: b"\x1b" in line or b"\x0e" in line)
    if sample and sample.isascii():
        found = chardet.detect(sample, include_encodings=("ascii", *_ESCAPED_ENCODINGS), compat_names=False)["encoding"]
        if found in _ESCAPED_ENCODINGS and fits(file, found):
            return Encoding(found, is_certain=True)
    return Encoding("utf-8", is_certain=True)


def _sample_lines(file: BinaryIO, is_wanted: Callable[[bytes], object]) -> bytes:
    """The first lines that are wanted: about _SAMPLE bytes."""
    file.seek(0)
    sample = bytearray()
    while len(sample) < _SAMPLE and (chunk := file.read(_CHUNK)):
        for line in filter(is_wanted, chunk.splitlines(keepends=True)):
            sample += line[:_SAMPLE]
            if len(sample) >= _SAMPLE:
                break
    return bytes(sample)


def _sample_rare_bytes(file: BinaryIO, sample: bytes) -> bytes:
    """Pieces of the file around each byte beyond ASCII that is not in the sample: at most 128 of them."""
    file.seek(0)
    seen = set(sample)
    pieces = bytearray()
    while chunk := file.read(_CHUNK):
        while new := _BEYOND_ASCII.search(chunk.translate(None, bytes(seen))):
            at = chunk.index(new.group()[:1])
            piece = chunk[max(0, at - 40) : at + 40]
            pieces += piece + b"\n"
            seen.update(piece)
    return bytes(pieces)


def _guess_legacy_encoding(file: BinaryIO) -> Encoding:
    """Guess from the lines that are not ASCII only: all others fit every encoding."""
    sample = _sample_lines(file, lambda line: not line.isascii())
    sample += _sample_rare_bytes(file, sample)
    if _is_damaged_utf8(sample):
        return Encoding("utf-8", is_certain=False)
    ranked = _rank_encodings(sample)
    for place, (cost, codec) in enumerate(ranked[:_MAX_TRIED]):
        if fits(file, codec):
            others = [ranked[place + 1][0]] if len(ranked) > place + 1 else []
            others += _costs_of_rare_encodings(sample, sample.decode(codec))
            return Encoding(codec, is_certain=min(others, default=math.inf) - cost >= _CERTAIN_MARGIN)
    return Encoding(ranked[0][1] if ranked else "cp1252", is_certain=False)


def _is_damaged_utf8(sample: bytes) -> bool:
    """Whether most of what is not ASCII is UTF-8: a few bytes of another encoding were put in, or some were lost."""
    text = sample.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    return damaged * 3 < sum(not character.isascii() for character in text) - damaged


def _rank_encodings(sample: bytes) -> list[tuple[float, str]]:
    """The old encodings that fit a sample, each with its cost, the likeliest first. Of those with equal text, one."""
    names = [_CHARDET_NAMES.get(codec, codec) for codec in _LEGACY_ENCODINGS]
    found = chardet.detect_all(sample, ignore_threshold=True, include_encodings=names, compat_names=False)
    confidences = {str(one["encoding"]): one["confidence"] for one in found}
    highest = max(confidences.values(), default=0) or 1
    words = set(_WORD.findall(sample))
    weight = math.sqrt(sum(len(part) for word in words for part in _BEYOND_ASCII.findall(word)))
    costs: dict[str, tuple[float, str]] = {}
    for codec, languages in _LEGACY_ENCODINGS.items():
        try:
            text = sample.decode(codec)
        except UnicodeDecodeError:
            continue
        confidence = confidences.get(_CHARDET_NAMES.get(codec, codec), 0)
        doubt = min(_MAX_DOUBT, -math.log(max(confidence / highest, 1e-6))) * weight
        cost = cost_of_letters(text, languages) + doubt + _RARITY.get(codec, _USUAL_RARITY)
        costs[text] = min(costs.get(text, (math.inf, "")), (cost, codec))
    return sorted(costs.values())


def _costs_of_rare_encodings(sample: bytes, text: str) -> Iterator[float]:
    """The costs of the rare encodings in which a sample is another text than `text`."""
    for codec, languages in _RARE_ENCODINGS.items():
        with suppress(UnicodeDecodeError):
            if (other := sample.decode(codec)) != text:
                yield cost_of_letters(other, languages) + _USUAL_RARITY
