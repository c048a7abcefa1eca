"""A device puts the card of a person: it makes one, or changes one (docs/dav.md)."""

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists

from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.errors import DomainError, PlanLimitError
from contacts_project.kernel.ownership.account_lock import AccountWrite
from dav.authentication import Credentials
from dav.cards.client_state import ClientCard, find_client_card, record_properties
from dav.cards.device_edit import names_in
from dav.cards.put_body import NO_PHOTO, PutCard, PutPhoto, examine_photo, with_uid, without_groups
from dav.cards.refresh import advance_book, refresh_people, store_new
from dav.cards.texts import unpack, with_photo_of
from dav.models import Book, BookCard, BookCardQuerySet
from dav.preconditions import Conditions, DavStatusError
from dav.resources.book import BookResource, find_named_row
from dav.selection import active_group_ids, only_selected, record_selected
from dav.services.card_write import (
    WRONG_KIND,
    CardWrite,
    apply_edit,
    check_uid,
    finish_put,
    member_of,
    open_put,
    rename_card,
    set_text,
    uid_conflict,
)
from dav.xml import card as card_name
from people.contents.contact import create_from_cards, load_local_contact, load_local_contacts
from people.contents.fields import remote_fields
from people.contents.merge import NO_BASES, Sides, merge
from people.importing.groups import awaiting_groups, forget_awaited
from people.importing.matches import person_sort_keys
from people.models import AwaitedMember, Group, Person
from people.services.groups import put_members
from people.services.people import restore_person
from people.services.person_writer import PersonWriter
from people.services.plan_limits import check_plan
from people.vcard import CardText, VCardError
from people.vcard.card import uid_key, uid_spellings
from people.vcard.line_merge import without_photo

# With how many people of its name a new card is compared.
_MAX_NAMESAKES = 20


def put_card(*, book: BookResource, name: str, sent: PutCard, conditions: Conditions) -> tuple[bool, str | None]:
    """Write the card of a person. Returns whether it made a new one, and the ETag if GET gives the same bytes back
    (RFC 6352, 6.3.2.3). Raises DavStatusError (412, conflicts of UIDs, the plan's limit).

    Under the account's lock, so that nothing comes between the conditions and the write.
    """
    device = book.device
    if device.has_group_cards:
        sent = without_groups(sent)
    photo = NO_PHOTO if sent.picture is None else _examine_photo(book, name, sent.picture, conditions)
    with open_put(book=book, name=name, sent=sent, conditions=conditions, photo=photo) as put:
        row, is_made, etag_before = put.row, False, ""
        try:
            if row is None or put.is_new:
                row, is_made = _create_card(put, row)
            else:
                etag_before = str(getattr(row, book.etag_column))
                row = _change_card(put, row, conditions)
        except PlanLimitError as error:
            raise DavStatusError(507, words=error.message) from error
        except DomainError as error:
            raise DavStatusError(403, card_name("valid-address-data"), error.message) from error
        except VCardError as error:
            raise DavStatusError(403, card_name("valid-address-data"), error.text) from error
        record_properties(device, names_in(sent.source))
        etag = finish_put(put, row, etag_before, is_first=is_made)
        advance_book(device.owner, row)
        return put.is_new, etag


def _examine_photo(book: BookResource, name: str, picture: bytes, conditions: Conditions) -> PutPhoto:
    """Before the lock: decoding takes long. A picture that is another's by then is decided by the conditions."""
    book.bring_up_to_date()
    row = find_named_row(book.device.owner, name)
    former = _texts_of(book.device, row, conditions)[1].photo if row and member_of(book, row) else ""
    return examine_photo(owner_id=book.device.owner.pk, picture=picture, former=former)


def _texts_of(device: Credentials, row: BookCard, conditions: Conditions) -> tuple[CardText, ClientCard]:
    """The text of the card as it is now, and what the device's card is a change of."""
    current = CardText(unpack(row.text))
    return current, find_client_card(device, row, current, conditions)


def _change_card(put: CardWrite, row: BookCard, conditions: Conditions) -> BookCard:
    """Apply the change of a card that is in the book. Raises DavStatusError (412, conflicts of UIDs)."""
    current, base = _texts_of(put.device, row, conditions)
    check_uid(put, row)
    if row.person_id is None:
        raise DavStatusError(403, card_name("valid-address-data"), WRONG_KIND)
    return apply_edit(put, row, current, base, with_uid(put.sent, row.uid))


def _create_card(put: CardWrite, former: BookCard | None) -> tuple[BookCard, bool]:
    """Make the person of a new card; or find it again, in the trash by its UID, or active with the same content.

    Returns the card, and whether it was made.
    """
    owner, write = put.owner, put.write
    sent = put.sent if put.sent.uid else with_uid(put.sent, put.name.removesuffix(".vcf") or put.name)
    uid = str(sent.uid)
    matches = _find_matches(put, sent)
    if matches.by_uid and (person := _find_by_uid(put, uid)) is not None:
        person = restore_person(owner=owner, person=person, now=write.now)
        return _come_again(put, person, sent, former), False
    if matches.by_name and (same := _find_same(put, sent)) is not None:
        return _come_again(put, same, sent, former), False
    check_plan(owner, "people")
    card = without_photo(sent.card, is_stored_elsewhere=True)
    (contact,) = create_from_cards(owner, write, [(card, put.photo.jpeg)])
    person = contact.person
    if former is not None:
        former.delete()
    text = sent.text if put.photo.jpeg else with_photo_of(sent.text, "")
    source = sent.source if text == sent.text else CardText(text)
    row = BookCard(owner=owner, person=person, name=put.name, uid=uid, left_revision=write.revision)
    row.read_revision = write.revision - 1
    row.changed_revision = row.plain_changed_revision = write.revision
    row.photo, row.original = person.photo or "", put.photo.confirm_original(owner.pk)
    set_text(row, text)
    is_joined = _join_selection(put.device, write, person)
    is_joined |= matches.by_groups and _join_awaiting_groups(put, person, uid)
    if is_joined or card.categories:
        contact = load_local_contact(owner, person.pk)  # with the groups that it has joined
    row = store_new(owner, row, source, contact)
    record_selected(put.device, row, write.revision)
    return row, True


