"""How long is kept what devices need: texts while a device has them, tombstones of cards while a sync-token asks for
them, files of pictures while a card or text refers to them."""

import datetime as dt
from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from contacts_project.kernel.ownership.account_lock import AccountWrite, account_lock, account_write
from contacts_project.kernel.ownership.models import TOMBSTONE_RETENTION, OwnedQuerySet
from dav.cards.client_state import keep_former_texts
from dav.cards.refresh import record_changed_card
from dav.cards.texts import etag_of, pack, revised_at, unpack, without_members
from dav.models import BookCard, FormerText, GivenCard, ListedAgain, Refusal, ReplacedValue
from dav.services.history import PHOTO
from people.extensions import PersonExtension
from people.photos.files import delete_files, photo_paths
from people.vcard.card import uid_key

# Not an empty text, which former names of cards have.
_NO_UID = "-"
_BATCH_SIZE = 200
# Of the card of a group that loses members.
_GROUP_COLUMNS = (
    *("text", "etag", "plain_etag", "read_revision", "changed_revision", "plain_changed_revision"),
    "updated_at",
)


class CardsOfPeople(PersonExtension):
    """What devices know of people goes with them."""

    def before_removal(self, owner_id: UUID, person_ids: Collection[UUID]) -> Collection[str]:
        with account_write(owner_id) as write:
            cards = BookCard.objects.owned_by(owner_id).filter(person__in=person_ids)
            Refusal.objects.owned_by(owner_id).filter(person__in=person_ids).delete()
            replaced = ReplacedValue.objects.owned_by(owner_id).filter(person__in=person_ids, property=PHOTO)
            return {*replaced.values_list("value", flat=True), *_make_tombstones(write, list(cards))}


def _make_tombstones(write: AccountWrite, cards: Collection[BookCard]) -> set[str]:
    """Take everything from cards but the name, under which devices are told that they are gone.

    Returns the files that they referred to. A device that has such a card in its memory has only its ETag.
    """
    owner_id, ids = write.owner_id, [card.pk for card in cards]
    former = FormerText.objects.owned_by(owner_id).filter(card__in=ids)
    files = {*former.values_list("photo", flat=True), *(card.original for card in cards)} - {""}
    former.delete()
    GivenCard.objects.owned_by(owner_id).filter(card__in=ids).delete()
    ListedAgain.objects.owned_by(owner_id).filter(card__in=ids).delete()
    _leave_group_cards(write, [card for card in cards if not card.is_group])
    rows = BookCard.objects.owned_by(owner_id).filter(pk__in=ids)
    # Another process may have computed a text for the card already: with this revision it is not stored.
    rows.update(
        text=b"", uid=_NO_UID, photo="", original="", etag="", plain_etag="", group_ids=[], read_revision=write.revision
    )
    columns = ("left_revision", "changed_revision", "plain_changed_revision")
    values: dict[str, Any] = {**dict.fromkeys(columns, write.revision), "updated_at": write.now}
    if rows.filter(left_revision=None).update(**values):
        record_changed_card(owner_id, write.revision)
    return files


def _leave_group_cards(write: AccountWrite, cards: Iterable[BookCard]) -> None:
    """Take the people of these cards out of the texts of group cards, which keep members of whom nothing is known."""
    keys_of_group: dict[UUID, set[str]] = {}
    for card in cards:
        for key in card.group_ids:
            keys_of_group.setdefault(UUID(hex=key), set()).add(uid_key(card.uid))
    texts: dict[UUID, str] = {}
    changed: list[BookCard] = []
    for row in BookCard.objects.owned_by(write.owner_id).in_book().filter(group__in=keys_of_group):
        former = unpack(row.text)
        text = without_members(former, keys_of_group[row.group_id], revised=revised_at(write.now))  # type: ignore[index]
        if text != former:
            texts[row.pk] = text
            changed.append(row)
    if not changed:
        return
    keep_former_texts(write.owner_id, changed)
    for row in changed:
        row.text = pack(texts[row.pk])
        row.etag = row.plain_etag = etag_of(texts[row.pk], "")
        row.read_revision = row.changed_revision = row.plain_changed_revision = write.revision
        row.updated_at = write.now
    BookCard.objects.owned_by(write.owner_id).bulk_update(changed, _GROUP_COLUMNS)
    record_changed_card(write.owner_id, write.revision)


