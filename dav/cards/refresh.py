"""Keeps the cards of a book up to date with the account's people, before a device reads them.

Nothing is written for accounts without devices, and no write of the account waits for this. A request of a device first
brings the cards up to the account's revision: the people and groups that have changed since are found by their
revisions, their texts are computed without any lock, and each batch is stored in a short transaction. A process that is
killed in between leaves texts that are right, and a book that says that there is more to read.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import Exists
from django.db.models.functions import Greatest
from django.utils import timezone

from accounts.feed.cursor import is_of_epoch
from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from contacts_project.kernel.ownership.account_lock import AccountGoneError, account_lock
from dav.cards.builder import Change, build_groups, build_people, build_person
from dav.cards.client_state import keep_former_texts
from dav.models import Book, BookCard, BookCardQuerySet
from people.contents.contact import LocalContact
from people.models import Group, Membership, Person
from people.vcard import CardText

_BATCH_SIZE = 200
_WRITTEN_COLUMNS = (
    *("uid", "text", "photo", "original", "etag", "plain_etag", "group_ids", "left_revision"),
    *("read_revision", "changed_revision", "plain_changed_revision", "updated_at"),
)


def refresh(owner: User) -> Book:
    """Bring the cards up to the revision of `owner`, and return the book.

    `owner` must have been read before: what is written afterwards has a higher revision, and is read next time.
    Raises AccountGoneError.
    """
    book = Book.objects.owned_by(owner).first()
    if book is None:
        with account_lock(owner):
            Book.objects.bulk_create([Book(owner=owner)], ignore_conflicts=True)
            book = Book.objects.owned_by(owner).get()
    if book.read_revision < owner.revision:
        # After the restore of a backup the revisions of before may mean something else: devices list everything again.
        is_new = not is_of_epoch(book.read_revision, owner.revision)
        changed, plain_changed = is_new, is_new
        groups: set[UUID] = set()
        for batch in _batches(_changed_people(owner, book.read_revision)):
            for change in store(owner, list(build_people(owner, batch, groups))):
                changed |= change.card.changed_revision == owner.revision
                plain_changed |= change.card.plain_changed_revision == owner.revision
        removed = _leave_without_person(owner, groups)
        for batch in _batches(_changed_groups(owner, book.read_revision, groups)):
            plain_changed |= bool(store(owner, list(build_groups(owner, batch))))
        removed |= _leave(BookCard.objects.owned_by(owner).in_book().filter(group=None, is_group=True), owner)
        _finish(owner, changed=changed or removed, plain_changed=plain_changed or removed)
        book = Book.objects.owned_by(owner).first()
        if book is None:
            raise AccountGoneError
    return book


def refresh_people(owner: User, person_ids: Sequence[UUID]) -> None:
    """Bring the cards of these people, and of their groups, up to what the open write has changed.

    `owner.revision` must be that of the write. The book still has to be read up to it: others may be changed, too.
    """
    groups: set[UUID] = set()
    if store(owner, list(build_people(owner, person_ids, groups))):
        record_changed_card(owner.pk, owner.revision)
    refresh_groups(owner, sorted(groups))


def refresh_person(owner: User, row: BookCard, source: CardText, contact: LocalContact) -> BookCard:
    """The same for the person whom the open write has changed, with the text of the stored card as it was just parsed.
    Returns the card as it is then. `advance_book` is still to be called."""
    groups: set[UUID] = set()
    change = build_person(owner, contact, row, groups, source)
    if change is not None and store(owner, [change]):
        row = change.card
    refresh_groups(owner, sorted(groups))
    return row


def refresh_groups(owner: User, group_ids: Sequence[UUID]) -> None:
    """The same for the cards of groups."""
    if group_ids and store(owner, list(build_groups(owner, group_ids))):
        record_changed_card(owner.pk, owner.revision)


def store_new(owner: User, row: BookCard, source: CardText, contact: LocalContact) -> BookCard:
    """Store the card of a person whom the open write has made, and return it as it is stored: the text that came, with
    what the person has beyond that. It is not in the book where the person is not. `advance_book` is still to be
    called."""
    groups: set[UUID] = set()
    change = build_person(owner, contact, row, groups, source)
    card = change.card if change else row
    BookCard.objects.bulk_create([card])
    refresh_groups(owner, sorted(groups))
    return card


def record_changed_card(owner_id: UUID, revision: int) -> None:
    """Note that a card has changed at the revision of the open write, so that devices ask for it."""
    _book.update({"changed_revision": revision, "plain_changed_revision": revision}, owner_id=owner_id)


@compiled_query
def _book(owner_id: UUID) -> Rows:
    return Book.objects.owned_by(owner_id)


@compiled_query
def _book_of_one_change(owner_id: UUID, person_id: UUID, revision: int, before: int) -> Rows:
    others = Person.objects.owned_by(owner_id).filter(revision=revision).exclude(pk=person_id)
    groups = Group.objects.owned_by(owner_id).filter(revision=revision)
    return Book.objects.owned_by(owner_id).filter(~Exists(others), ~Exists(groups), read_revision=before)


def advance_book(owner: User, card: BookCard) -> None:
    """Note at the end of a write that has put the card of a person whether it has changed, and that the book is read up
    to this write, unless it has changed others, too. Without that a device that puts many cards would read its own
    write before each."""
    revision, new = owner.revision, {"read_revision": owner.revision}
    if is_changed := revision in {card.changed_revision, card.plain_changed_revision}:
        new |= {"changed_revision": revision, "plain_changed_revision": revision}
    of_person: dict[str, Any] = {"owner_id": owner.pk, "person_id": card.person_id}
    is_noted = _book_of_one_change.update(new, **of_person, revision=revision, before=revision - 1)
    if is_changed and not is_noted:
        record_changed_card(owner.pk, revision)


def _finish(owner: User, *, changed: bool, plain_changed: bool) -> None:
    """Note that the book is read up to the revision. Another process may have read further meanwhile."""
    revision = owner.revision
    values = {"read_revision": Greatest("read_revision", revision)}
    if changed:
        values["changed_revision"] = Greatest("changed_revision", revision)
    if plain_changed:
        values["plain_changed_revision"] = Greatest("plain_changed_revision", revision)
    Book.objects.owned_by(owner).update(**values)


def _changed_people(owner: User, since: int) -> Iterator[UUID]:
    """The people whose card may have changed after the revision `since`, themselves or by a group's name."""
    if since < 0:
        yield from Person.objects.owned_by(owner).active().order_by().values_list("pk", flat=True).iterator()
        return
    changed = Person.objects.owned_by(owner).filter(revision__gt=since)
    yield from changed.order_by().values_list("pk", flat=True).iterator()
    groups = Group.objects.owned_by(owner).filter(revision__gt=since)
    members = Membership.objects.owned_by(owner).filter(group__in=groups.values("pk"), person__revision__lte=since)
    yield from members.order_by().values_list("person_id", flat=True).distinct().iterator()


