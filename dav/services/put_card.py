"""A device puts a card: it makes a person, or changes one (docs/dav.md). Group cards: dav.services.put_group."""

from contacts_project.kernel.errors import DomainError, PlanLimitError
from contacts_project.kernel.ownership.account_lock import AccountWrite
from dav.authentication import Credentials
from dav.cards.computed import KnownCard
from dav.cards.device_edit import sent_names
from dav.cards.given import SentText, record_put
from dav.cards.refresh import note_put, refresh_people, store_new
from dav.cards.sent import Picture, Sent, examine_picture, named_after, without_groups
from dav.cards.shown import find_row
from dav.cards.texts import etag_of, pack, unpack, with_photo_of, without_categories
from dav.conditions import Conditions
from dav.errors import DavError
from dav.models import BookCard
from dav.resources.book import BookResource, CardResource
from dav.resources.paths import member_path
from dav.selection import active_group_ids, note_made
from dav.services.card_edit import PutCard, apply_edit, set_text
from dav.services.cards_of_devices import (
    UID_STAYS,
    WRONG_KIND,
    Base,
    find_base,
    member_of,
    rename_card,
)
from dav.services.device_properties import note_properties
from dav.services.device_write import device_write
from dav.services.known_cards import find_by_uid, find_known, find_same, uid_conflict
from dav.services.listed_again import list_again
from dav.services.refusals import forget_refusal, record_refusal
from dav.xml import card as card_name
from dav.xml import href
from people.contents.contact import create_from_cards
from people.importing.group_cards import awaiting_groups, forget_awaited
from people.importing.known import uid_key
from people.models import Group, Person
from people.photos.files import confirm_upload
from people.services.groups import put_members
from people.services.people import restore_person
from people.services.person_writer import PersonWriter
from people.services.plan_limits import check_plan
from people.vcard import CardText, VCardError
from people.vcard.line_merge import without_photo


def put_card(*, book: BookResource, name: str, sent: Sent, conditions: Conditions) -> tuple[bool, str | None]:
    """Write the card of a person. Returns whether it made a new one, and the ETag if GET gives the same bytes back
    (RFC 6352, 6.3.2.3). Raises DavError (412, conflicts of UIDs, the plan's limit).

    Under the account's lock, so that nothing comes between the conditions and the write.
    """
    device, owner = book.device, book.device.owner
    if device.has_group_cards:
        sent = without_groups(sent)
    picture = Picture() if sent.picture is None else _examine(book, name, sent.picture, conditions)
    with device_write(book) as write:
        put = PutCard(device, write, book, name, sent, picture)
        row = find_row(owner, name)
        member = member_of(book, row)
        conditions.check(*(member.etags if member else ()))
        etag_before = str(getattr(row, book.etag_column)) if row is not None and member else ""
        try:
            is_made = False
            if row is not None and member is not None:
                row = _change_known(put, row, conditions)
            else:
                row, is_made = create_card(put, row)
        except PlanLimitError as error:
            raise DavError(507, words=error.message) from error
        except DomainError as error:
            raise DavError(403, card_name("valid-address-data"), error.message) from error
        except VCardError as error:
            raise DavError(403, card_name("valid-address-data"), error.text) from error
        note_properties(device, sent_names(sent.source))
        etag = _finish(put, row, etag_before, is_made=is_made)
        note_put(owner, row)
        return member is None, etag


def _examine(book: BookResource, name: str, picture: bytes, conditions: Conditions) -> Picture:
    """Before the lock: decoding takes long. A picture that is another's by then is decided by the conditions."""
    book.bring_up_to_date()
    row = find_row(book.device.owner, name)
    given = _base_of(book.device, row, conditions)[1].photo if row and member_of(book, row) else ""
    return examine_picture(owner_id=book.device.owner.pk, picture=picture, given=given)


def _finish(put: PutCard, row: BookCard, etag_before: str, *, is_made: bool) -> str | None:
    """Remember what the device has, and tell it again of a card that is stored otherwise."""
    etag, text = str(getattr(row, put.book.etag_column)), unpack(row.text)
    shown = without_categories(text) if put.device.has_group_cards else text
    is_same_picture = put.sent.picture is None or put.picture.is_same
    is_as_sent = put.sent.is_exact and is_same_picture and shown == put.sent.marked
    if is_as_sent:
        has = SentText(row, etag)
    else:
        has = SentText(row, etag_of(put.sent.text, row.shown_photo), pack(put.sent.text))
        if etag == etag_before:
            list_again(put.device, row, etag=etag, revision=put.write.revision)
    record_put(put.device, has, is_first=is_made)
    path = member_path(put.book.path, put.name)
    if put.picture.refusal:
        record_refusal(put.device, path, put.picture.refusal, person_id=row.person_id)
    else:
        forget_refusal(put.device, path)
    return CardResource(put.book, row).etag if is_as_sent else None


def _base_of(device: Credentials, row: BookCard, conditions: Conditions) -> tuple[CardText, Base]:
    """The text of the card as it is now, and what the device's card is a change of."""
    current = CardText(unpack(row.text))
    return current, find_base(device, row, current, conditions)


