"""Converts pictures to sRGB by their ICC profile: phones write Display P3, and stored photos have no profile."""

from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageCms

# Profiles of phones have a few hundred bytes, those of printing presses up to two megabytes.
_MAX_PROFILE_BYTES = 4 * 1024 * 1024
# By colour space of a profile the mode of pixels that it describes, and the modes of files that it may be in.
_MODES = {
    "RGB": ("RGB", frozenset({"RGB", "RGBA", "RGBX", "RGBa", "P", "PA"})),
    "GRAY": ("L", frozenset({"L", "LA", "La", "1", "I", "I;16", "I;16B", "I;16L"})),
    "CMYK": ("CMYK", frozenset({"CMYK"})),
}


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