def _batches(ids: Iterable[UUID]) -> Iterator[list[UUID]]:
    iterator = iter(ids)
    while batch := list(islice(iterator, _BATCH_SIZE)):
        yield batch


def _changed_groups(owner: User, since: int, found: Collection[UUID]) -> Iterator[UUID]:
    """The groups whose card may have changed: themselves, or in the people `found` in them before or now."""
    if since < 0:
        yield from Group.objects.owned_by(owner).active().order_by().values_list("pk", flat=True).iterator()
        return
    changed = set(Group.objects.owned_by(owner).filter(revision__gt=since).order_by().values_list("pk", flat=True))
    yield from sorted(changed.union(found))


def _leave_without_person(owner: User, changed_groups: set[UUID]) -> bool:
    """Take cards out of the book whose people were removed for good; returns whether there were any."""
    gone = BookCard.objects.owned_by(owner).in_book().filter(person=None, is_group=False)
    for group_ids in gone.values_list("group_ids", flat=True):
        changed_groups |= {UUID(hex=key) for key in group_ids}
    return _leave(gone, owner)


def _leave(cards: BookCardQuerySet, owner: User) -> bool:
    revision = owner.revision
    return cards.update(left_revision=revision, read_revision=revision, updated_at=timezone.now()) > 0


def store(owner: User, changes: list[Change]) -> list[Change]:
    """Write the changes that nobody else has written meanwhile; returns them."""
    if not changes:
        return []
    with account_lock(owner):
        known = {change.card.pk for change in changes if change.before is not None}
        current = BookCard.objects.owned_by(owner).filter(pk__in=known).values_list("pk", "read_revision")
        read = dict(current)
        # A card that was read by another process since then is at least as new as ours.
        written = [c for c in changes if c.before is None or read.get(c.card.pk) == c.before.read_revision]
        keep_former_texts(owner, [c.before for c in written if c.before is not None])
        new = _of_present_subjects(owner, [c.card for c in written if c.before is None])
        _avoid_taken_names(owner, new)
        BookCard.objects.bulk_create(new, ignore_conflicts=True)
        changed = [c.card for c in written if c.before is not None]
        if changed:
            BookCard.objects.owned_by(owner).bulk_update(changed, _WRITTEN_COLUMNS)
    return written


def _of_present_subjects(owner: User, new: Sequence[BookCard]) -> list[BookCard]:
    """Those of these new cards whose person or group was not removed for good meanwhile."""
    if not new:
        return []
    person_ids = [card.person_id for card in new if card.person_id]
    group_ids = [card.group_id for card in new if card.group_id]
    present = set(Person.objects.owned_by(owner).filter(pk__in=person_ids).values_list("pk", flat=True))
    present.update(Group.objects.owned_by(owner).filter(pk__in=group_ids).values_list("pk", flat=True))
    return [card for card in new if (card.person_id or card.group_id) in present]


def _avoid_taken_names(owner: User, new: Sequence[BookCard]) -> None:
    """Give other names to new cards whose usual name a device has given to the card of somebody else."""
    names = [card.name for card in new]
    # Without the cards of these people and groups themselves, which another process may have made meanwhile.
    others = BookCard.objects.owned_by(owner).filter(name__in=names)
    subjects = {card.person_id or card.group_id for card in new}
    taken = {
        name
        for name, person_id, group_id in others.values_list("name", "person_id", "group_id")
        if (person_id or group_id) not in subjects
    }
    for card in new:
        if card.name in taken:
            card.name = f"{card.name.removesuffix('.vcf')}-{card.pk.hex}.vcf"