def _join_awaiting_groups(put: CardWrite, person: Person, uid: str) -> bool:
    """Put the person into the groups that wait for this UID; returns whether there are any."""
    awaiting = awaiting_groups(put.owner, [uid])
    for group in awaiting.get(uid_key(uid), ()):
        put_members(group, [person.pk], put.write.now)
    if awaiting:
        forget_awaited(put.owner, awaiting)
    return bool(awaiting)


def _come_again(put: CardWrite, person: Person, sent: PutCard, former: BookCard | None) -> BookCard:
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
    _join_selection(put.device, write, person)
    refresh_people(owner, [person.pk])
    row = BookCard.objects.owned_by(owner).in_book().filter(person=person).first()
    if row is None:
        raise uid_conflict(put, None)
    rename_card(row, put.name, write)
    record_selected(put.device, row, write.revision)
    current, base = _texts_of(put.device, row, Conditions(None, frozenset()))
    apply_edit(put, row, current, base, sent, is_stored_as_sent=True)
    # Last: a group that waits is nothing that the card says.
    if _join_awaiting_groups(put, person, str(sent.uid)):
        refresh_people(owner, [person.pk])
    return BookCard.objects.owned_by(owner).get(pk=row.pk)


def _join_selection(device: Credentials, write: AccountWrite, person: Person) -> bool:
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


class _Matches(NamedTuple):
    """What the account has of a card that comes: somebody with its UID, or a group card with that; somebody active of
    its name; groups that wait for its UID."""

    by_uid: bool
    by_name: bool
    by_groups: bool


def _find_matches(put: CardWrite, sent: PutCard) -> _Matches:
    """In one statement: of most new cards the account has nothing."""
    uid = str(sent.uid)
    found = _matches.rows(
        owner_id=put.owner.pk,
        uids=sorted(uid_spellings(uid)),
        uid_key=uid_key(uid),
        sort_keys=sorted(person_sort_keys(sent.card)),
    )
    return _Matches(*map(bool, found[0]))


@compiled_query
def _matches(owner_id: UUID, uids: Sequence[str], uid_key: str, sort_keys: Sequence[bytes]) -> Rows:
    people = Person.objects.owned_by(owner_id)
    by_uid = Exists(people.filter(uid__in=uids)) | Exists(_group_cards(owner_id, uids))
    by_name = Exists(people.active().filter(sort_key__in=sort_keys))
    by_groups = Exists(AwaitedMember.objects.owned_by(owner_id).filter(uid_key=uid_key))
    # An account whose device writes has a book.
    book = Book.objects.owned_by(owner_id).annotate(by_uid=by_uid, by_name=by_name, by_groups=by_groups)
    return book.values_list(*_Matches._fields)


def _find_by_uid(put: CardWrite, uid: str) -> Person | None:
    """The person in the trash with this UID, who was deleted last. Raises DavStatusError if an active one, or a group
    card, has it."""
    spellings = sorted(uid_spellings(uid))
    if group := _group_cards(put.owner.pk, spellings).order_by("id").first():
        raise uid_conflict(put, group)
    people = sorted(
        Person.objects.owned_by(put.owner).filter(uid__in=spellings).order_by("id"),
        key=lambda person: (person.deleted_at is not None, -(person.deleted_at or put.write.now).timestamp()),
    )
    if people and people[0].deleted_at is None:
        raise uid_conflict(put, put.book.cards().filter(person=people[0]).first())
    return people[0] if people else None


def _group_cards(owner_id: UUID, uids: Sequence[str]) -> BookCardQuerySet:
    return BookCard.objects.owned_by(owner_id).in_book().filter(is_group=True, uid__in=uids)


def _find_same(put: CardWrite, sent: PutCard) -> Person | None:
    """An active person with the content of the card. Photos are not compared: programs encode them anew."""
    remote = {**remote_fields(sent.card), "photo": None}
    for contact in load_local_contacts(put.owner, _namesakes(put, person_sort_keys(sent.card))).values():
        sides = Sides({**contact.fields, "photo": None}, remote)
        merged = merge(NO_BASES, sides)
        if not merged.conflicts and merged.target == sides:
            return contact.person
    return None


def _namesakes(put: CardWrite, sort_keys: Collection[bytes]) -> list[UUID]:
    """The active people of this name whom the device gets, up to _MAX_NAMESAKES."""
    rows = BookCard.objects.owned_by(put.owner).in_book().filter(is_group=False)
    rows = rows.filter(person__sort_key__in=sort_keys, person__deleted_at=None)
    return list(only_selected(put.device, rows).order_by("id").values_list("person_id", flat=True)[:_MAX_NAMESAKES])
