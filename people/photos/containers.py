"""Reads the structure of picture files without decoding pixels, and leaves out what a photo does not need.

Decoders take each part of a file one by one and some of their loops are slow: a JPEG of 2 MB made of EXIF segments took
seconds to open, and a progressive one of 87 KB with thousands of scans took seconds to decode. So only the parts that
decide what the picture looks like are handed on, and a file with more of them than any program writes is refused.
Linear in the size of the file.
"""

import re
from dataclasses import dataclass
from typing import Literal

from contacts_project.kernel.texts import TextError, define_text

#: How many scans a JPEG may have: each is decoded over the whole picture, however short. Programs write about ten.
MAX_SCANS = 200
_MAX_SEGMENTS = 5_000
_MAX_CHUNKS = 20_000
# In bytes, a GIF of the largest upload has 80,000 blocks of 255.
_MAX_BLOCKS = 200_000

_TOO_MANY_SCANS = define_text(
    "too_many_scans", "This JPEG has more than %(limit)s scans: save it again with a picture program."
).format(limit=MAX_SCANS)
_TOO_MANY_PARTS = define_text(
    "too_many_parts", "This file is made of far too many parts: save it again with a picture program."
)

JPEG_END = b"\xff\xd9"
# A marker is 0xFF and a code that is neither 0x00, which is data, nor 0xFF, which fills.
_MARKER = re.compile(rb"\xff([\x01-\xfe])")
# The data of a scan contains restart markers (0xD0 to 0xD7).
_MARKER_AFTER_SCAN = re.compile(rb"\xff([\x01-\xcf\xd8-\xfe])")
_SOS, _EOI = 0xDA, 0xD9
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})
# By code, how the content of an application segment begins that is kept.
_KEPT_SEGMENTS = {0xE0: b"JFIF\0", 0xE2: b"ICC_PROFILE\0", 0xEE: b"Adobe"}
_EXIF = b"Exif\0\0"
_DROPPED_SEGMENTS = frozenset({*range(0xE0, 0xF0), 0xFE})

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEPT_CHUNKS = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"iCCP"})

_ORIENTATION = 0x0112
_SHORT = 3

#: The exit status of a process that refuses a picture; the reason is on its stderr, as `Text.to_stored`.
REFUSED_EXIT_STATUS = 3


class PictureRefusedError(TextError):
    """The picture is not accepted."""


@dataclass(frozen=True, slots=True)
class Container:
    """A picture file without the parts that a photo does not need.

    `scans` is the number of scans of a JPEG, 0 of other files. With `lacks_end` it is a JPEG without end marker, and
    with `lacks_scans` one that ends before all coefficients of all components were there. `orientation` is that of
    EXIF; None if a JPEG or PNG has none, and for other files.
    """

    data: bytes
    orientation: int | None = None
    scans: int = 0
    lacks_end: bool = False
    lacks_scans: bool = False


def essential_parts(data: bytes) -> Container:
    """The file without what a photo does not need. Raises PictureRefusedError for too many scans or parts.

    A file that is damaged, or of another format, is returned as it is: the decoder says what is wrong with it.
    """
    if data[:3] == b"\xff\xd8\xff":
        return _JpegReader(data).read()
    if data[:8] == _PNG_SIGNATURE:
        return _read_png(data)
    if data[:6] in {b"GIF87a", b"GIF89a"}:
        return Container(_first_frame(data))
    return Container(data)


