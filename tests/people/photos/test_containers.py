"""The structure of picture files: scans are counted before decoding, parts are bounded, a missing end is told."""

import struct
import tracemalloc
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from PIL import Image, ImageChops

from people.photos import pixels
from people.photos.containers import MAX_SCANS, PictureRefusedError, essential_parts, read_orientation
from people.photos.images import PixelBudget, make_photo, to_stored_form
from tests.pictures import decode_picture, jpeg_of_scans, picture

EXIF_HEAD = b"MM\0*\0\0\0\x08"
ENCODINGS: list[dict[str, Any]] = [
    {"quality": 75},
    {"progressive": True},
    {"restart_marker_rows": 1, "subsampling": 0},
    {"optimize": True, "quality": 30},
]


def jpeg_segments(code: int, content: bytes, count: int) -> bytes:
    segment = bytes((0xFF, code)) + struct.pack(">H", len(content) + 2) + content
    whole = picture()
    return whole[:2] + segment * count + whole[2:]


def png_chunks(kind: bytes, content: bytes, count: int) -> bytes:
    chunk = struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    whole = picture("PNG")
    return whole[:33] + chunk * count + whole[33:]


def gif_extensions(count: int) -> bytes:
    whole = picture("GIF")
    start = 13 + 3 * 2 ** ((whole[10] & 7) + 1)
    return whole[:start] + b"!\xfe\0" * count + whole[start:]


