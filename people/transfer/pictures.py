"""Photos in the document: the stored JPEG as Base64."""

import base64
import binascii
from io import BytesIO
from typing import Any

from django.conf import settings
from PIL import Image
from rest_framework import serializers

from people.images import SIDE, PictureRefusedError, make_photo
from people.photos import photo_name, read_photo, store_photo


class Picture(serializers.Field[bytes | None, Any, Any, Any]):
    """A photo as Base64 of an image; what is not yet as photos are stored is made so."""

    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True)

    def to_internal_value(self, data: Any) -> bytes:
        if not isinstance(data, str) or len(data) > settings.MAX_PHOTO_BYTES * 4 // 3 + 4:
            raise serializers.ValidationError("This must be an image as Base64.")
        try:
            image = base64.b64decode(data, validate=True)
            return image if _is_stored_form(image) else make_photo(image)
        except (binascii.Error, ValueError, PictureRefusedError) as error:
            raise serializers.ValidationError(f"This is no image as Base64: {error}") from None


def exported(name: str | None) -> str | None:
    """The photo of that name as the document holds it."""
    jpeg = read_photo(name) if name else None
    return base64.b64encode(jpeg).decode() if jpeg else None


def stored(run: Any, jpeg: bytes | None) -> str | None:
    """The name under which the photo is stored now; in a dry run it only would be."""
    if jpeg is None:
        return None
    return photo_name(run.owner.pk, jpeg) if run.dry else store_photo(owner_id=run.owner.pk, jpeg=jpeg)


def _is_stored_form(image: bytes) -> bool:
    """Whether it can stay byte for byte: encoding it again would change it at every move."""
    try:
        with Image.open(BytesIO(image), formats=("JPEG",)) as opened:
            if opened.size != (SIDE, SIDE) or opened.mode != "RGB" or not set(opened.info) <= _JFIF:
                return False  # before anything big is decoded
            opened.load()
            return not opened.getexif()
    except Exception:  # noqa: BLE001 - a broken file makes Pillow raise whatever it stumbles over
        return False


_JFIF = {"jfif", "jfif_version", "jfif_unit", "jfif_density", "progressive", "progression"}
