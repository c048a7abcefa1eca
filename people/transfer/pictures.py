"""Photos in the document: stored JPEG files as Base64."""

import base64
import binascii
from typing import Any

from django.conf import settings
from rest_framework import serializers

from accounts.transfer.run import ImportRecord, TransferRun
from contacts_project.kernel.api.errors import InvalidError
from contacts_project.kernel.storage import StorageUnavailableError
from contacts_project.kernel.texts import Text, define_text
from people.photos.containers import PictureRefusedError
from people.photos.files import confirm_upload, read_photo, upload_photo
from people.photos.images import PixelBudget, to_stored_form
from people.photos.names import photo_name

_LEFT_OUT = define_text("photo_of_record_left_out", "%(name)s: the photo was left out: %(reason)s")

_NOT_AN_IMAGE = define_text("not_an_image", "This must be an image as Base64.")
_NOT_BASE64 = define_text("not_base64", "This is no Base64: %(problem)s.")

_STORE_AWAY = define_text("photos_away", "the store of photos is away")


class PictureField(serializers.Field[bytes | None, Any, Any, Any]):
    """An image as Base64."""

    def __init__(self) -> None:
        super().__init__(required=False, allow_null=True)

    def to_internal_value(self, data: object) -> bytes:
        # Base64 has four characters for three bytes, and up to four with padding at the end.
        if not isinstance(data, str) or len(data) > settings.MAX_PHOTO_BYTES * 4 // 3 + 4:
            raise InvalidError(_NOT_AN_IMAGE)
        try:
            return base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidError(_NOT_BASE64.format(problem=str(error))) from None


def encode_photo(name: str | None) -> str | None:
    """The content of a stored photo as Base64; None if there is none."""
    jpeg = read_photo(name) if name else None
    return base64.b64encode(jpeg).decode() if jpeg else None


def prepare_photo(run: TransferRun, record: ImportRecord) -> None:
    """Convert and upload the photo of a record before the account is locked, because that takes long.

    A photo that is refused, or exceeds the pixel budget of one document, is left out; `photo_refused` is the reason.
    """
    picture = record.data.get("photo")
    if picture is None:
        return
    try:
        jpeg = to_stored_form(picture, run.single(PixelBudget))
    except PictureRefusedError as refusal:
        record.data["photo"], record.data["photo_refused"] = None, refusal.text
        return
    try:
        if not run.dry:
            upload_photo(owner_id=run.owner.pk, jpeg=jpeg)
    except StorageUnavailableError:
        record.data["photo"], record.data["photo_refused"] = None, _STORE_AWAY
        return
    record.data["photo"] = jpeg


def save_photo(run: TransferRun, jpeg: bytes | None) -> str | None:
    """Register an uploaded photo and return its file name; a dry run only returns the name."""
    if jpeg is None:
        return None
    return photo_name(run.owner.pk, jpeg) if run.dry else confirm_upload(owner_id=run.owner.pk, jpeg=jpeg)


def photo_messages(record: ImportRecord) -> list[Text]:
    """The message of the receipt if the record's photo was left out."""
    refused = record.data.get("photo_refused")
    return [_LEFT_OUT.format(name=record.data.get("name") or "account", reason=refused)] if refused else []