class _JpegReader:
    """Reads the segments of one JPEG (ITU-T T.81, annex B) as libjpeg does, which skips what lies between them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.parts = [data[:2]]
        self.scans = self.segments = 0
        self.orientation: int | None = None
        # The coefficients that are still missing, by component: a scan of a progressive picture brings some of them.
        self.missing: dict[int, set[int]] = {}

    def read(self) -> Container:
        position, after = 2, _MARKER
        while found := after.search(self.data, position):
            code, start, position = found.group(1)[0], found.start(), found.end()
            after = _MARKER
            if code == _EOI:
                self.parts.append(JPEG_END)
                return self._container(lacks_end=False)
            if code in _WITHOUT_LENGTH:
                self.parts.append(self.data[start:position])
                continue
            position += max(2, int.from_bytes(self.data[position : position + 2]))
            self._take_segment(code, start, position)
            if code == _SOS:
                after = _MARKER_AFTER_SCAN
                end = after.search(self.data, position)
                self.parts.append(self.data[position : end.start() if end else len(self.data)])
                position = end.start() if end else len(self.data)
        return self._container(lacks_end=True)

    def _container(self, *, lacks_end: bool) -> Container:
        lacks_scans = lacks_end and (not self.missing or any(self.missing.values()))
        return Container(b"".join(self.parts), self.orientation, self.scans, lacks_end, lacks_scans)

    def _take_segment(self, code: int, start: int, end: int) -> None:
        self.segments += code != _SOS
        self.scans += code == _SOS
        if self.scans > MAX_SCANS:
            raise PictureRefusedError(_TOO_MANY_SCANS)
        if self.segments > _MAX_SEGMENTS:
            raise PictureRefusedError(_TOO_MANY_PARTS)
        content = self.data[start + 4 : end]
        if code in _FRAMES and not self.missing:
            # After precision, height and width: the number of components, and three bytes for each, its id first.
            self.missing = {
                component: set(range(64)) for component in content[6 : 6 + 3 * (content[5:6] or b"\0")[0] : 3]
            }
        elif code == _SOS:
            self._take_scan(content)
        elif code in _DROPPED_SEGMENTS and not content.startswith(_KEPT_SEGMENTS.get(code, b"no such segment")):
            if code == 0xE1 and self.orientation is None:
                self.orientation = read_orientation(content)
            return
        self.parts.append(self.data[start:end])

    def _take_scan(self, content: bytes) -> None:
        """Note which coefficients the scan completes: those from Ss to Se, if it brings their lowest bit (Al is 0)."""
        count = (content[:1] or b"\0")[0]
        spectrum = content[1 + 2 * count : 4 + 2 * count]
        if len(spectrum) < 3 or spectrum[2] & 0x0F:
            return
        for component in content[1 : 1 + 2 * count : 2]:
            self.missing.get(component, set()).difference_update(range(spectrum[0], spectrum[1] + 1))


def read_orientation(exif: bytes) -> int | None:
    """The orientation in an EXIF block, which may begin with `Exif` and two zero bytes; None if there is none.

    Pillow's reader would copy the values of all tags, of which each may be the whole block.
    """
    tiff = exif.removeprefix(_EXIF)
    order: Literal["little", "big"] = "little" if tiff[:2] == b"II" else "big"
    if tiff[:4] not in {b"II*\0", b"MM\0*"}:
        return None
    start = int.from_bytes(tiff[4:8], order)
    count = int.from_bytes(tiff[start : start + 2], order)
    for position in range(start + 2, min(start + 2 + 12 * count, len(tiff)), 12):
        if int.from_bytes(tiff[position : position + 2], order) == _ORIENTATION:
            kind = int.from_bytes(tiff[position + 2 : position + 4], order)
            return int.from_bytes(tiff[position + 8 : position + 10], order) if kind == _SHORT else None
    return None


def _read_png(data: bytes) -> Container:
    """A PNG without texts, times, animation and the chunks of single programs. What follows its end is left out."""
    parts, position = [_PNG_SIGNATURE], len(_PNG_SIGNATURE)
    orientation = None
    for _ in range(_MAX_CHUNKS):
        end = position + 12 + int.from_bytes(data[position : position + 4])
        kind = data[position + 4 : position + 8]
        if kind in _KEPT_CHUNKS:
            parts.append(data[position:end])
        elif kind == b"eXIf":
            orientation = read_orientation(data[position + 8 : end - 4])
        if kind == b"IEND" or end >= len(data):
            return Container(b"".join(parts), orientation)
        position = end
    raise PictureRefusedError(_TOO_MANY_PARTS)


def _first_frame(data: bytes) -> bytes:
    """A GIF with nothing but its first frame and the control block of that one."""
    position = 13 + _color_table_size(data[10:11])
    parts, control = [data[:position]], b""
    extensions = 0
    while data[position : position + 1] == b"!":
        extensions += 1
        if extensions > _MAX_CHUNKS:
            raise PictureRefusedError(_TOO_MANY_PARTS)
        end = _end_of_blocks(data, position + 2)
        if data[position + 1 : position + 2] == b"\xf9":
            control = data[position:end]
        position = end
    if data[position : position + 1] != b",":
        return data
    start = position + 10 + _color_table_size(data[position + 9 : position + 10]) + 1
    return b"".join((*parts, control, data[position : _end_of_blocks(data, start)], b";"))


def _color_table_size(flags: bytes) -> int:
    return 3 * 2 ** ((flags[0] & 7) + 1) if flags and flags[0] & 0x80 else 0


def _end_of_blocks(data: bytes, position: int) -> int:
    """The position behind a sequence of blocks, each with its length before it; a length of 0 ends it."""
    for _ in range(_MAX_BLOCKS):
        length = data[position] if position < len(data) else 0
        position += 1 + length
        if not length:
            return position
    raise PictureRefusedError(_TOO_MANY_PARTS)
