"""What a PUT says of a person is written as a change of what the device had (docs/dav.md)."""

from dataclasses import dataclass

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountWrite
from dav.authentication import Credentials
from dav.cards.computed import KnownCard
from dav.cards.device_edit import DeviceEdit, read_edit, with_spelling_of
from dav.cards.former_texts import keep_former_texts
from dav.cards.refresh import refresh_known
from dav.cards.sent import Picture, Sent
from dav.cards.texts import etag_of, pack, photo_lines, with_photo_of, without_categories
from dav.models import BookCard
from dav.resources.book import BookResource
from dav.services.cards_of_devices import Base
from dav.services.device_properties import known_properties
from dav.services.replaced_values import record_replaced
from people.contents.contact import (
    LocalContact,
    load_local_contact,
    write_fields,
)
from people.fields.unmapped_lines import with_unmapped_lines
from people.photos.files import confirm_upload, delete_files
from people.services.person_writer import PersonWriter
from people.vcard import CardText
from people.vcard.line_merge import without_photo


@dataclass(frozen=True)
class PutCard:
    """One PUT of a person's card, while it is written."""

    device: Credentials
    write: AccountWrite
    book: BookResource
    name: str
    sent: Sent
    picture: Picture

    @property
    def owner(self) -> User:
        return self.device.owner


def apply_edit(
    put: PutCard, row: BookCard, current: CardText, base: Base, sent: Sent, *, is_stored_as_sent: bool = False
) -> BookCard:
    """Write what the card says as a change of `base`. `row` has the person, and `current` is the text of the card as it
    is now. Returns the card as it is stored then.

    What says nothing new is stored only with `is_stored_as_sent`: else each device would make the others read again.
    """
    owner, write = put.owner, put.write
    contact = load_local_contact(owner, row.person_id)  # type: ignore[arg-type]  # the caller has checked it
    edit = read_edit(
        base=base.source,
        current=current,
        sent=_comparable(put, sent.source, current),
        known=known_properties(put.device),
        local=contact.fields,
    )
    changed, photo, original = _photo_change(put, row, base, edit)
    changed |= edit.changed
    if not changed and not edit.lines_changed and original == row.original and not is_stored_as_sent:
        return row
    record_replaced(put.device, contact, edit, changed, current=current)
    contact = write_fields(owner, write, contact, edit.fields, changed - {"photo"}, None)
    is_as_read = not _write_lines_and_photo(put, contact, edit, photo)
    _store_text(put, row, edit.source.text, photo, original)
    return refresh_known(owner, KnownCard(row, edit.source, contact, contact.card if is_as_read else None))


def _comparable(put: PutCard, source: CardText, current: CardText) -> CardText:
    """The sent text without what says nothing: a picture that is no change, and groups where they are cards."""
    text = source.text if put.picture.jpeg else with_photo_of(source.text, current.text)
    if put.device.has_group_cards:
        text = without_categories(text)
    return source if text == source.text else CardText(text)


def _photo_change(put: PutCard, row: BookCard, base: Base, edit: DeviceEdit) -> tuple[set[str], str, str]:
    """Whether the photo changes, its file name, and that of the original."""
    if put.picture.jpeg:
        photo = confirm_upload(owner_id=put.owner.pk, jpeg=put.picture.jpeg)
        original = put.picture.original
        is_other = original is not None and original != put.picture.jpeg
        kept = confirm_upload(owner_id=put.owner.pk, jpeg=original) if original and is_other else ""
        return ({"photo"} if photo != row.photo else set()), photo, kept
    # Left out by a device that knows photos and had one.
    if row.photo and base.photo and not photo_lines(edit.source.text) and not edit.has_photo_url:
        return {"photo"}, "", ""
    return set(), row.photo, row.original


def _write_lines_and_photo(put: PutCard, contact: LocalContact, edit: DeviceEdit, photo: str) -> bool:
    """Returns whether there was anything to write."""
    person = contact.person
    card = with_spelling_of(edit.source.card, (line["line"] for line in person.card_lines))
    lines = with_unmapped_lines(person, without_photo(card, is_stored_elsewhere=True))
    if lines is None and (person.photo or "") == photo:
        return False
    former = person.photo
    writer = PersonWriter(put.owner, put.write, put.write.now)
    writer.edit(person)
    if lines is not None:
        person.card_lines = lines
    writer.flush()
    if (former or "") != photo:
        person.photo = photo or None
        person.updated_at = put.write.now
        person.save(update_fields=["photo", "updated_at"])
        delete_files([former])
    return True


def set_text(row: BookCard, text: str) -> None:
    row.text = pack(text)
    row.etag = etag_of(text, row.shown_photo)
    row.plain_etag = etag_of(without_categories(text), row.shown_photo)


_TEXT_COLUMNS = (
    *("text", "photo", "original", "etag", "plain_etag"),
    *("changed_revision", "plain_changed_revision", "updated_at"),
)


def _store_text(put: PutCard, row: BookCard, text: str, photo: str, original: str) -> None:
    """Store the text from which the card goes on; dav.cards.refresh then writes into it what others changed."""
    keep_former_texts(put.owner, [row], but_of=put.device.token.pk)
    former = row.original
    row.photo, row.original = photo, original
    set_text(row, text)
    row.changed_revision = row.plain_changed_revision = put.write.revision
    row.updated_at = put.write.now
    BookCard.objects.bulk_update([row], _TEXT_COLUMNS)
    if former and former != original:
        delete_files([former])
