"""How a device's write to a card is done: under the account's lock, to the card of the path, as a change of what the
device had (docs/dav.md)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from accounts.models import User
from contacts_project.kernel.ownership.account_lock import AccountWrite, account_write
from contacts_project.kernel.texts import define_text
from dav.authentication import Credentials, UnauthorizedError
from dav.cards.client_state import ClientCard, keep_former_texts, known_properties, list_again, record_put_text
from dav.cards.device_edit import DeviceEdit, read_edit, with_spelling_of
from dav.cards.put_body import NO_PHOTO, PutCard, PutPhoto
from dav.cards.refresh import record_changed_card, refresh_person
from dav.cards.texts import etag_of, pack, photo_lines, unpack, with_photo_of, without_categories
from dav.models import BookCard
from dav.preconditions import NAME_TAKEN, Conditions, DavStatusError, missing
from dav.resources.book import BookResource, CardResource, find_named_row
from dav.resources.uris import member_path
from dav.services.history import record_replaced
from dav.services.refusals import forget_refusal, record_refusal
from dav.xml import card as card_name
from dav.xml import href
from people.cards.card_lines import with_unmapped_lines
from people.contents.contact import LocalContact, build_contact, load_local_contact, write_fields
from people.models import Person
from people.photos.files import confirm_upload, delete_files
from people.services.person_writer import PersonWriter
from people.vcard import CardText
from people.vcard.card import uid_key
from people.vcard.line_merge import without_photo

_UID_STAYS = define_text("dav_uid_stays", "The UID of a card stays.")
WRONG_KIND = define_text(
    "dav_wrong_kind", "The card of a person stays one of a person, that of a group one of a group."
)
_UID_TAKEN = define_text("dav_uid_taken", "Another card has this UID.")


@contextmanager
def device_write(book: BookResource) -> Iterator[AccountWrite]:
    """Open a write of the account, with the book up to date as of the moment of its lock.

    Nothing can come between the conditions of a request, which are checked inside, and what it writes. Raises
    UnauthorizedError if the device's password was revoked meanwhile.
    """
    device, owner = book.device, book.device.owner
    book.bring_up_to_date()  # before the lock, which is then short
    with account_write(owner) as write:
        if not write.is_fresh:
            # To revoke a password is a write, too, and its row was read together with the owner's.
            if device.is_revoked():
                raise UnauthorizedError
            # Others have written since the cards were read: without this, an ETag of before would still match.
            owner.revision = write.revision - 1
            book.bring_up_to_date()
        owner.revision = write.revision
        yield write


def member_of(book: BookResource, row: BookCard | None) -> CardResource | None:
    """The card of a name as the device has it; None if it is not in the book.

    Raises DavStatusError (404) if it is outside of what the device gets, or of somebody who is in no book: quiet, or
    not to be synced.
    """
    if row is None:
        return None
    if row.left_revision is None:
        if not book.gets(row):
            raise missing()
        return CardResource(book, row)
    if row.person_id is not None and Person.objects.owned_by(row.owner_id).active().filter(pk=row.person_id).exists():
        raise missing()
    return None


def find_member(book: BookResource, name: str, conditions: Conditions) -> BookCard:
    """The card of a name that is there and fulfils the conditions. Raises DavStatusError (404, 412)."""
    row = book.find_row(name)
    if row is None or (row.person_id or row.group_id) is None:
        raise missing()
    conditions.check(*CardResource(book, row).etags)
    return row


def move_card(*, book: BookResource, name: str, new_name: str, conditions: Conditions) -> None:
    """Rename a card within the book. Raises DavStatusError (404; 412 also if there is a card of the new name)."""
    with device_write(book) as write:
        row = find_member(book, name, conditions)
        taken = BookCard.objects.owned_by(book.device.owner).filter(name=new_name).first()
        if taken is not None and taken.left_revision is None:
            raise DavStatusError(412, words=NAME_TAKEN)
        if taken is not None:
            taken.delete()
        rename_card(row, new_name, write)


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
    record_changed_card(row.owner_id, write.revision)


@dataclass(frozen=True)
class CardWrite:
    """A PUT, while it is written.

    `row` is the card of the name before the write: in the book, or with `is_new` one that has left it, or None.
    """

    book: BookResource
    write: AccountWrite
    name: str
    sent: PutCard
    photo: PutPhoto
    row: BookCard | None
    is_new: bool

    @property
    def device(self) -> Credentials:
        return self.book.device

    @property
    def owner(self) -> User:
        return self.book.device.owner


@contextmanager
def open_put(
    *, book: BookResource, name: str, sent: PutCard, conditions: Conditions, photo: PutPhoto = NO_PHOTO
) -> Iterator[CardWrite]:
    """Open the write of a PUT. Raises DavStatusError (404, 412)."""
    with device_write(book) as write:
        row = find_named_row(book.device.owner, name)
        member = member_of(book, row)
        conditions.check(*(member.etags if member else ()))
        yield CardWrite(book, write, name, sent, photo, row, is_new=member is None)


def check_uid(put: CardWrite, row: BookCard) -> None:
    """Raises DavStatusError (409) for a card that came with another UID than the one that is here."""
    if put.sent.uid is not None and uid_key(put.sent.uid) != uid_key(row.uid):
        path = href(member_path(put.book.path, row.name))
        raise DavStatusError(409, card_name("no-uid-conflict"), _UID_STAYS, path)


def uid_conflict(put: CardWrite, other: BookCard | None) -> DavStatusError:
    """The refusal of a new card whose UID is that of another, which the device may not get (RFC 6352, 6.3.2.1)."""
    inner = href(member_path(put.book.path, other.name)) if other else ""
    return DavStatusError(409, card_name("no-uid-conflict"), _UID_TAKEN, inner)


def finish_put(put: CardWrite, row: BookCard, etag_before: str, *, is_first: bool = False) -> str | None:
    """Record what the device has, and list a card again to it that is stored otherwise. Returns the ETag if GET gives
    the same bytes back (RFC 6352, 6.3.2.3).

    `etag_before` is that of the card before the write; `is_first`: no device had the card yet.
    """
    device, etag, text = put.device, str(getattr(row, put.book.etag_column)), unpack(row.text)
    shown = without_categories(text) if device.has_group_cards and not row.is_group else text
    is_same_picture = put.sent.picture is None or put.photo.is_same
    is_as_sent = put.sent.is_exact and is_same_picture and shown == put.sent.marked
    if is_as_sent:
        record_put_text(device, row, etag, None, is_first=is_first)
    else:
        if etag == etag_before:
            list_again(device, row, etag=etag, revision=put.write.revision)
        sent = put.sent.text
        record_put_text(device, row, etag_of(sent, row.shown_photo), pack(sent), is_first=is_first)
    path = member_path(put.book.path, put.name)
    if put.photo.refusal:
        record_refusal(device, path, put.photo.refusal, person_id=row.person_id)
    else:
        forget_refusal(device, path)
    is_visible = device.has_group_cards or not row.is_group
    return CardResource(put.book, row).etag if is_as_sent and is_visible else None


def apply_edit(
    put: CardWrite,
    row: BookCard,
    current: CardText,
    base: ClientCard,
    sent: PutCard,
    *,
    is_stored_as_sent: bool = False,
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
    contact = _write_lines_and_photo(put, contact, edit, photo)
    _store_text(put, row, edit.source.text, photo, original)
    return refresh_person(owner, row, edit.source, contact)


def _comparable(put: CardWrite, source: CardText, current: CardText) -> CardText:
    """The sent text without what says nothing: a picture that is no change, and groups where they are cards."""
    text = source.text if put.photo.jpeg else with_photo_of(source.text, current.text)
    if put.device.has_group_cards:
        text = without_categories(text)
    return source if text == source.text else CardText(text)


def _photo_change(put: CardWrite, row: BookCard, base: ClientCard, edit: DeviceEdit) -> tuple[set[str], str, str]:
    """Whether the photo changes, its file name, and that of the original."""
    if put.photo.jpeg:
        photo = confirm_upload(owner_id=put.owner.pk, jpeg=put.photo.jpeg)
        return ({"photo"} if photo != row.photo else set()), photo, put.photo.confirm_original(put.owner.pk)
    # Left out by a device that knows photos and had one.
    if row.photo and base.photo and not photo_lines(edit.source.text) and not edit.has_photo_url:
        return {"photo"}, "", ""
    return set(), row.photo, row.original


def _write_lines_and_photo(put: CardWrite, contact: LocalContact, edit: DeviceEdit, photo: str) -> LocalContact:
    """Write the lines that no field holds, and the photo; returns the person as it is then."""
    person = contact.person
    card = with_spelling_of(edit.source.card, (line["line"] for line in person.card_lines))
    lines = with_unmapped_lines(person, without_photo(card, is_stored_elsewhere=True))
    former = person.photo or ""
    if lines is None and former == photo:
        return contact
    writer = PersonWriter(put.owner, put.write, put.write.now)
    writer.edit(person)
    if lines is not None:
        person.card_lines = lines
    writer.flush()
    if former != photo:
        person.photo, person.updated_at = photo or None, put.write.now
        person.save(update_fields=["photo", "updated_at"])
        delete_files([former])
    return build_contact(person, contact.dates, contact.groups)


def set_text(row: BookCard, text: str) -> None:
    row.text = pack(text)
    row.etag = etag_of(text, row.shown_photo)
    row.plain_etag = etag_of(without_categories(text), row.shown_photo)


_TEXT_COLUMNS = (
    *("text", "photo", "original", "etag", "plain_etag"),
    *("changed_revision", "plain_changed_revision", "updated_at"),
)


def _store_text(put: CardWrite, row: BookCard, text: str, photo: str, original: str) -> None:
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
