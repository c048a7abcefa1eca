"""Loads the pictures of cards, outside of transactions."""

from dataclasses import dataclass
from functools import partial
from uuid import UUID

from carddav.sync.context import SyncContext
from contacts_project.kernel.json import JsonMapping
from contacts_project.kernel.outbound.exchanges import AccountBusyError
from contacts_project.kernel.outbound.failures import Code, OutboundError
from contacts_project.kernel.outbound.session import outbound_session
from people.contents.fields import photo_token
from people.photos.containers import PictureRefusedError
from people.photos.files import upload_photo
from people.photos.images import PixelBudget, to_stored_form
from people.photos.names import content_hash
from people.vcard import Card

_DOWNLOAD_SECONDS = 5.0
_MAX_BYTES = 5 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CardPicture:
    """The picture of a card: its token there, and its stored form, None if it could not be loaded."""

    remote: str | None
    jpeg: bytes | None = None

    @property
    def local_token(self) -> str | None:
        """The token of the stored form."""
        return content_hash(self.jpeg) if self.jpeg else None


def load_changed_picture(context: SyncContext, card: Card, base_remote: JsonMapping) -> CardPicture:
    """The card's picture, stored for the write that may take it; without its bytes if it has not changed, so that it is
    not downloaded again. Must not be called inside a transaction."""
    token = photo_token(card)
    if token == base_remote.get("photo"):
        return CardPicture(token)
    picture = load_picture(card, context.pixel_budget)
    context.act(partial(store_picture, picture, context.owner.pk))
    return picture


def load_and_store_picture(card: Card, budget: PixelBudget, owner_id: UUID) -> CardPicture:
    """`load_picture` and `store_picture`."""
    picture = load_picture(card, budget)
    store_picture(picture, owner_id)
    return picture


def store_picture(picture: CardPicture, owner_id: UUID) -> None:
    """Store the file for the write that will refer to it. Must not be called inside a transaction. Raises what
    upload_photo raises."""
    if picture.jpeg:
        upload_photo(owner_id=owner_id, jpeg=picture.jpeg)


def load_picture(card: Card, budget: PixelBudget) -> CardPicture:
    """The card's picture, embedded or downloaded. A failure is not an error of the card: the picture has no stored form
    then."""
    token = photo_token(card)
    try:
        data = card.photo or (_download(card.photo_url) if card.photo_url else None)
        return CardPicture(token, to_stored_form(data, budget) if data else None)
    except (PictureRefusedError, OutboundError, AccountBusyError):
        return CardPicture(token)


def _download(url: str) -> bytes:
    """Download under the outbound policy and without the login: the URL may name any host."""
    with outbound_session(seconds=_DOWNLOAD_SECONDS, max_bytes=_MAX_BYTES) as session:
        response = session.request("GET", url)
    if response.status_code != 200:
        raise OutboundError(Code.UNEXPECTED_RESPONSE, status=response.status_code)
    return bytes(response.content)
