"""The conversion of pictures into photos: all formats, and malicious pictures."""

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from contacts_project.kernel.errors import UnavailableError
from people.photos import images, pixels
from people.photos.containers import PictureRefusedError
from people.photos.images import PixelBudget, convert_heif, make_photo, to_stored_form
from tests.pictures import decode_picture, gif_header, picture, png_header, webp_header
from tests.rounds import rounds


def is_close(pixel: object, color: tuple[int, int, int], tolerance: int = 12) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(a - b) <= tolerance for a, b in zip(pixel, color, strict=True))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP"])
def test_every_format_becomes_a_jpeg_of_256(kind: str) -> None:
    image = decode_picture(make_photo(picture(kind, (300, 200))))
    assert (image.format, image.size, image.mode) == ("JPEG", (256, 256), "RGB")
    assert is_close(image.getpixel((128, 128)), (255, 0, 0))


@pytest.mark.parametrize("size", [(1, 1), (10, 2000), (12_000, 3), (256, 256), (3000, 2000)])
def test_pictures_of_any_shape_fill_the_square(size: tuple[int, int]) -> None:
    assert decode_picture(make_photo(picture("PNG", size))).size == (256, 256)


def test_middle_of_the_picture_is_kept() -> None:
    wide = Image.new("RGB", (400, 100), "blue")
    wide.paste("red", (150, 0, 250, 100))
    out = BytesIO()
    wide.save(out, "PNG")
    image = decode_picture(make_photo(out.getvalue()))
    assert is_close(image.getpixel((10, 128)), (255, 0, 0))
    assert is_close(image.getpixel((245, 128)), (255, 0, 0))


def test_picture_in_stored_form_is_not_encoded_again() -> None:
    photo = make_photo(_quarters(1))
    assert make_photo(photo) != photo
    assert to_stored_form(photo) == photo


def _exif() -> Image.Exif:
    exif = Image.Exif()
    exif[0x010F] = "secret camera"
    return exif


@pytest.mark.parametrize(
    "alter",
    [
        lambda photo: photo + b"behind the end",
        lambda photo: photo + b"behind the end\xff\xd9",
        lambda photo: photo[:20] + b"\xff\xfe\x00\x08secret" + photo[20:],
        lambda photo: photo[:20] + b"\xff\xe5\x00\x08secret" + photo[20:],
        lambda photo: picture("JPEG", (256, 256), exif=_exif()),
    ],
)
def test_picture_with_anything_but_pixels_is_encoded_again(alter: Callable[[bytes], bytes]) -> None:
    photo = alter(make_photo(_quarters(1)))
    made = to_stored_form(photo)
    assert made != photo
    assert b"secret" not in made
    assert to_stored_form(made) == made


def _quarters(orientation: int, kind: str = "JPEG") -> bytes:
    """Red top left, green top right, blue bottom left, white bottom right, with an EXIF orientation and a GPS tag."""
    image = Image.new("RGB", (320, 320), "white")
    image.paste("red", (0, 0, 160, 160))
    image.paste("lime", (160, 0, 320, 160))
    image.paste("blue", (0, 160, 160, 320))
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = orientation, "secret camera"
    out = BytesIO()
    image.save(out, kind, exif=exif, comment=b"secret comment", quality=95)
    return out.getvalue()


# Where the red quarter is after turning the picture upright, by EXIF orientation.
CORNERS = {
    1: (40, 40),
    2: (215, 40),
    3: (215, 215),
    4: (40, 215),
    5: (40, 40),
    6: (215, 40),
    7: (215, 215),
    8: (40, 215),
}


@pytest.mark.parametrize("orientation", CORNERS)
def test_orientation_is_applied(orientation: int) -> None:
    image = decode_picture(make_photo(_quarters(orientation)))
    assert is_close(image.getpixel(CORNERS[orientation]), (255, 0, 0), 40)
    other = {2: (40, 40), 5: (40, 215), 6: (215, 215), 8: (40, 40)}.get(orientation)
    if other:
        assert is_close(image.getpixel(other), (0, 255, 0), 40)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_metadata_is_stripped(kind: str) -> None:
    photo = make_photo(_quarters(6, kind))
    assert b"secret" not in photo
    assert not dict(decode_picture(photo).getexif())
    assert set(decode_picture(photo).info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


def test_cmyk_keeps_its_colours() -> None:
    assert is_close(
        decode_picture(make_photo(picture("JPEG", mode="CMYK", color=(0, 255, 255, 0)))).getpixel((5, 5)), (255, 0, 0)
    )


def test_sixteen_bits_are_scaled_not_clipped() -> None:
    grey = picture("PNG", mode="I;16", color=0x8000)
    assert is_close(decode_picture(make_photo(grey)).getpixel((128, 128)), (128, 128, 128))


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparent_pixels_become_white(mode: str) -> None:
    clear = picture("PNG", mode=mode, color=(0, 0, 0, 0) if mode == "RGBA" else (0, 0))
    assert is_close(decode_picture(make_photo(clear)).getpixel((128, 128)), (255, 255, 255))


def test_transparent_palette_colour_becomes_white() -> None:
    image = Image.new("P", (50, 50), 1)
    image.putpalette([0, 0, 0, 0, 0, 255])
    for kind in ("PNG", "GIF"):
        out = BytesIO()
        image.save(out, kind, transparency=1)
        assert is_close(decode_picture(make_photo(out.getvalue())).getpixel((128, 128)), (255, 255, 255))


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_first_frame_of_an_animation_is_used(kind: str) -> None:
    frames = [Image.new("RGB", (60, 60), color) for color in ("red", "blue", "lime")]
    out = BytesIO()
    frames[0].save(out, kind, save_all=True, append_images=frames[1:], duration=50)
    assert is_close(decode_picture(make_photo(out.getvalue())).getpixel((128, 128)), (255, 0, 0))


@pytest.mark.parametrize(
    "bomb",
    [
        png_header(12_001, 10),
        png_header(10_000, 5_001),
        png_header(60_000, 60_000),
        png_header(2**31 - 1, 2**31 - 1),
        gif_header(65_535, 65_535),
        gif_header(12_001, 1),
        webp_header(12_001, 1),
        webp_header(2**24, 2**24),
    ],
)
def test_decompression_bomb_is_refused_by_its_header(bomb: bytes) -> None:
    with pytest.raises(PictureRefusedError, match="too big"):
        make_photo(bomb)


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\0",
        b"hello",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><svg>&a;</svg>",
        b"%PDF-1.7 \n",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n",
        b"RIFF\x10\0\0\0WEBP",
        b"RIFF\x10\0\0\0WEBPVP8X",
        picture("BMP"),
        picture("TIFF"),
        picture("PPM"),
        picture("ICO"),
        picture("HEIF"),
    ],
)
def test_other_formats_are_refused(junk: bytes) -> None:
    with pytest.raises(PictureRefusedError):
        make_photo(junk)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP"])
