"""Photos in the document: the stored JPEG as Base64."""

import base64
import binascii
from typing import Any

from django.conf import settings
from rest_framework import serializers

from people.images import PictureRefusedError, as_stored
from people.photos import photo_name, read_photo, store_photo


class Picture(serializers.Field[bytes | None, Any, Any, Any]):
    """A photo as Base64 of an image; what is not yet as photos are stored is made so."""

    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True)

    def to_internal_value(self, data: Any) -> bytes:
        if not isinstance(data, str) or len(data) > settings.MAX_PHOTO_BYTES * 4 // 3 + 4:
            raise serializers.ValidationError("This must be an image as Base64.")
        try:
            return as_stored(base64.b64decode(data, validate=True))
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
