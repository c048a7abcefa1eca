"""Invariants of the cards of devices."""

from collections.abc import Iterable, Iterator
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q

from accounts.models import User
from contacts_project.kernel.invariants import invariant, iterate_chunks, iterate_ids
from contacts_project.kernel.ownership.account_lock import still_broken
from dav.cards.texts import etag_of, unpack, without_categories
from dav.models import Book, BookCard, Device, DeviceDeletion, FormerText, GivenCard, SelectedCard
from dav.selection import find_wrongly_selected
from people.mentions import may_be_mentioned
from people.models import Person

_HINT = "Devices read their book again from the start: delete the rows of dav_book of these accounts."


def _is_wrong(card: BookCard) -> bool:
    try:
        text = unpack(card.text)
    except Exception:  # noqa: BLE001 - whatever zlib and the decoder say of broken bytes
        return True
    plain = text if card.is_group else without_categories(text)
    etags = (etag_of(text, card.shown_photo), etag_of(plain, card.shown_photo))
    return (card.etag, card.plain_etag) != etags


@invariant("cards of address books have ETags that do not belong to their texts", hint=_HINT)
def find_wrong_etags() -> Iterator[object]:
    rows = BookCard.unscoped.rows().filter(left_revision=None)
    for chunk in iterate_chunks(rows):
        suspects = [(card.owner_id, card.pk) for card in chunk if _is_wrong(card)]
        yield from still_broken(suspects, lambda _, keys: [c.pk for c in rows.filter(pk__in=keys) if _is_wrong(c)])


@invariant("active people are missing in the address book of their devices, although it has been read", hint=_HINT)
def find_missing_cards() -> Iterator[object]:
    for book in Book.unscoped.rows().order_by("pk").iterator():
        suspects = [(book.owner_id, person_id) for person_id in _missing_people(book.owner_id)]
        yield from still_broken(suspects, lambda owner_id, _: _missing_people(owner_id))


def _missing_people(owner_id: UUID) -> Iterable[UUID]:
    """The people whom the book should have by now: those that have not changed since it was read."""
    read = Book.objects.owned_by(owner_id).values_list("read_revision", flat=True).first()
    cards = BookCard.objects.owned_by(owner_id).in_book().filter(person=OuterRef("pk"))
    people = Person.objects.owned_by(owner_id).active().filter(may_be_mentioned(), card_dav_sync_enabled=True)
    people = people.filter(revision__lte=read or -1)
    return people.exclude(Exists(cards)).values_list("pk", flat=True).iterator()


@invariant("devices have texts of cards that nobody has kept", hint=_HINT)
def find_lost_texts() -> Iterator[object]:
    former = FormerText.unscoped.rows().filter(card=OuterRef("card"), etag=OuterRef("etag"))
    given = GivenCard.unscoped.rows().exclude(etag=F("card__etag")).exclude(etag=F("card__plain_etag"))
    yield from given.exclude(Exists(former)).values_list("pk", flat=True).iterator()


@invariant("address books are read further than their accounts have been written", hint=_HINT)
def find_books_ahead() -> Iterator[object]:
    revision = User.objects.filter(pk=OuterRef("owner")).filter(revision__lt=OuterRef("read_revision"))
    yield from Book.unscoped.rows().filter(Exists(revision)).values_list("pk", flat=True).iterator()


@invariant("cards left the selection of a device before they came to it")
def find_impossible_times() -> Iterator[object]:
    yield from iterate_ids(SelectedCard.unscoped.rows().filter(left_revision__lt=F("entered_revision")))


@invariant("cards are shown to devices that do not get them, or hidden from those that do", hint=_HINT)
def find_wrong_selections() -> Iterator[object]:
    devices = Device.unscoped.rows().exclude(selected_by=None).select_related("owner", "token")
    for device in devices.order_by("pk").iterator():
        suspects = [(device.owner_id, card_id) for card_id in find_wrongly_selected(device)]
        again = devices.filter(pk=device.pk)
        yield from still_broken(suspects, lambda _, __: [c for d in again.all() for c in find_wrongly_selected(d)])  # noqa: B023 - called at once


@invariant("deletions by devices are noted from before their people, groups and interactions existed")
def find_early_deletions() -> Iterator[object]:
    subjects = ("person", "group", "interaction")
    before = Q(*((f"{subject}__created_at__gt", F("deleted_at")) for subject in subjects), _connector=Q.OR)
    yield from iterate_ids(DeviceDeletion.unscoped.rows().filter(before))


@invariant("cards of people and groups who were removed for good still have their texts")
def find_texts_of_nobody() -> Iterator[object]:
    # Those of groups go with the daily purge.
    gone = BookCard.unscoped.rows().filter(person=None, is_group=False)
    yield from iterate_ids(gone.exclude(etag="", text=b"", original=""))
    yield from iterate_ids(FormerText.unscoped.rows().filter(card__in=gone.values("pk")))