@pytest.mark.parametrize("take", [make_photo, to_stored_form, lambda data: to_stored_form(data, PixelBudget())])
@pytest.mark.parametrize("size", [(40, 30), (256, 256), (5000, 4000)])
def test_a_jpeg_of_many_scans_is_refused_before_it_is_decoded(
    take: Callable[[bytes], bytes], size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = jpeg_of_scans(MAX_SCANS + 1, size)
    monkeypatch.setattr(Image, "open", None)
    with pytest.raises(PictureRefusedError, match="more than 200 scans"):
        take(whole)


def test_a_jpeg_of_the_most_scans_is_taken() -> None:
    whole = jpeg_of_scans(MAX_SCANS, (40, 30))
    assert essential_parts(whole).scans == MAX_SCANS
    assert make_photo(whole) == make_photo(picture("JPEG", (40, 30), progressive=True))


def test_scans_decide_whether_a_picture_is_decoded_in_this_process() -> None:
    size = (1600, 1200)
    assert not pixels.measure(picture("JPEG", size, progressive=True)).is_heavy
    assert pixels.measure(jpeg_of_scans(100, size)).is_heavy


def test_a_picture_of_two_scans_is_not_in_stored_form() -> None:
    """Else each of the scans would be decoded, and the bytes be stored."""
    photo = make_photo(picture())
    start = photo.index(b"\xff\xda")
    assert not pixels.is_stored_form(photo[:-2] + photo[start:])
    assert pixels.is_stored_form(photo)


@pytest.mark.parametrize("thumbnail", [b"", jpeg_of_scans(300, (40, 30))])
def test_scans_of_a_thumbnail_and_behind_the_end_do_not_count(thumbnail: bytes) -> None:
    whole = jpeg_segments(0xE1, b"Exif\0\0" + thumbnail[:60_000], 1)
    assert make_photo(whole + b"\xff\xda" * 1000) == make_photo(picture())


@pytest.mark.parametrize(
    "whole",
    [
        pytest.param(jpeg_segments(0xE5, b"", 6_000), id="JPEG, applications"),
        pytest.param(jpeg_segments(0xFE, b"a", 6_000), id="JPEG, comments"),
        pytest.param(jpeg_segments(0xE1, b"Exif\0\0a", 6_000), id="JPEG, EXIF"),
        pytest.param(jpeg_segments(0xDB, b"\0" + b"\1" * 64, 6_000), id="JPEG, tables"),
        pytest.param(png_chunks(b"prVt", b"", 21_000), id="PNG, private"),
        pytest.param(png_chunks(b"tEXt", b"a\0b", 21_000), id="PNG, texts"),
        pytest.param(png_chunks(b"IDAT", b"", 21_000), id="PNG, data"),
        pytest.param(gif_extensions(21_000), id="GIF, extensions"),
    ],
)
def test_a_file_of_too_many_parts_is_refused_before_it_is_opened(whole: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "open", None)
    with pytest.raises(PictureRefusedError, match="too many parts"):
        make_photo(whole)


@pytest.mark.parametrize(
    ("kind", "whole"),
    [
        ("JPEG", jpeg_segments(0xE1, b"Exif\0\0" + b"a" * 1000, 200)),
        ("JPEG", jpeg_segments(0xE2, b"MPF\0" + b"a" * 1000, 200)),
        ("JPEG", jpeg_segments(0xFE, b"a" * 1000, 200)),
        ("PNG", png_chunks(b"zTXt", b"a\0\0" + zlib.compress(b"a" * 900_000), 100)),
        ("GIF", gif_extensions(200)),
    ],
)
def test_what_a_photo_does_not_need_reaches_no_decoder(kind: str, whole: bytes) -> None:
    assert len(essential_parts(whole).data) <= len(picture(kind)) + 10
    assert make_photo(whole) == make_photo(picture(kind))


@pytest.mark.parametrize("kind", ["PNG", "GIF"])
def test_only_the_first_frame_of_an_animation_reaches_a_decoder(kind: str) -> None:
    frames = [Image.effect_noise((60, 60), 90).convert("P") for _ in range(20)]
    out, first = BytesIO(), BytesIO()
    frames[0].save(out, kind, save_all=True, append_images=frames[1:], duration=50)
    frames[0].save(first, kind)
    assert len(essential_parts(out.getvalue()).data) < 2 * len(first.getvalue())


def exif_of_large_values() -> bytes:
    """An IFD of 5,000 tags, the value of each is the whole block: in all 300 MB."""
    size = 60_010
    entries = b"".join(struct.pack(">HHII", 0x8000 + tag, 7, size - 20, 8) for tag in range(5_000))
    return EXIF_HEAD + struct.pack(">H", 5_000) + entries


@pytest.mark.parametrize(
    "whole",
    [
        pytest.param(jpeg_segments(0xE1, b"Exif\0\0" + exif_of_large_values(), 1), id="JPEG"),
        pytest.param(picture("JPEG", exif=b"Exif\0\0" + exif_of_large_values()), id="JPEG without size of pixels"),
        pytest.param(png_chunks(b"eXIf", exif_of_large_values(), 1), id="PNG"),
        pytest.param(picture("WEBP", exif=exif_of_large_values()), id="WebP"),
    ],
)
def test_the_values_of_exif_are_not_copied(whole: bytes) -> None:
    make_photo(picture())  # loads what the first picture loads
    tracemalloc.start()
    make_photo(whole)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize(
    ("exif", "orientation"),
    [
        (b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 6),
        (b"Exif\0\0" + EXIF_HEAD + b"\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0", 8),
        (EXIF_HEAD + b"\0\x01\x01\x12\0\x04\0\0\0\x01\0\x08\0\0", None),
        (EXIF_HEAD + b"\xff\xff", None),
        (b"MM\0*\xff\xff\xff\xff", None),
        (b"II*\0", None),
        (b"", None),
    ],
)
def test_orientation_is_read_from_exif(exif: bytes, orientation: int | None) -> None:
    assert read_orientation(exif) == orientation


def test_every_damage_of_a_header_leaves_the_rest_readable() -> None:
    """Lengths that lead out of the file, or back into it, end the reading."""
    for kind in ("JPEG", "PNG", "GIF"):
        whole = picture(kind)
        for place in range(len(whole)):
            for byte in (0x00, 0x01, 0xFF):
                essential_parts(whole[:place] + bytes((byte,)) + whole[place + 1 :])


def test_pictures_are_decoded_as_without_the_reader() -> None:
    noise = Image.effect_noise((70, 50), 90)
    for kind, mode, options in (
        ("JPEG", "RGB", {}),
        ("JPEG", "L", {"progressive": True}),
        ("JPEG", "CMYK", {"restart_marker_rows": 1}),
        ("JPEG", "RGB", {"subsampling": 2, "comment": b"c", "icc_profile": b"a" * 70_000}),
        ("PNG", "RGBA", {}),
        ("PNG", "P", {"transparency": 3}),
        ("PNG", "I;16", {}),
        ("GIF", "P", {"transparency": 3}),
        ("GIF", "L", {"interlace": 1}),
    ):
        out = BytesIO()
        noise.convert(mode).save(out, kind, **options)
        whole, reduced = (decode_picture(data) for data in (out.getvalue(), essential_parts(out.getvalue()).data))
        assert (whole.mode, whole.tobytes()) == (reduced.mode, reduced.tobytes())
        assert whole.info.get("transparency") == reduced.info.get("transparency")
        assert whole.info.get("icc_profile") == reduced.info.get("icc_profile")


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
