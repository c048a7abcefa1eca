"""Pictures of cards, made ready outside of transactions."""

from dataclasses import dataclass
from uuid import UUID

from carddav.sync.fields import photo_token
from contacts_project.kernel.outbound import Code, OutboundError, outbound_session
from people.photos.files import PictureRefusedError, content_hash, upload_photo
from people.photos.images import PixelBudget, as_stored
from people.vcard import Card

_SECONDS = 5.0
_MAX_BYTES = 5 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture of a card: its token there, and the stored form, None where it could not be had."""

    remote: str | None
    jpeg: bytes | None = None

    @property
    def local(self) -> str | None:
        """The token of the stored form."""
        return content_hash(self.jpeg) if self.jpeg else None


def stored_picture_of(card: Card, budget: PixelBudget, owner_id: UUID) -> Picture:
    """The card's picture as `picture_of` gives it, stored for the write that names it. Outside of transactions; raises
    as upload_photo does."""
    picture = picture_of(card, budget)
    if picture.jpeg:
        upload_photo(owner_id=owner_id, jpeg=picture.jpeg)
    return picture


def picture_of(card: Card, budget: PixelBudget) -> Picture:
    """The card's picture, read or fetched. One that cannot be had is none: that is never an error of the card."""
    token = photo_token(card)
    try:
        data = card.photo or (_download(card.photo_url) if card.photo_url else None)
        return Picture(token, as_stored(data, budget) if data else None)
    except (PictureRefusedError, OutboundError):
        return Picture(token)


def _download(url: str) -> bytes:
    """A picture at an address of the net: under the outbound policy, without any login."""
    with outbound_session(seconds=_SECONDS, max_bytes=_MAX_BYTES) as session:
        response = session.request("GET", url)
    if response.status_code != 200:
        raise OutboundError(Code.UNEXPECTED_RESPONSE, status=response.status_code)
    return bytes(response.content)