def test_a_truncated_picture_is_refused(kind: str) -> None:
    noise = Image.effect_noise((200, 200), 90).convert("RGB")
    out = BytesIO()
    noise.save(out, kind)
    whole = out.getvalue()
    for part in (0.1, 0.5, 0.9):
        with pytest.raises(PictureRefusedError):
            make_photo(whole[: int(len(whole) * part)])


def test_data_after_the_picture_are_removed() -> None:
    photo = make_photo(picture() + b"PK\x03\x04 <script>alert(1)</script>")
    assert b"script" not in photo
    assert b"PK\x03\x04" not in photo


@settings(max_examples=rounds(40), deadline=None)
@given(
    kind=st.sampled_from(["JPEG", "PNG", "GIF", "WEBP"]),
    at=st.floats(0, 1),
    junk=st.binary(min_size=1, max_size=20),
)
def test_a_damaged_picture_is_a_photo_or_a_refusal(kind: str, at: float, junk: bytes) -> None:
    whole = picture(kind)
    place = int(at * len(whole))
    try:
        photo = make_photo(whole[:place] + junk + whole[place + len(junk) :])
    except PictureRefusedError:
        return
    assert decode_picture(photo).size == (256, 256)


def test_refusal_of_a_truncated_picture_names_no_class_of_ours() -> None:
    with pytest.raises(PictureRefusedError) as refused:
        make_photo(picture("JPEG", (800, 600))[:600])
    assert str(refused.value) == "This picture is damaged: it cannot be read."


def test_large_picture_is_converted_in_a_separate_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pixels, "make_photo", None)  # fails if it is called in this process
    assert is_close(decode_picture(make_photo(picture("PNG", (4001, 3000)))).getpixel((128, 128)), (255, 0, 0))
    with pytest.raises(PictureRefusedError, match="damaged"):
        make_photo(png_header(5000, 4000))


def test_killed_conversion_process_loses_only_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(PictureRefusedError, match="damaged"):
        make_photo(picture("PNG", (4001, 3000)))


@pytest.mark.parametrize("progressive", [False, True])
def test_a_large_jpeg_is_heavy_only_if_it_is_progressive(progressive: bool) -> None:
    size = pixels.measure(picture("JPEG", (4001, 3000), progressive=progressive))
    assert (size.pixels, size.is_heavy) == (4001 * 3000, progressive)


def test_heavy_pictures_are_converted_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    places = images._LARGE_PICTURES
    monkeypatch.setattr(places, "limits", replace(places.limits, seconds=0))
    large = picture("PNG", (4001, 3000))
    with places.hold(None):
        with pytest.raises(UnavailableError):
            make_photo(large)
        assert make_photo(picture())
    assert make_photo(large)


def test_the_pixels_of_one_request_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_PIXELS_PER_REQUEST", 1000)
    budget = PixelBudget()
    made = to_stored_form(picture("PNG", (30, 20)), budget)
    with pytest.raises(PictureRefusedError, match="in all"):
        to_stored_form(picture("PNG", (30, 20)), budget)
    assert to_stored_form(made, budget) == made, "a picture in stored form does not count"
    assert to_stored_form(picture("PNG", (20, 20)), budget)


def test_heif_is_converted_at_its_size_without_metadata() -> None:
    exif = Image.Exif()
    exif[0x010F] = "secret camera"
    jpeg = convert_heif(picture("HEIF", (640, 480), exif=exif))
    assert b"secret" not in jpeg
    image = decode_picture(jpeg)
    assert (image.format, image.size) == ("JPEG", (640, 480))
    assert is_close(image.getpixel((320, 240)), (255, 0, 0), 20)


@pytest.mark.parametrize("junk", [b"", b"\0\0\0\x18ftypheic", picture("JPEG"), picture("HEIF")[:200]])
def test_invalid_heif_is_refused(junk: bytes) -> None:
    with pytest.raises(PictureRefusedError):
        convert_heif(junk)
