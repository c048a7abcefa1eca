"""What an account has already of a card that a device puts as a new one (docs/dav.md, "Coming again")."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists

from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from dav.cards.sent import Sent
from dav.errors import DavError
from dav.models import Book, BookCard, BookCardQuerySet
from dav.resources.paths import member_path
from dav.selection import has_selection, only_selected
from dav.services.card_edit import PutCard
from dav.services.cards_of_devices import UID_TAKEN
from dav.xml import card as card_name
from dav.xml import href
from people.contents.contact import load_local_contacts
from people.contents.fields import remote_fields
from people.contents.merge import NO_BASES, Sides, merge
from people.importing.known import name_key, uid_key, uid_spellings
from people.models import AwaitedMember, Person

# With how many people of its name a new card is compared.
_MAX_NAMESAKES = 20


class Known(NamedTuple):
    """What the account has of a card that comes: somebody with its UID, or a group card with that; somebody active of
    its name; groups that wait for its UID."""

    by_uid: bool
    by_name: bool
    by_groups: bool


def find_known(put: PutCard, sent: Sent) -> Known:
    """In one statement: of most new cards the account has nothing."""
    uid = str(sent.uid)
    found = _known.rows(
        owner_id=put.owner.pk, uids=sorted(uid_spellings(uid)), uid_key=uid_key(uid), sort_key=name_key(sent.card)
    )
    return Known(*map(bool, found[0]))


@compiled_query
def _known(owner_id: UUID, uids: Sequence[str], uid_key: str, sort_key: bytes) -> Rows:
    people = Person.objects.owned_by(owner_id)
    by_uid = Exists(people.filter(uid__in=uids)) | Exists(_group_cards(owner_id, uids))
    by_name = Exists(people.active().filter(sort_key=sort_key))
    by_groups = Exists(AwaitedMember.objects.owned_by(owner_id).filter(uid_key=uid_key))
    # An account whose device writes has a book.
    book = Book.objects.owned_by(owner_id).annotate(by_uid=by_uid, by_name=by_name, by_groups=by_groups)
    return book.values_list(*Known._fields)


def find_by_uid(put: PutCard, uid: str) -> Person | None:
    """The person in the trash with this UID, who was deleted last. Raises DavError if an active one, or a group card,
    has it."""
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


def uid_conflict(put: PutCard, other: BookCard | None) -> DavError:
    inner = href(member_path(put.book.path, other.name)) if other else ""
    return DavError(409, card_name("no-uid-conflict"), UID_TAKEN, inner)


def find_same(put: PutCard, sent: Sent) -> Person | None:
    """An active person with the content of the card. Photos are not compared: programs encode them anew."""
    remote = {**remote_fields(sent.card), "photo": None}
    for contact in load_local_contacts(put.owner, _namesakes(put, name_key(sent.card))).values():
        sides = Sides({**contact.fields, "photo": None}, remote)
        merged = merge(NO_BASES, sides)
        if not merged.conflicts and merged.target == sides:
            return contact.person
    return None


def _namesakes(put: PutCard, sort_key: bytes) -> list[UUID]:
    """The active people of this name whom the device gets, up to _MAX_NAMESAKES."""
    rows = _cards_of_name(put.owner.pk, sort_key)
    if has_selection(put.device):
        rows = only_selected(put.device, rows)
    return list(rows.values_list("person_id", flat=True)[:_MAX_NAMESAKES])


def _cards_of_name(owner_id: UUID, sort_key: bytes) -> BookCardQuerySet:
    rows = BookCard.objects.owned_by(owner_id).in_book().filter(is_group=False)
    return rows.filter(person__sort_key=sort_key, person__deleted_at=None).order_by("id")
