"""Pictures as people send them, made into the one kind that is stored: JPEG, 256x256, nothing in it but pixels.

Nothing is decoded before the header has said how big it is. Pillow only ever sees the four formats of the contract
(HEIF for the conversion), whatever the file calls itself, so that no rarely used parser is within reach.
"""

import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageFile, UnidentifiedImageError

from people.photos.refusals import REFUSED, PictureRefusedError

SIDE = 256
MAX_SIDE = 12_000
MAX_PIXELS = 50_000_000
FORMATS = ("JPEG", "PNG", "GIF", "WEBP")
HEIF = ("HEIF",)

# Beyond this, decoding takes up to seconds and hundreds of megabytes; JPEG is decoded at a fraction of its size, unless
# it is a progressive one.
_LARGE = 12_000_000
_PHOTO = "a JPEG, PNG, GIF or WebP picture"


@dataclass(frozen=True, slots=True)
class Size:
    """What a picture's header says of it."""

    pixels: int
    is_heavy: bool


def measure(data: bytes) -> Size:
    """How large a picture is, without decoding any of it. Raises PictureRefusedError."""
    width, height = _webp_size(data)
    _check_size(width, height)
    if width:  # not opened here: that alone takes three canvases of its size
        return Size(width * height, is_heavy=width * height > _LARGE)
    with _opened(data, FORMATS, _PHOTO) as image:
        pixels = image.width * image.height
        is_reduced = image.format == "JPEG" and not image.info.get("progressive")
        return Size(pixels, is_heavy=pixels > _LARGE and not is_reduced)


def make_photo(data: bytes) -> bytes:
    """The stored form of an uploaded picture: turned upright, the middle cut out, transparency on white.

    Raises PictureRefusedError.
    """
    with _opened(data, FORMATS, _PHOTO) as image:
        # JPEG can decode at a fraction of its size. The middle square is the same before and after every turn.
        image.draft("RGB", (2 * SIDE, 2 * SIDE))
        turn = _orientation(image)
        square = _middle(image).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        return _jpeg(_turned(square, turn), quality=88)


def is_stored_form(data: bytes) -> bool:
    """Whether `_jpeg` may have made it: a whole picture of the size, with no segment or byte that could tell more."""
    if data[:3] != b"\xff\xd8\xff" or data.find(b"\xff\xd9") != len(data) - 2:
        return False
    try:
        with Image.open(BytesIO(data), formats=("JPEG",)) as image:
            segments = [(name, len(content)) for name, content in getattr(image, "applist", ())]
            if image.size != (SIDE, SIDE) or image.mode != "RGB" or segments != [_JFIF]:
                return False  # before anything big is decoded
            image.load()
            return True
    except Exception:  # noqa: BLE001 - as in _opened
        return False


_JFIF = ("APP0", 14)


def convert_heif(data: bytes) -> bytes:
    """A HEIC or HEIF picture as a JPEG of the same size, without metadata. Raises PictureRefusedError."""
    import pillow_heif  # noqa: PLC0415 - takes memory, and only the process that converts needs it

    pillow_heif.register_heif_opener()
    with _opened(data, HEIF, "a HEIC or HEIF picture") as image:
        turn = _orientation(image)
        return _jpeg(_turned(_flat(image), turn), quality=90)


@contextmanager
def _opened(data: bytes, formats: tuple[str, ...], description: str) -> Iterator[ImageFile.ImageFile]:
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
    except Exception as error:  # noqa: BLE001 - a broken file makes parsers raise whatever they stumble over
        raise PictureRefusedError(f"This picture is damaged: it cannot be read ({type(error).__name__}).") from None


_TOO_BIG = f"The picture is too big: at most {MAX_SIDE:,} pixels a side and {MAX_PIXELS // 1_000_000} megapixels."


def _check_size(width: int, height: int) -> None:
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise PictureRefusedError(_TOO_BIG)


def _webp_size(data: bytes) -> tuple[int, int]:
    """The size a WebP header tells, (0, 0) for other files: Pillow sets up the decoder when it opens one."""
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return 0, 0
    head = data[20:30].ljust(10, b"\0")
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(head[4:7], "little"), 1 + int.from_bytes(head[7:10], "little")
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(head[6:8], "little") & 0x3FFF, int.from_bytes(head[8:10], "little") & 0x3FFF


_TURNS = {
    2: (Image.Transpose.FLIP_LEFT_RIGHT,),
    3: (Image.Transpose.ROTATE_180,),
    4: (Image.Transpose.FLIP_TOP_BOTTOM,),
    5: (Image.Transpose.TRANSPOSE,),
    6: (Image.Transpose.ROTATE_270,),
    7: (Image.Transpose.TRANSVERSE,),
    8: (Image.Transpose.ROTATE_90,),
}


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation, 1 where there is none; a broken EXIF block must not cost the picture."""
    try:
        return int(image.getexif().get(0x0112, 1))
    except Exception:  # noqa: BLE001 - as in _opened
        return 1


def _turned(image: Image.Image, orientation: int) -> Image.Image:
    for step in _TURNS.get(orientation, ()):
        image = image.transpose(step)
    return image


def _middle(image: Image.Image) -> Image.Image:
    """The middle square of the first frame as RGB, reduced to 512 pixels or a little more where it was larger.

    By bands: the copies that a change of mode makes are small, whatever the size of the picture.
    """
    image.load()
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    factor = max(1, side // (2 * SIDE))
    square = Image.new("RGB", (-(-side // factor),) * 2)
    step = factor * 64
    for y in range(0, side, step):
        band = image.crop((left, top + y, left + side, top + min(y + step, side)))
        square.paste(_flat(band).reduce(factor), (0, y // factor))
    return square


def _flat(image: Image.Image) -> Image.Image:
    """The first frame's pixels as RGB, on white, in a new image: nothing of the file's metadata comes along."""
    image.load()
    if image.mode.startswith("I"):
        # 16 bits a channel: Pillow would clip them at 255 instead of scaling.
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L").convert("RGB")
    if image.mode in {"RGBA", "LA", "PA", "RGBa", "La"} or "transparency" in image.info:
        clear = image.convert("RGBA")
        ground = Image.new("RGB", clear.size, "white")
        ground.paste(clear, mask=clear.getchannel("A"))
        return ground
    plain = image.convert("RGB")
    plain.info = {}
    return plain


def _jpeg(image: Image.Image, *, quality: int) -> bytes:
    out = BytesIO()
    image.info = {}
    image.save(out, "JPEG", quality=quality, optimize=True)
    return out.getvalue()


WORK: Mapping[str, Callable[[bytes], bytes]] = {"make_photo": make_photo, "convert_heif": convert_heif}
_MEMORY = 2 * 1024**3


def main() -> None:
    """`python -m people.photos.pixels make_photo`: one picture in, one out; 3, and why on stderr, when it is refused.

    In a process of its own a large picture keeps nobody waiting, gives its memory back, and a fault in a decoder ends
    nothing else.
    """
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    try:
        made = WORK[sys.argv[1]](sys.stdin.buffer.read())
    except PictureRefusedError as refusal:
        sys.stderr.write(str(refusal))
        sys.exit(REFUSED)
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    main()
