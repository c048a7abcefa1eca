"""The card that a request of a device names, and the text of it that the device has."""

from dataclasses import dataclass

from contacts_project.kernel.ownership.account_lock import AccountWrite
from contacts_project.kernel.texts import define_text
from dav.authentication import Credentials
from dav.cards.refresh import note_changed_card
from dav.cards.texts import unpack
from dav.conditions import Conditions
from dav.errors import DavError, missing
from dav.models import BookCard, FormerText, GivenCard
from dav.resources.book import BookResource, CardResource
from people.models import Person
from people.vcard import CardText

_NEVER_GIVEN = define_text("dav_never_given", "This device has never read this card. Read it first.")
UID_STAYS = define_text("dav_uid_stays", "The UID of a card stays.")
WRONG_KIND = define_text(
    "dav_wrong_kind", "The card of a person stays one of a person, that of a group one of a group."
)
UID_TAKEN = define_text("dav_uid_taken", "Another card has this UID.")


@dataclass(frozen=True)
class Base:
    """The card as the device has it: its text, and the file name of the picture that it was given."""

    source: CardText
    photo: str


def member_of(book: BookResource, row: BookCard | None) -> CardResource | None:
    """The card of a name as the device has it; None if it is not in the book. Raises DavError (404) if it is outside
    of what the device gets, or of somebody who is in no book: quiet, or not to be synced."""
    if row is None:
        return None
    if row.left_revision is None:
        if not book.gets(row):
            raise missing()
        return CardResource(book, row)
    if row.person_id is not None and Person.objects.owned_by(row.owner_id).active().filter(pk=row.person_id).exists():
        raise missing()
    return None


def find_base(device: Credentials, row: BookCard, current: CardText, conditions: Conditions) -> Base:
    """What the device's card is a change of: the card as it is if the condition says so, else as it was last given to
    this device. Raises DavError (412) if it never was. `current` is the text of the card as it is."""
    as_it_is = Base(current, row.shown_photo)
    if conditions.if_match is not None and "*" not in conditions.if_match:
        return as_it_is
    given = GivenCard.objects.owned_by(device.owner).filter(token=device.token, card=row).first()
    if given is None and conditions.if_match is None and conditions.if_none_match is None:
        raise DavError(412, words=_NEVER_GIVEN)
    if given is None or given.etag in {row.etag, row.plain_etag}:
        return as_it_is
    former = FormerText.objects.owned_by(device.owner).filter(card=row, etag=given.etag).first()
    return Base(CardText(unpack(former.text)), former.photo) if former else as_it_is


def rename_card(row: BookCard, name: str, write: AccountWrite) -> None:
    """Give a card another name. Devices see the former one go, and the new one come."""
    former, row.name = row.name, name
    if former == name:
        return
    row.changed_revision = row.plain_changed_revision = write.revision
    row.save(update_fields=["name", "changed_revision", "plain_changed_revision", "updated_at"])
    left_revision = row.left_revision or write.revision
    BookCard.objects.create(
        owner_id=row.owner_id,
        name=former,
        text=b"",
        is_group=row.is_group,
        read_revision=write.revision,
        changed_revision=left_revision,
        plain_changed_revision=left_revision,
        left_revision=left_revision,
    )
    note_changed_card(row.owner_id, write.revision)
