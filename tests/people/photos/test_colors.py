"""Colour profiles are converted to sRGB: the pixels of the files are compared with the formulas of both spaces."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageCms

from people.photos.images import convert_heif, make_photo
from tests.pictures import decode_picture, picture

REPORTS = Path("/work/shared/data/reports/photos")
# Display P3 has the white point and the curve of sRGB. To XYZ, and from XYZ to sRGB.
P3_TO_XYZ = ((0.48657, 0.26567, 0.19822), (0.22897, 0.69174, 0.07929), (0.0, 0.04511, 1.04394))
XYZ_TO_SRGB = ((3.24097, -1.53738, -0.49861), (-0.96924, 1.87597, 0.04156), (0.05563, -0.20398, 1.05697))


def from_display_p3(color: tuple[int, ...]) -> tuple[int, ...]:
    values = [_to_linear(value / 255) for value in color]
    for matrix in (P3_TO_XYZ, XYZ_TO_SRGB):
        values = [sum(factor * value for factor, value in zip(row, values, strict=True)) for row in matrix]
    return tuple(round(255 * _from_linear(min(1, max(0, value)))) for value in values)


def _to_linear(value: float) -> float:
    return float(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)


def _from_linear(value: float) -> float:
    return float(12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055)


def is_near(pixel: object, color: tuple[int, ...]) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(one - other) <= 3 for one, other in zip(pixel, color, strict=True))


def read_report(name: str) -> bytes:
    if not (REPORTS / name).exists():
        pytest.skip("the pictures of the reports are not here")
    return (REPORTS / name).read_bytes()


def test_a_jpeg_in_display_p3_is_converted() -> None:
    data = read_report("display_p3.jpg")
    pixel = decode_picture(data).getpixel((5, 5))
    assert isinstance(pixel, tuple)
    expected = from_display_p3(pixel)
    assert max(abs(one - other) for one, other in zip(pixel, expected, strict=True)) > 8
    assert is_near(decode_picture(make_photo(data)).getpixel((128, 128)), expected)


def test_a_heic_in_display_p3_is_converted() -> None:
    data = read_report("display_p3.heic")
    pixel = decode_picture(data).getpixel((5, 5))
    assert isinstance(pixel, tuple)
    jpeg = decode_picture(convert_heif(data))
    assert is_near(jpeg.getpixel((5, 5)), from_display_p3(pixel))
    assert "icc_profile" not in jpeg.info


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P"])
def test_other_formats_are_converted(kind: str, mode: str) -> None:
    profile = decode_picture(read_report("display_p3.jpg")).info["icc_profile"]
    image = Image.new("RGB", (40, 30), (200, 60, 30))
    image = image.quantize(2) if mode == "P" else image.convert(mode)
    out = BytesIO()
    image.save(out, kind, icc_profile=profile, **({"lossless": True} if kind == "WEBP" else {}))
    pixel = image.convert("RGB").getpixel((5, 5))
    assert isinstance(pixel, tuple)
    assert is_near(decode_picture(make_photo(out.getvalue())).getpixel((128, 128)), from_display_p3(pixel))


def test_what_is_transparent_stays_white() -> None:
    profile = decode_picture(read_report("display_p3.jpg")).info["icc_profile"]
    clear = picture("PNG", mode="RGBA", color=(10, 20, 30, 0), icc_profile=profile)
    assert is_near(decode_picture(make_photo(clear)).getpixel((128, 128)), (255, 255, 255))


@pytest.mark.parametrize(
    "profile",
    [
        b"not a profile",
        b"\0" * 128,
        ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes(),
        ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()[:300],
        b"a" * (5 * 1024 * 1024),
    ],
)
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_profile_that_does_not_fit_is_left_out(profile: bytes, mode: str) -> None:
    plain = picture("JPEG", mode=mode, color=100 if mode == "L" else (10, 20, 30, 40)[: len(mode)])
    marked = picture(
        "JPEG", mode=mode, color=100 if mode == "L" else (10, 20, 30, 40)[: len(mode)], icc_profile=profile
    )
    assert make_photo(marked) == make_photo(plain)


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_a_profile_of_another_kind_of_pixels_is_left_out(mode: str) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    color = 100 if mode == "L" else (10, 20, 30, 40)
    marked = picture("JPEG", mode=mode, color=color, icc_profile=profile)
    assert make_photo(marked) == make_photo(picture("JPEG", mode=mode, color=color))