def owners_with_cards_of_nobody(now: dt.datetime) -> set[UUID]:
    return set(_of_nobody(BookCard.unscoped.rows()).values_list("owner_id", flat=True).distinct())


def blank_cards_of_nobody(owner_id: UUID, now: dt.datetime) -> int:
    """Blank the cards of what was removed for good, such as groups; returns their number. One write for each batch."""
    number = 0
    while True:
        with account_write(owner_id) as write:
            cards = list(_of_nobody(BookCard.objects.owned_by(owner_id))[:_BATCH_SIZE])
            delete_files(_make_tombstones(write, cards))
        if not cards:
            return number
        number += len(cards)


def _of_nobody(rows: QuerySet[BookCard]) -> QuerySet[BookCard]:
    return rows.filter(person=None, group=None).exclude(etag="")


def owners_with_texts_of_nobody(now: dt.datetime) -> set[UUID]:
    return set(_texts_without_device(FormerText.unscoped.rows()).values_list("owner_id", flat=True).distinct())


def drop_texts_of_nobody(owner_id: UUID, now: dt.datetime) -> int:
    """Remove former texts whose last device is gone, such as one whose password was revoked; returns their number."""
    # The lock keeps a device from being given one of them meanwhile.
    with account_lock(owner_id):
        rows = _texts_without_device(FormerText.objects.owned_by(owner_id))
        delete_files(list(rows.values_list("photo", flat=True)))
        return int(rows.delete()[0])


def _texts_without_device(rows: QuerySet[FormerText]) -> QuerySet[FormerText]:
    given = GivenCard.unscoped.rows().filter(card=OuterRef("card"), etag=OuterRef("etag"))
    return rows.filter(~Q(Exists(given)))


def owners_with_expired_tombstones(now: dt.datetime) -> set[UUID]:
    return set(_expired(BookCard.unscoped.rows(), now).values_list("owner_id", flat=True).distinct())


def purge_tombstones(owner_id: UUID, now: dt.datetime) -> int:
    """Remove cards that left the book before TOMBSTONE_RETENTION; returns their number.

    The card of a person who is in the trash, quiet or not synced keeps its name for the return, and stays.
    """
    rows = _expired(BookCard.objects.owned_by(owner_id), now)
    former = FormerText.objects.owned_by(owner_id).filter(card__in=rows.values("pk"))
    files = {*rows.values_list("original", flat=True), *former.values_list("photo", flat=True)}
    number = int(rows.delete()[1].get(BookCard._meta.label, 0))
    delete_files(files)
    return number


def _expired(rows: QuerySet[BookCard], now: dt.datetime) -> QuerySet[BookCard]:
    """Those of the rows of cards that have nobody: of people and groups removed for good, and former names."""
    gone = rows.filter(person=None, group=None, left_revision__isnull=False)
    return gone.filter(updated_at__lt=now - TOMBSTONE_RETENTION)


def find_referenced_files(owner_id: UUID, names: set[str]) -> set[str]:
    """Those of these file names that a card, a former text or a replaced value refers to."""
    originals = BookCard.objects.owned_by(owner_id).filter(original__in=names).values_list("original", flat=True)
    former = FormerText.objects.owned_by(owner_id).filter(photo__in=names).values_list("photo", flat=True)
    replaced = _replaced_photos(owner_id).filter(value__in=sorted(names))
    return {*originals, *former, *replaced.values_list("value", flat=True)}


def files_of_account(owner_id: UUID) -> list[str]:
    """The storage paths of all these files, for the deletion of the account."""
    originals = BookCard.objects.owned_by(owner_id).exclude(original="").values_list("original", flat=True)
    former = FormerText.objects.owned_by(owner_id).exclude(photo="").values_list("photo", flat=True)
    return photo_paths({*originals, *former, *_replaced_photos(owner_id).values_list("value", flat=True)})


def _replaced_photos(owner_id: UUID) -> OwnedQuerySet[ReplacedValue]:
    return ReplacedValue.objects.owned_by(owner_id).filter(property="photo")