def _change_known(put: PutCard, row: BookCard, conditions: Conditions) -> BookCard:
    """Apply the change of a card that is in the book. Raises DavError (412, conflicts of UIDs)."""
    current, base = _base_of(put.device, row, conditions)
    if put.sent.uid is not None and uid_key(put.sent.uid) != uid_key(row.uid):
        path = href(member_path(put.book.path, row.name))
        raise DavError(409, card_name("no-uid-conflict"), UID_STAYS, path)
    if row.person_id is None:
        raise DavError(403, card_name("valid-address-data"), WRONG_KIND)
    return apply_edit(put, row, current, base, named_after(put.sent, row.uid))


def create_card(put: PutCard, former: BookCard | None) -> tuple[BookCard, bool]:
    """Make the person of a new card; or find it again, in the trash by its UID, or active with the same content.

    Returns the card, and whether it was made.
    """
    owner, write = put.owner, put.write
    sent = put.sent if put.sent.uid else named_after(put.sent, put.name.removesuffix(".vcf") or put.name)
    uid = str(sent.uid)
    known = find_known(put, sent)
    if known.by_uid and (person := find_by_uid(put, uid)) is not None:
        person = restore_person(owner=owner, person=person, now=write.now)
        return _come_again(put, person, sent, former), False
    if known.by_name and (same := find_same(put, sent)) is not None:
        return _come_again(put, same, sent, former), False
    check_plan(owner, "people")
    card = without_photo(sent.card, is_stored_elsewhere=True)
    (contact,) = create_from_cards(owner, write, [(card, put.picture.jpeg)])
    person = contact.person
    if former is not None:
        former.delete()
    text = sent.text if put.picture.jpeg else with_photo_of(sent.text, "")
    source = sent.source if text == sent.text else CardText(text)
    row = BookCard(owner=owner, person=person, name=put.name, uid=uid, left_revision=write.revision)
    row.read_revision = write.revision - 1
    row.changed_revision = row.plain_changed_revision = write.revision
    row.photo = person.photo or ""
    if put.picture.original and put.picture.original != put.picture.jpeg:
        row.original = confirm_upload(owner_id=owner.pk, jpeg=put.picture.original)
    set_text(row, text)
    is_joined = join_selection(put.device, write, person)
    is_joined |= known.by_groups and _join_awaiting_groups(put, person, uid)
    is_known = not is_joined and not card.categories
    row = store_new(owner, KnownCard(row, source, *((contact, contact.card) if is_known else (None, None))))
    note_made(put.device, row, write.revision)
    return row, True


def _join_awaiting_groups(put: PutCard, person: Person, uid: str) -> bool:
    """Put the person into the groups that wait for this UID; returns whether there are any."""
    awaiting = awaiting_groups(put.owner, [uid])
    for group in awaiting.get(uid_key(uid), ()):
        put_members(group, [person.pk], put.write.now)
    if awaiting:
        forget_awaited(put.owner, awaiting)
    return bool(awaiting)


def _come_again(put: PutCard, person: Person, sent: Sent, former: BookCard | None) -> BookCard:
    """Give the card of a person that is here already the name and the UID of the PUT, and write what it says."""
    owner, write = put.owner, put.write
    if person.uid != sent.uid:
        writer = PersonWriter(owner, write, write.now)
        writer.edit(person)
        person.uid = str(sent.uid)
        writer.flush()
    if former is not None and former.person_id != person.pk:
        former.delete()
    # A card that has left gets its name before it comes back: devices know already that the former name is gone.
    if (gone := BookCard.objects.owned_by(owner).filter(person=person).first()) is not None:
        rename_card(gone, put.name, write)
    join_selection(put.device, write, person)
    refresh_people(owner, [person.pk])
    row = BookCard.objects.owned_by(owner).in_book().filter(person=person).first()
    if row is None:
        raise uid_conflict(put, None)
    rename_card(row, put.name, write)
    note_made(put.device, row, write.revision)
    current, given = _base_of(put.device, row, Conditions(None, frozenset()))
    apply_edit(put, row, current, given, sent, is_stored_as_sent=True)
    # Last: a group that waits is nothing that the card says.
    if _join_awaiting_groups(put, person, str(sent.uid)):
        refresh_people(owner, [person.pk])
    return BookCard.objects.owned_by(owner).get(pk=row.pk)


def join_selection(device: Credentials, write: AccountWrite, person: Person) -> bool:
    """Put a person whom the device has made into the first of its groups, and among the favourites if it gets these.
    Returns whether there are any."""
    groups, book = active_group_ids(device), device.token.book or {}
    if groups:
        put_members(Group.objects.find_active(device.owner.pk, groups[0]), [person.pk], write.now)
    if book.get("favourites") and not person.favourite:
        person.refresh_from_db()
        writer = PersonWriter(device.owner, write, write.now)
        writer.edit(person)
        person.favourite = True
        writer.flush()
    return bool(groups or book)
