"""Converts uploaded pictures into the one form that is stored: JPEG, 256x256, without metadata.

No picture is decoded before its size is known from the header. Pillow may use only the parsers of the four accepted
formats (of HEIF for the conversion), whatever the file's name or type, so that no rarely used parser can be attacked.
"""

import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageFile, UnidentifiedImageError

from people.photos.refusals import REFUSED_EXIT_STATUS, PictureRefusedError

SIDE = 256
MAX_SIDE = 12_000
MAX_PIXELS = 50_000_000
FORMATS = ("JPEG", "PNG", "GIF", "WEBP")
HEIF = ("HEIF",)

# Decoding a larger picture takes up to seconds and hundreds of megabytes. JPEG is decoded at a fraction of its size,
# unless it is progressive.
_HEAVY_PIXELS = 12_000_000
# The only APP segment in a JPEG that Pillow writes without metadata: its name and length.
_JFIF_SEGMENT = ("APP0", 14)
_PHOTO_FORMATS = "a JPEG, PNG, GIF or WebP picture"
_TOO_BIG = f"The picture is too big: at most {MAX_SIDE:,} pixels a side and {MAX_PIXELS // 1_000_000} megapixels."


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
    with _open_image(data, FORMATS, _PHOTO_FORMATS) as image:
        pixels = image.width * image.height
        is_reduced = image.format == "JPEG" and not image.info.get("progressive")
        return Size(pixels, is_heavy=pixels > _HEAVY_PIXELS and not is_reduced)


def make_photo(data: bytes) -> bytes:
    """The stored form of an uploaded picture: turned upright, cropped to the middle square, transparency on white.

    Raises PictureRefusedError.
    """
    with _open_image(data, FORMATS, _PHOTO_FORMATS) as image:
        # JPEG can decode at a fraction of its size. The middle square is the same before and after every turn.
        image.draft("RGB", (2 * SIDE, 2 * SIDE))
        orientation = _read_orientation(image)
        square = _crop_to_square(image).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        return _encode_jpeg(_apply_orientation(square, orientation), quality=88)


def is_stored_form(data: bytes) -> bool:
    """Whether this is a whole JPEG as `_encode_jpeg` makes them: of the right size, without metadata or appended bytes.

    It can be stored unchanged, since it discloses nothing but pixels.
    """
    if data[:3] != b"\xff\xd8\xff" or data.find(b"\xff\xd9") != len(data) - 2:
        return False
    try:
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
    with _open_image(data, HEIF, "a HEIC or HEIF picture") as image:
        orientation = _read_orientation(image)
        return _encode_jpeg(_apply_orientation(_to_rgb(image), orientation), quality=90)


@contextmanager
def _open_image(data: bytes, formats: tuple[str, ...], description: str) -> Iterator[ImageFile.ImageFile]:
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
        raise PictureRefusedError(f"This is not {description}.") from None
    except Exception as error:  # noqa: BLE001 - on a broken file, parsers raise errors of any kind
        raise PictureRefusedError(f"This picture is damaged: it cannot be read ({type(error).__name__}).") from None


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


def _read_orientation(image: Image.Image) -> int:
    """The EXIF orientation; 1, which is upright, if there is none or the EXIF block is broken."""
    try:
        return int(image.getexif().get(0x0112, 1))
    except Exception:  # noqa: BLE001 - see _open_image
        return 1


def _apply_orientation(image: Image.Image, orientation: int) -> Image.Image:
    transpose = _TRANSPOSES.get(orientation)
    return image if transpose is None else image.transpose(transpose)


def _crop_to_square(image: Image.Image) -> Image.Image:
    """The middle square of the first frame as RGB; a side of more than 512 pixels is reduced to 512 or a little more.

    Works in bands, because a change of mode copies the pixels: the copies stay small, whatever the size of the picture.
    """
    image.load()
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    factor = max(1, side // (2 * SIDE))
    square = Image.new("RGB", (-(-side // factor),) * 2)
    step = factor * 64
    for y in range(0, side, step):
        band = image.crop((left, top + y, left + side, top + min(y + step, side)))
        square.paste(_to_rgb(band).reduce(factor), (0, y // factor))
    return square


def _to_rgb(image: Image.Image) -> Image.Image:
    """The pixels of the first frame as RGB, on white, in a new image without the metadata of the file."""
    image.load()
    if image.mode.startswith("I"):
        # 16 bits per channel: Pillow would clip the values at 255 instead of scaling them.
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L").convert("RGB")
    if image.mode in {"RGBA", "LA", "PA", "RGBa", "La"} or "transparency" in image.info:
        foreground = image.convert("RGBA")
        flattened = Image.new("RGB", foreground.size, "white")
        flattened.paste(foreground, mask=foreground.getchannel("A"))
        return flattened
    rgb = image.convert("RGB")
    rgb.info = {}
    return rgb


def _encode_jpeg(image: Image.Image, *, quality: int) -> bytes:
    out = BytesIO()
    image.info = {}
    image.save(out, "JPEG", quality=quality, optimize=True)
    return out.getvalue()


CONVERSIONS: Mapping[str, Callable[[bytes], bytes]] = {"make_photo": make_photo, "convert_heif": convert_heif}
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
        sys.stderr.write(str(refusal))
        sys.exit(REFUSED_EXIT_STATUS)
    sys.stdout.buffer.write(converted)


if __name__ == "__main__":
    main()
