"""The body of a PUT: one card, whose picture is compared with the one that the device has."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

from contacts_project.kernel.texts import Text, define_text
from dav.cards.texts import (
    MAX_CARD_BYTES,
    MAX_IMAGE_BYTES,
    STORED_VERSION,
    group_in_30,
    in_version,
    take_photo,
    with_photo,
    without_categories,
)
from dav.preconditions import DavStatusError
from dav.xml import card as card_name
from people.counts import PHOTO_BYTES, count_of
from people.models.account_counts import StorageLimitError
from people.photos.containers import PictureRefusedError
from people.photos.files import confirm_upload, read_photo, upload_photo
from people.photos.images import PixelBudget, to_stored_form
from people.vcard import Card, CardText, VCardError, decode_card, split_cards

#: The pictures of an account may have so many bytes in all before originals are not kept beside their small forms.
MAX_ORIGINAL_BYTES = 1024**3

TOO_LONG = define_text("dav_card_too_long", "A card may have 10 MiB, its picture included.")
_SEVERAL = define_text("dav_several_cards", "Each resource is one card.")
_NO_CARD = define_text("dav_no_card", "This is no card.")
_PHOTO_LEFT_OUT = define_text("dav_photo_left_out", "The picture was left out, the rest was saved: %(reason)s")


@dataclass(frozen=True)
class PutCard:
    """The card that came, in version 3.0 with a marker in place of the picture.

    `uid` is None if it has none. `marked` is the card as the device wrote it, with the marker, and `is_exact`
    whether GET gives back the very bytes of the body once `marked` is stored.
    """

    source: CardText
    uid: str | None
    marked: str
    is_exact: bool
    picture: bytes | None

    @property
    def text(self) -> str:
        return self.source.text

    @property
    def card(self) -> Card:
        return self.source.card


@dataclass(frozen=True)
class PutPhoto:
    """What a PUT says of the photo. `jpeg` is its stored form if it is another one, `original` the bytes that came if
    they are kept. `is_same`: the device is given the same bytes again. `refusal` is why a picture is left out."""

    jpeg: bytes | None = None
    original: bytes | None = None
    is_same: bool = False
    refusal: Text | None = None

    def confirm_original(self, owner_id: UUID) -> str:
        """The file name of the picture that came, if it is kept beside its stored form; else an empty text."""
        if not self.original or self.original == self.jpeg:
            return ""
        return confirm_upload(owner_id=owner_id, jpeg=self.original)


NO_PHOTO = PutPhoto()


def read_body(*, body: bytes, charset: str | None) -> PutCard:
    """Read the body of a PUT. Raises DavStatusError for what is no card, or more than one."""
    if len(body) > MAX_CARD_BYTES:
        raise DavStatusError(403, card_name("max-resource-size"), TOO_LONG)
    found = list(split_cards(io.BytesIO(body)))
    if len(found) != 1:
        raise DavStatusError(403, card_name("valid-address-data"), _SEVERAL if found else _NO_CARD)
    # A card without END may be cut on the way: what stood behind the cut would be taken for removed.
    if problem := found[0].error or found[0].warning:
        raise DavStatusError(403, card_name("valid-address-data"), problem)
    source = CardText(decode_card(found[0].data, charset))
    try:
        is_group = source.card.is_group
        marked, picture = take_photo(source.text)
        text = group_in_30(marked) if is_group else in_version(marked, STORED_VERSION)
        stored = source if text == source.text else CardText(text)
        uid = stored.card.uid
    except VCardError as error:
        raise DavStatusError(403, card_name("valid-address-data"), error.text) from error
    as_read: Callable[[str], bytes | None] = lambda _: picture  # noqa: E731 - in place of the file
    is_exact = text == marked and with_photo(marked, "sent", as_read).encode("utf-8", "replace") == body
    return PutCard(stored, uid, marked, is_exact, picture)


def with_uid(sent: PutCard, uid: str) -> PutCard:
    """The card with this UID: its own, another spelling of it, or the one that it has got from its name."""
    if sent.uid == uid:
        return sent
    lines = sent.source.lines
    if not any(line.name == "UID" for line in lines):
        end = "\r\n" if "\r\n" in sent.text else "\n"
        place = next((index for index, line in enumerate(lines) if line.name == "END"), len(lines))
        chunks = [line.original for line in lines]
        if place and not chunks[place - 1].endswith("\n"):
            chunks[place - 1] += end
        chunks.insert(place, f"UID:{uid}{end}")
    else:
        chunks = [
            line.with_value(uid).serialize() + ("\r\n" if line.original.endswith("\r\n") else "\n")
            if line.name == "UID"
            else line.original
            for line in lines
        ]
    return replace(sent, source=CardText("".join(chunks)), uid=uid, is_exact=False)


def without_groups(sent: PutCard) -> PutCard:
    """The card without CATEGORIES, for a device that has groups as cards of their own."""
    text = without_categories(sent.text)
    return sent if text == sent.text else replace(sent, source=CardText(text), is_exact=False)


def examine_photo(*, owner_id: UUID, picture: bytes, former: str) -> PutPhoto:
    """Compare the picture of a PUT with the one that the device has (a file name), and store it if it is new.

    Must be called outside of transactions. A picture that cannot be taken is a refusal, never an error: the rest of the
    card counts.
    """
    from people.photos.similarity import is_copy  # noqa: PLC0415 - loads Pillow, which few requests need

    try:
        shown = read_photo(former) if former else None
        if shown is not None and is_copy(picture, shown):
            return PutPhoto(is_same=picture == shown)
        # With a budget it waits for its turn, however many others there are: an error would lose the edit.
        jpeg = to_stored_form(picture, PixelBudget())
        upload_photo(owner_id=owner_id, jpeg=jpeg)
    except PictureRefusedError as error:
        return PutPhoto(refusal=_PHOTO_LEFT_OUT.format(reason=error.text))
    except StorageLimitError as error:
        return PutPhoto(refusal=_PHOTO_LEFT_OUT.format(reason=error.message))
    if _keep_original(owner_id, picture, jpeg):
        return PutPhoto(jpeg=jpeg, original=picture, is_same=True)
    return PutPhoto(jpeg=jpeg)


def _keep_original(owner_id: UUID, picture: bytes, jpeg: bytes) -> bool:
    """Store the picture as the device sent it, if there is room for it; returns whether it is stored."""
    if len(picture) > MAX_IMAGE_BYTES or count_of(owner_id, PHOTO_BYTES) + len(picture) > MAX_ORIGINAL_BYTES:
        return False
    if picture != jpeg:
        try:
            upload_photo(owner_id=owner_id, jpeg=picture)
        except StorageLimitError:
            return False
    return True
