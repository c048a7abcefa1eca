"""The address book and its cards (RFC 6352)."""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping, Sequence
from email.utils import format_datetime
from itertools import islice, starmap
from typing import ClassVar, Self
from uuid import UUID

from django.db.models import QuerySet
from django.utils.functional import cached_property

from accounts.models import User
from contacts_project.kernel.database.compiled_queries import Rows, compiled_query
from dav.authentication import BookColumns, Credentials
from dav.cards.refresh import refresh
from dav.cards.texts import (
    MAX_CARD_BYTES,
    MAX_IMAGE_BYTES,
    STORED_VERSION,
    group_in_40,
    in_version,
    length_with_photo,
    selected_lines,
    unpack,
    with_photo,
    with_revision,
    without_categories,
)
from dav.filters import COLLATIONS
from dav.models import Book, BookCard, BookCardQuerySet, CardRow, ListedAgain
from dav.resources.base import READ_PRIVILEGES, WRITE_PRIVILEGES, Properties, Resource
from dav.resources.uris import BOOK_NAME, Position, book_path, encode_token, is_card_name, member_path
from dav.selection import has_selection, is_selected, only_selected, refresh_selection
from dav.xml import card, cs, dav, tag, text
from people.models import StoredPhoto

CARD_TYPE = "text/vcard; charset=utf-8"
_SUPPORTED = "".join(
    tag(card("address-data-type"), attributes={"content-type": "text/vcard", "version": version})
    for version in ("3.0", "4.0")
)
#: The one property of a card that is made from its text.
LENGTH = dav("getcontentlength")
_FETCH_SIZE = 500
_LISTED_TOGETHER = 100
_COLUMNS = ("id", "name", "photo", "original", "etag", "plain_etag", "is_group")
_COLUMNS_WITH_TEXT = (*_COLUMNS, "text")
_TIMES = frozenset({dav("getlastmodified"), dav("creationdate")})
# Django's cached_property and not that of functools: up to Python 3.11 that holds one lock for all instances while it
# computes, and a request that waits for the database with it stops the one that has the database.


