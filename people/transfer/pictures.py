"""Photos in the document: the stored JPEG as Base64."""

import base64
import binascii
from typing import Any

from django.conf import settings
from rest_framework import serializers

from accounts.transfer.run import ImportRun, Item
from contacts_project.kernel.storage import StorageUnavailableError
from people.photos.files import name_photo, photo_name, read_photo, upload_photo
from people.photos.images import PictureRefusedError, PixelBudget, as_stored


class Picture(serializers.Field[bytes | None, Any, Any, Any]):
    """An image as Base64."""

    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True)

    def to_internal_value(self, data: Any) -> bytes:
        if not isinstance(data, str) or len(data) > settings.MAX_PHOTO_BYTES * 4 // 3 + 4:
            raise serializers.ValidationError("This must be an image as Base64.")
        try:
            return base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise serializers.ValidationError(f"This is no Base64: {error}.") from None


def exported(name: str | None) -> str | None:
    """The photo of that name as the document holds it."""
    jpeg = read_photo(name) if name else None
    return base64.b64encode(jpeg).decode() if jpeg else None


def prepare_photo(run: ImportRun, item: Item) -> None:
    """Make the record's photo as photos are stored, and store it, before the account is locked.

    One that cannot be, or is beyond the pixels of one document, is left out; `photo_refused` says why.
    """
    picture = item.data.get("photo")
    if picture is None:
        return
    try:
        jpeg = as_stored(picture, run.single(PixelBudget))
    except PictureRefusedError as refusal:
        item.data["photo"], item.data["photo_refused"] = None, str(refusal)
        return
    try:
        if not run.dry:
            upload_photo(owner_id=run.owner.pk, jpeg=jpeg)
    except StorageUnavailableError:
        item.data["photo"], item.data["photo_refused"] = None, "the store of photos is away"
        return
    item.data["photo"] = jpeg


def stored(run: ImportRun, jpeg: bytes | None) -> str | None:
    """The name under which the photo is stored; in a dry run it only would be."""
    if jpeg is None:
        return None
    return photo_name(run.owner.pk, jpeg) if run.dry else name_photo(owner_id=run.owner.pk, jpeg=jpeg)


def refusals(item: Item) -> list[str]:
    """What is to be told of the record's photo."""
    refused = item.data.get("photo_refused")
    return [f"{item.data.get('name') or 'account'}: the photo was left out: {refused}"] if refused else []
