"""Converts uploaded pictures into the one form that is stored: JPEG, 256x256, without metadata.

No picture is decoded before its size is known from the header, and of a file only its essential parts reach a decoder
(people.photos.containers). Pillow may use only the parsers of the four accepted formats (of HEIF for the conversion),
whatever the file's name or type, so that no rarely used parser can be attacked.
"""

import json
import re
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageCms, ImageFile, UnidentifiedImageError

from contacts_project.kernel.texts import Text, define_text
from people.photos.containers import (
    JPEG_END,
    REFUSED_EXIT_STATUS,
    Container,
    PictureRefusedError,
    essential_parts,
    read_orientation,
)

_HEIF_PICTURE = define_text("heif_picture", "a HEIC or HEIF picture")

_NOT_SUCH_A_PICTURE = define_text("not_such_a_picture", "This is not %(formats)s.")
_DAMAGED = define_text("picture_unreadable", "This picture is damaged: it cannot be read.")

SIDE = 256
THUMBNAIL_SIDE = 128
MAX_SIDE = 12_000
MAX_PIXELS = 50_000_000
FORMATS = ("JPEG", "PNG", "GIF", "WEBP")
HEIF = ("HEIF",)

# Decoding a larger picture takes up to seconds and hundreds of megabytes. JPEG is decoded at a fraction of its size,
# unless it has several scans, which are all decoded over the whole picture: programs write about ten.
_HEAVY_PIXELS = 12_000_000
_USUAL_SCANS = 10
# Bits that continue a scan which was cut off: if they change the picture, a part of it was missing.
_FILLINGS = (b"\x55" * 1024, b"\xaa" * 1024)
_RESTART_MARKER = re.compile(rb"\xff[\xd0-\xd7]")
# The only APP segment in a JPEG that Pillow writes without metadata: its name and length.
_JFIF_SEGMENT = ("APP0", 14)
_PHOTO_FORMATS = define_text("photo_picture", "a JPEG, PNG, GIF or WebP picture")
_CUT_OFF = define_text("picture_cut_off", "This picture is cut off: a part of it is missing. Send the whole file.")
_TOO_BIG = define_text(
    "picture_too_big", "The picture is too big: at most %(side)s pixels a side and %(megapixels)s megapixels."
).format(side=MAX_SIDE, megapixels=MAX_PIXELS // 1_000_000)
# Profiles of phones have a few hundred bytes, those of printing presses up to two megabytes.
_MAX_PROFILE_BYTES = 4 * 1024 * 1024
# By colour space of a profile the mode of pixels that it describes, and the modes of files that it may be in.
_MODES = {
    "RGB": ("RGB", frozenset({"RGB", "RGBA", "RGBX", "RGBa", "P", "PA"})),
    "GRAY": ("L", frozenset({"L", "LA", "La", "1", "I", "I;16", "I;16B", "I;16L"})),
    "CMYK": ("CMYK", frozenset({"CMYK"})),
}


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a picture, from its header, and whether decoding it is expensive."""

    pixels: int
    is_heavy: bool


def measure(data: bytes) -> Size:
    """Read the size of a picture without decoding it. Raises PictureRefusedError."""
    width, height = _webp_size(data)
    _check_size(width, height)
    if width:
        # Pillow must not open a large WebP file in this process: opening alone allocates three canvases of its size.
        return Size(width * height, is_heavy=width * height > _HEAVY_PIXELS)
    file = essential_parts(data)
    with _open_image(file.data, FORMATS, _PHOTO_FORMATS) as image:
        pixels = image.width * image.height
        decoded = pixels * max(1, file.scans // _USUAL_SCANS)
        return Size(pixels, is_heavy=decoded > _HEAVY_PIXELS and file.scans != 1)


def make_photo(data: bytes) -> bytes:
    """The stored form of an uploaded picture: turned upright, cropped to the middle square, transparency on white.

    Raises PictureRefusedError.
    """
    file = essential_parts(data)
    if file.lacks_end:
        _check_completeness(file)
    with _open_image(file.data + (JPEG_END if file.lacks_end else b""), FORMATS, _PHOTO_FORMATS) as image:
        _reduce_while_decoding(image)
        orientation, profile = file.orientation or _read_orientation(image), profile_of(image)
        square = _crop_to_square(image, profile).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        return _encode_jpeg(_apply_orientation(to_srgb(square, profile), orientation), quality=88)


def _reduce_while_decoding(image: ImageFile.ImageFile) -> None:
    # JPEG can decode at a fraction of its size. The middle square is the same before and after every turn.
    image.draft("RGB", (2 * SIDE, 2 * SIDE))


def _check_completeness(file: Container) -> None:
    """Refuse a JPEG without end marker of which pixels are missing.

    libjpeg fills a scan that was cut off with grey, and only warns. So the data is continued in different ways: if all
    pixels were there, what follows them is not read.
    """
    if file.lacks_scans:
        raise PictureRefusedError(_CUT_OFF)
    data = file.data.rstrip(b"\xff")
    first, *others = (_decoded_pixels(data + filling + JPEG_END) for filling in (b"", *_continuations(data)))
    if any(other != first for other in others):
        raise PictureRefusedError(_CUT_OFF)


def _continuations(data: bytes) -> Iterator[bytes]:
    """What may follow the data of a scan: the fillings, also behind the restart markers whose turn it is.

    At a restart marker libjpeg skips what lies before it.
    """
    *_, last = (0xD7, *(found.group()[1] for found in _RESTART_MARKER.finditer(data)))
    markers = [bytes((0xFF, 0xD0 | (last + number & 7))) for number in range(1, 9)]
    for filling in _FILLINGS:
        yield filling + b"".join(marker + filling for marker in markers)


def _decoded_pixels(data: bytes) -> bytes:
    with _open_image(data, FORMATS, _PHOTO_FORMATS) as image:
        _reduce_while_decoding(image)
        return image.tobytes()


def make_thumbnail(data: bytes) -> bytes:
    """A small copy of the whole picture, upright and opaque, for comparisons: two numbers of four bytes, which are the
    width and height of the picture, and a PNG of at most THUMBNAIL_SIDE pixels a side. Raises PictureRefusedError.
    """
    file = essential_parts(data)
    with _open_image(file.data + (JPEG_END if file.lacks_end else b""), FORMATS, _PHOTO_FORMATS) as image:
        width, height = image.size
        image.draft("RGB", (4 * THUMBNAIL_SIDE, 4 * THUMBNAIL_SIDE))
        orientation, profile = file.orientation or _read_orientation(image), profile_of(image)
        image.load()
        factor = max(1, min(image.size) // (4 * THUMBNAIL_SIDE))
        small = to_srgb(
            _to_opaque(image.reduce(factor) if factor > 1 and image.mode in {"RGB", "L"} else image, profile), profile
        )
        small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE), Image.Resampling.LANCZOS)
        if (orientation or 1) > 4:
            width, height = height, width
        out = BytesIO(width.to_bytes(4) + height.to_bytes(4))
        out.seek(0, 2)
        upright = _apply_orientation(small, orientation)
        upright.info = {}
        upright.save(out, "PNG")
        return out.getvalue()


def is_stored_form(data: bytes) -> bool:
    """Whether this is a whole JPEG as `_encode_jpeg` makes them: of the right size, without metadata or appended bytes.

    It can be stored unchanged, since it discloses nothing but pixels.
    """
    if data[:3] != b"\xff\xd8\xff" or data.find(JPEG_END) != len(data) - 2:
        return False
    try:
        file = essential_parts(data)
        if file.data != data or file.scans != 1:
            return False
        with Image.open(BytesIO(data), formats=("JPEG",)) as image:
            segments = [(name, len(content)) for name, content in getattr(image, "applist", ())]
            if image.size != (SIDE, SIDE) or image.mode != "RGB" or segments != [_JFIF_SEGMENT]:
                # Before decoding, which would take long for a large picture.
                return False
            image.load()
            return True
    except Exception:  # noqa: BLE001 - see _open_image
        return False


def convert_heif(data: bytes) -> bytes:
    """A HEIC or HEIF picture as a JPEG of the same size, without metadata. Raises PictureRefusedError."""
    import pillow_heif  # noqa: PLC0415 - takes memory, and only the process that converts needs it

    pillow_heif.register_heif_opener()
    with _open_image(data, HEIF, _HEIF_PICTURE) as image:
        orientation, profile = _read_orientation(image), profile_of(image)
        return _encode_jpeg(_apply_orientation(to_srgb(_to_opaque(image, profile), profile), orientation), quality=90)


@contextmanager
def _open_image(data: bytes, formats: tuple[str, ...], description: Text) -> Iterator[ImageFile.ImageFile]:
    # Before Pillow opens the file, which for WebP allocates memory for its whole size.
    _check_size(*_webp_size(data))
    try:
        with Image.open(BytesIO(data), formats=formats) as image:
            _check_size(*image.size)
            yield image
    except PictureRefusedError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise PictureRefusedError(_TOO_BIG) from None
    except UnidentifiedImageError:
        raise PictureRefusedError(_NOT_SUCH_A_PICTURE.format(formats=description)) from None
    except Exception as error:  # on a broken file, parsers raise errors of any kind
        raise PictureRefusedError(_DAMAGED) from error


def _check_size(width: int, height: int) -> None:
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise PictureRefusedError(_TOO_BIG)


def _webp_size(data: bytes) -> tuple[int, int]:
    """The width and height in the header of a WebP file, (0, 0) for other files."""
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return 0, 0
    head = data[20:30].ljust(10, b"\0")
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(head[4:7], "little"), 1 + int.from_bytes(head[7:10], "little")
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(head[6:8], "little") & 0x3FFF, int.from_bytes(head[8:10], "little") & 0x3FFF


# How a picture with this EXIF orientation becomes upright.
_TRANSPOSES = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def _read_orientation(image: Image.Image) -> int | None:
    """The EXIF orientation of a WebP or HEIF picture; None if there is none or the EXIF block is broken."""
    exif = image.info.get("exif")
    return read_orientation(exif) if isinstance(exif, bytes) else None


def _apply_orientation(image: Image.Image, orientation: int | None) -> Image.Image:
    transpose = _TRANSPOSES.get(orientation or 1)
    return image if transpose is None else image.transpose(transpose)


@dataclass(frozen=True, slots=True)
class Profile:
    """A colour profile. `mode` is that of the pixels which it converts to sRGB."""

    icc: ImageCms.ImageCmsProfile
    mode: str


def profile_of(image: Image.Image) -> Profile | None:
    """The colour profile of a picture; None if it has none, or one that is broken or of another kind of pixels.

    Such a picture is shown as sRGB, as browsers do.
    """
    data = image.info.get("icc_profile")
    if not isinstance(data, bytes) or not data or len(data) > _MAX_PROFILE_BYTES:
        return None
    try:
        icc = ImageCms.ImageCmsProfile(BytesIO(data))
        mode, files = _MODES.get(icc.profile.xcolor_space.strip(), ("", frozenset[str]()))
    except (OSError, ValueError, TypeError):
        return None
    return Profile(icc, mode) if image.mode in files else None


def opaque_mode(profile: Profile | None) -> str:
    """The mode in which pixels are kept until `to_srgb` converts them."""
    return profile.mode if profile else "RGB"


def to_srgb(image: Image.Image, profile: Profile | None) -> Image.Image:
    """The picture in sRGB. Its mode is `opaque_mode`."""
    if profile is None:
        return image
    try:
        converted = ImageCms.profileToProfile(image, profile.icc, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except ImageCms.PyCMSError:
        # A profile that can be read but not be used for a conversion.
        return image.convert("RGB")
    return converted or image.convert("RGB")


def _crop_to_square(image: Image.Image, profile: Profile | None) -> Image.Image:
    """The middle square of the first frame, opaque; a side of more than 512 pixels is reduced to 512 or a little more.

    Works in bands, because a change of mode copies the pixels: the copies stay small, whatever the size of the picture.
    """
    image.load()
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    factor = max(1, side // (2 * SIDE))
    square = Image.new(opaque_mode(profile), (-(-side // factor),) * 2)
    step = factor * 64
    for y in range(0, side, step):
        band = image.crop((left, top + y, left + side, top + min(y + step, side)))
        square.paste(_to_opaque(band, profile).reduce(factor), (0, y // factor))
    return square


def _to_opaque(image: Image.Image, profile: Profile | None) -> Image.Image:
    """The pixels of the first frame on white, in a new image without the metadata of the file.

    They are RGB, unless the colour profile is of another mode of the picture: grey or CMYK.
    """
    image.load()
    mode = opaque_mode(profile)
    if image.mode.startswith("I"):
        # 16 bits per channel: Pillow would clip the values at 255 instead of scaling them.
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L").convert(mode)
    if image.mode in {"RGBA", "LA", "PA", "RGBa", "La"} or "transparency" in image.info:
        foreground = image.convert("RGBA")
        flattened = Image.new("RGB", foreground.size, "white")
        flattened.paste(foreground, mask=foreground.getchannel("A"))
        return flattened.convert(mode)
    opaque = image.convert(mode)
    opaque.info = {}
    return opaque


def _encode_jpeg(image: Image.Image, *, quality: int) -> bytes:
    out = BytesIO()
    image.info = {}
    image.save(out, "JPEG", quality=quality, optimize=True)
    return out.getvalue()


CONVERSIONS: Mapping[str, Callable[[bytes], bytes]] = {
    "make_photo": make_photo,
    "make_thumbnail": make_thumbnail,
    "convert_heif": convert_heif,
}
_MAX_MEMORY_BYTES = 2 * 1024**3


def main() -> None:
    """`python -m people.photos.pixels make_photo` converts the picture on stdin and writes it to stdout.

    Exits with REFUSED_EXIT_STATUS and the reason on stderr if the picture is refused. In a separate process a large
    picture does not block the threads of the web process, its memory is freed, and a crash of a decoder ends nothing
    else.
    """
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
    try:
        converted = CONVERSIONS[sys.argv[1]](sys.stdin.buffer.read())
    except PictureRefusedError as refusal:
        sys.stderr.write(json.dumps(refusal.text.to_stored()))
        sys.exit(REFUSED_EXIT_STATUS)
    sys.stdout.buffer.write(converted)


if __name__ == "__main__":
    main()