class BookResource(Resource):
    """The people of the account whom this device sees."""

    types = (dav("collection"), card("addressbook"))
    title, collection = "Contacts", BOOK_NAME
    reports = (
        card("addressbook-multiget"),
        card("addressbook-query"),
        dav("sync-collection"),
        dav("expand-property"),
    )

    @classmethod
    def of(cls, device: Credentials) -> Self:
        return cls(device, book_path(device.owner.pk))

    @cached_property
    def book(self) -> Book | BookColumns:
        """The account's book, brought up to date."""
        book = self.device.book
        is_current = book is not None and book.read_revision >= self.device.owner.revision
        return book if book is not None and is_current else refresh(self.device.owner)

    @property
    def revision(self) -> int:
        """The revision at which this device's cards last changed."""
        book = self.book
        changed = book.plain_changed_revision if self.device.has_group_cards else book.changed_revision
        device = self.device
        return max(changed, self.selection_revision, device.token.group_cards_revision, device.listed_again_revision)

    @cached_property
    def selection_revision(self) -> int:
        """The revision at which somebody last came to the selection of the device or left it, brought up to date."""
        _ = self.book
        return refresh_selection(self.device)

    @cached_property
    def listed_again(self) -> Mapping[UUID, ListedAgain]:
        """The cards that this device is told of again, by id."""
        if not self.device.listed_again_revision:
            return {}
        rows = ListedAgain.objects.owned_by(self.device.owner).filter(token=self.device.token).select_related("card")
        return {row.card_id: row for row in rows}

    @property
    def sync_token(self) -> str:
        return encode_token(self.device.owner.pk, Position(self.revision))

    @property
    def privileges(self) -> tuple[str, ...]:
        return READ_PRIVILEGES if self.device.is_read_only else WRITE_PRIVILEGES

    @property
    def etag_column(self) -> str:
        return "plain_etag" if self.device.has_group_cards else "etag"

    @property
    def changed_column(self) -> str:
        return "plain_changed_revision" if self.device.has_group_cards else "changed_revision"

    def cards(self) -> BookCardQuerySet:
        """The rows of the cards that this device sees, brought up to date, without their texts."""
        _ = self.selection_revision
        rows = self.only_seen(BookCard.objects.owned_by(self.device.owner).in_book())
        return only_selected(self.device, rows).defer("text")

    def only_seen(self, rows: BookCardQuerySet) -> BookCardQuerySet:
        """Those of the rows of cards that are of a kind which this device sees."""
        return rows if self.device.has_group_cards else rows.filter(is_group=False)

    def members(self, names: Collection[str] = ()) -> Iterator["CardResource"]:
        rows = self.cards().defer(None) if LENGTH in names else self.cards()
        found = rows.order_by("id").iterator(_FETCH_SIZE)
        while batch := list(islice(found, _FETCH_SIZE)):
            yield from self.card_resources(batch, names)

    def cards_of_names(self, names: Sequence[str], properties: Collection[str]) -> list[CardRow]:
        """Those of the cards with these names, with what these properties of them need."""
        if has_selection(self.device) or needs_times(properties):
            return list(read_rows(self.cards().filter(name__in=names), properties))
        _ = self.book
        found = read_named_rows(self.device.owner.pk, names)
        return list(found) if self.device.has_group_cards else [card for card in found if not card.is_group]

    def batches(
        self, rows: QuerySet[BookCard], size: int, properties: Collection[str], *, with_text: bool = True
    ) -> Iterator[list[CardRow]]:
        """These cards in the order of their ids, so many at a time. No statement is open in between, when what is given
        is noted: the texts that are left would all be read before that."""
        ids = list(rows.order_by("id").values_list("pk", flat=True))
        for start in range(0, len(ids), size):
            batch = rows.filter(pk__in=ids[start : start + size]).order_by("id")
            yield list(read_rows(batch, properties, with_text=with_text))

    def listing(self) -> Iterator[list[tuple[str, str]]]:
        """The names and the ETags of the cards, in batches, without their rows: many programs read them all at each
        sync."""
        again = {(row.card.name, row.etag): row.shown_etag for row in self.listed_again.values()}
        found = self.cards().order_by("id").values_list("name", self.etag_column).iterator(_FETCH_SIZE)
        while batch := list(islice(found, _LISTED_TOGETHER)):
            yield [(row[0], again.get(row, row[1])) for row in batch] if again else batch

    def card_resources(
        self, rows: Sequence[CardRow] | Sequence[BookCard], names: Collection[str]
    ) -> list["CardResource"]:
        """The cards of these rows, with what these properties of them need, read for all at once."""
        sizes: Mapping[str, int] = {}
        if LENGTH in names:
            files = {row.shown_photo for row in rows} - {""}
            stored = StoredPhoto.objects.filter(owner=self.device.owner, name__in=files, busy_until=None)
            sizes = dict(stored.values_list("name", "size"))
        return [CardResource(self, row, sizes.get(row.shown_photo)) for row in rows]

    def bring_up_to_date(self) -> None:
        """Read what others have written. Called before a write of the device: what it changes itself, while it is open,
        must not pass for read."""
        for name in ("book", "selection_revision"):
            self.__dict__.pop(name, None)
        _ = self.selection_revision

    def gets(self, row: BookCard) -> bool:
        """Whether the device gets this card, or would if it were in the book."""
        if not has_selection(self.device):
            return True
        _ = self.selection_revision
        return is_selected(self.device, row)

    def find(self, name: str) -> "CardResource | None":
        row = self.find_row(name)
        return CardResource(self, row) if row else None

    def find_row(self, name: str) -> BookCard | None:
        """The card of this name, if the device sees it."""
        if not is_card_name(name):
            return None
        if has_selection(self.device):
            return self.cards().filter(name=name).first()
        _ = self.book
        row = find_named_row(self.device.owner, name)
        if row is None or row.left_revision is not None or (row.is_group and not self.device.has_group_cards):
            return None
        return row

    PROPERTIES: ClassVar[Properties] = {
        **Resource.PROPERTIES,
        cs("getctag"): lambda r: text(r.sync_token),
        dav("sync-token"): lambda r: text(r.sync_token),
        card("addressbook-description"): lambda _: "People, with what a card can hold of them",
        card("supported-address-data"): lambda _: _SUPPORTED,
        card("supported-collation-set"): lambda _: "".join(tag(card("supported-collation"), n) for n in COLLATIONS),
        card("max-resource-size"): lambda _: str(MAX_CARD_BYTES),
        card("max-image-size"): lambda _: str(MAX_IMAGE_BYTES),
    }


