"""JPEGs without end marker: taken if all pixels are there, refused if any is missing."""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image, ImageChops

from people.photos.containers import PictureRefusedError
from people.photos.images import make_photo
from tests.pictures import decode_picture

ENCODINGS: list[dict[str, Any]] = [
    {"quality": 75},
    {"progressive": True},
    {"restart_marker_rows": 1, "subsampling": 0},
    {"optimize": True, "quality": 30},
]


def noise(size: tuple[int, int] = (64, 48), **options: Any) -> bytes:
    out = BytesIO()
    Image.effect_noise(size, 90).convert("RGB").save(out, "JPEG", **options)
    return out.getvalue()


@pytest.mark.parametrize("options", ENCODINGS)
@pytest.mark.parametrize("end", [b"", b"\xff", b"\xff\xff"])
def test_a_jpeg_that_lacks_only_its_end_marker_is_taken(options: dict[str, Any], end: bytes) -> None:
    whole = noise(**options)
    assert make_photo(whole[:-2] + end) == make_photo(whole)


@pytest.mark.parametrize("options", ENCODINGS)
def test_a_jpeg_cut_off_anywhere_is_refused_or_the_same_picture(options: dict[str, Any]) -> None:
    whole = noise(**options)
    photo, taken = decode_picture(make_photo(whole)), 0
    start = whole.index(b"\xff\xda")
    for end in range(start, len(whole) - 2):
        try:
            made = make_photo(whole[:end])
        except PictureRefusedError:
            continue
        taken += 1
        difference = ImageChops.difference(decode_picture(made), photo).convert("L")
        assert max(difference.tobytes()) <= 12, f"{len(whole) - end} bytes are missing"
    # At most the last bits of the last block can be missing without an effect on the picture.
    assert taken <= 12


@pytest.mark.parametrize("options", ENCODINGS)
def test_a_cut_off_jpeg_says_so(options: dict[str, Any]) -> None:
    whole = noise(**options)
    with pytest.raises(PictureRefusedError, match="cut off"):
        make_photo(whole[: len(whole) * 9 // 10])


def test_missing_rows_below_the_middle_square_count() -> None:
    """The photo would not show them, but the file is not what the sender wanted to send."""
    whole = noise((40, 400))
    with pytest.raises(PictureRefusedError, match="cut off"):
        make_photo(whole[:-200])
