"""Whether one picture is a copy of another: smaller, cropped, or encoded anew.

Programs do not send the picture back that they were given: Android scales it to about 720 pixels and writes a JPEG, and
Apple's programs crop it to a square.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageChops, ImageStat

from people.photos.containers import PictureRefusedError
from people.photos.images import make_thumbnail

_SIDE = 32
# Of 255 levels, on average over the picture and over any part of it of a sixteenth: JPEG of quality 75 stays below a
# third of both on photographs.
_MAX_MEAN, _MAX_PART = 8, 20
_MAX_STRETCH = 0.03
# A copy is not larger, but for rounding.
_MAX_GROWTH = 1.02


@dataclass(frozen=True)
class _Sketch:
    width: int
    height: int
    image: Image.Image

    @property
    def aspect(self) -> float:
        return self.width / self.height

    @classmethod
    def of(cls, data: bytes) -> "_Sketch":
        thumbnail = make_thumbnail(data)
        with Image.open(BytesIO(thumbnail[8:]), formats=("PNG",)) as image:
            image.load()
            return cls(int.from_bytes(thumbnail[:4]), int.from_bytes(thumbnail[4:8]), image.convert("RGB"))


def is_copy(picture: bytes, original: bytes) -> bool:
    """Whether `picture` shows what `original` shows, and no more of it. Must be called outside of transactions."""
    if picture == original:
        return True
    try:
        one, other = _Sketch.of(picture), _Sketch.of(original)
    except PictureRefusedError:
        return False
    if one.width > other.width * _MAX_GROWTH or one.height > other.height * _MAX_GROWTH:
        return False
    if abs(one.aspect / other.aspect - 1) <= _MAX_STRETCH:
        return _is_alike(one.image, other.image)
    return any(_is_alike(one.image, part) for part in _parts(other, one.aspect))


def _parts(sketch: _Sketch, aspect: float) -> Iterator[Image.Image]:
    """The largest parts of the picture with these proportions: the middle, then those that people choose otherwise."""
    width, height = sketch.image.size
    part_width, part_height = min(width, height * aspect), min(height, width / aspect)
    for share in (0.5, 0.25, 0.75, 0.0, 1.0):
        left, top = (width - part_width) * share, (height - part_height) * share
        yield sketch.image.crop((round(left), round(top), round(left + part_width), round(top + part_height)))


def _is_alike(one: Image.Image, other: Image.Image) -> bool:
    small = [image.resize((_SIDE, _SIDE), Image.Resampling.BOX) for image in (one, other)]
    difference = ImageChops.difference(*small)
    if max(ImageStat.Stat(difference).mean) > _MAX_MEAN:
        return False
    quarter = _SIDE // 4
    parts = (
        difference.crop((x, y, x + quarter, y + quarter))
        for x in range(0, _SIDE, quarter)
        for y in range(0, _SIDE, quarter)
    )
    return all(max(ImageStat.Stat(part).mean) <= _MAX_PART for part in parts)