class CardResource(Resource):
    """One card of the book."""

    types = ()

    def __init__(self, book: BookResource, row: BookCard | CardRow, picture_size: int | None = None) -> None:
        """`picture_size`: the number of bytes of its picture, if that is known."""
        super().__init__(book.device, member_path(book.path, row.name))
        self.book, self.row, self._picture_size = book, row, picture_size

    @property
    def stored_etag(self) -> str:
        """The ETag of the card, which stands for its text whatever the REV that this device is shown."""
        return self.row.plain_etag if self.device.has_group_cards else self.row.etag

    @property
    def etag(self) -> str:
        """Without quotes."""
        again = self._again
        return again.shown_etag if again else self.stored_etag

    @property
    def etags(self) -> tuple[str, str]:
        """The ETags by which the device may know the text: it differs in REV alone where it was told of it again."""
        return self.etag, self.stored_etag

    @property
    def _again(self) -> ListedAgain | None:
        if not self.book.listed_again:
            return None
        again = self.book.listed_again.get(self.row.pk)
        return again if again and again.etag == self.stored_etag else None

    @property
    def privileges(self) -> tuple[str, ...]:
        return self.book.privileges

    def text(self, version: str = STORED_VERSION, names: Mapping[str, bool] | None = None) -> str:
        """The card as the device gets it, with its picture. `names`: of dav.cards.texts.selected_lines."""
        return with_photo(self._without_picture(version, names), self.row.shown_photo)

    @property
    def length(self) -> int:
        """The number of bytes that GET sends. No picture is read for it if its size is known."""
        if self._picture_size is None:
            return len(self.text().encode())
        return length_with_photo(self._without_picture(STORED_VERSION, None), self._picture_size)

    def _without_picture(self, version: str, names: Mapping[str, bool] | None) -> str:
        """The same with the marker in place of the picture."""
        stored = unpack(self.row.text)
        shown = without_categories(stored) if self.device.has_group_cards and not self.row.is_group else stored
        if again := self._again:
            shown = with_revision(shown, again.revised)
        if self.row.is_group:
            shown = group_in_40(shown) if version != STORED_VERSION else shown
        else:
            shown = in_version(shown, version)
        if names:
            shown = selected_lines(shown, names)
        return shown

    PROPERTIES: ClassVar[Properties] = {
        **Resource.PROPERTIES,
        dav("getetag"): lambda r: f'"{r.etag}"',
        dav("getcontenttype"): lambda _: CARD_TYPE,
        dav("getlastmodified"): lambda r: format_datetime(r.row.updated_at.astimezone(dt.UTC), usegmt=True),
        dav("creationdate"): lambda r: r.row.created_at.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        LENGTH: lambda r: str(r.length),
    }


def needs_times(properties: Collection[str]) -> bool:
    """Whether one of these properties is a time, which few programs ask for."""
    return not _TIMES.isdisjoint(properties)


def read_rows(rows: QuerySet[BookCard], properties: Collection[str], *, with_text: bool = True) -> Iterator[CardRow]:
    """The cards of these rows, with what these properties are made from."""
    columns: tuple[str, ...] = _COLUMNS_WITH_TEXT if with_text else _COLUMNS
    if needs_times(properties):
        columns = (*_COLUMNS_WITH_TEXT, "updated_at", "created_at")
    return starmap(CardRow, rows.defer(None).values_list(*columns))


def find_named_row(owner: User, name: str) -> BookCard | None:
    """The card of this name, whether it is in the book or has left."""
    row: BookCard | None = _card_of_name.instance(owner_id=owner.pk, name=name)
    return row


@compiled_query
def _card_of_name(owner_id: UUID, name: str) -> Rows:
    return BookCard.objects.owned_by(owner_id).filter(name=name)


def read_named_rows(owner_id: UUID, names: Sequence[str]) -> Iterator[CardRow]:
    """The cards in the book with these names, groups included, without times."""
    return starmap(CardRow, _cards_of_names.values(owner_id=owner_id, names=names))


@compiled_query
def _cards_of_names(owner_id: UUID, names: Sequence[str]) -> Rows:
    return BookCard.objects.owned_by(owner_id).in_book().filter(name__in=names).values_list(*_COLUMNS_WITH_TEXT)
