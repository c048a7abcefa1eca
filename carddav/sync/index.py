"""The index of the book: its cards at the last sync by the key of their href, and how a listing differs from them."""

import datetime as dt
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import QuerySet

from carddav.models import Connection, Mapping, MappingStatus, OtherCard, PendingImport, Todo, Tombstone, TombstoneState
from contacts_project.kernel.webdav.etags import same_etag
from contacts_project.kernel.webdav.shapes import Listing, ListingEntry


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A card of the book at the last sync, from the row of its `kind`: mapping, pending, tombstone or other. `state` is
    the row's own."""

    kind: str
    pk: UUID
    href: str
    etag: str | None
    state: str = ""
    person_id: UUID | None = None
    written_at: dt.datetime | None = None


@dataclass(slots=True)
class Index:
    """All cards of the book at the last sync. `todo` are cards that a listing named and that were not fetched yet."""

    cards: dict[str, IndexRow] = field(default_factory=dict)
    todo: dict[str, ListingEntry] = field(default_factory=dict)
    other_keys: set[str] = field(default_factory=set)

    @property
    def mapped(self) -> list[IndexRow]:
        return [row for row in self.cards.values() if row.kind == "mapping"]


_COLUMNS = ("href_key", "pk", "href", "etag")


def load_index(connection: Connection) -> Index:
    """Read the index, without the texts of the cards."""
    index, of_book = Index(), {"connection": connection.pk}
    owner = connection.owner_id
    tombstones = Tombstone.objects.owned_by(owner).filter(**of_book).exclude(state=TombstoneState.GONE)
    others = OtherCard.objects.owned_by(owner).filter(**of_book)
    pending = PendingImport.objects.owned_by(owner).filter(**of_book)
    mappings = Mapping.objects.owned_by(owner).filter(**of_book).exclude(remote_raw="")
    sources = (
        ("tombstone", tombstones.values_list(*_COLUMNS, "state", "person_id")),
        ("other", others.values_list(*_COLUMNS, "kind")),
        ("pending", pending.values_list(*_COLUMNS)),
        # Last: a mapped card may also have a row of another kind, and the mapping wins.
        ("mapping", mappings.values_list(*_COLUMNS, "status", "person_id", "updated_at")),
    )
    for kind, rows in sources:
        for key, pk, href, etag, *rest in rows:
            index.cards[key] = IndexRow(kind, pk, href or "", etag, *rest)
            if kind == "other":
                index.other_keys.add(key)
    listed = _todo(connection).values_list("href_key", "href", "etag")
    index.todo = {key: ListingEntry(href, key, etag) for key, href, etag in listed}
    return index


def has_todo(connection: Connection) -> bool:
    """Whether cards that an earlier listing named are still to be fetched."""
    return _todo(connection).exists()


def _todo(connection: Connection) -> QuerySet[Todo]:
    return Todo.objects.owned_by(connection.owner_id).filter(connection=connection.pk)


@dataclass(slots=True)
class ListingDiff:
    """A listing compared with the index, by key: cards to fetch, cards of the index that are missing, and those
    listed with the ETag that they have there."""

    to_fetch: dict[str, ListingEntry]
    missing: dict[str, IndexRow]
    unchanged: list[IndexRow]

    def is_undeclared_full_listing(self, since: dt.datetime | None) -> bool:
        """Whether a card is listed as changed though nobody has touched it since `since`: the server has forgotten the
        token and lists everything without saying so."""
        return since is not None and any(row.written_at and row.written_at < since for row in self.unchanged)


def diff_listing(index: Index, listing: Listing) -> ListingDiff:
    """Compare a listing with the index. Cards with the ETag of the index, such as our own writes, are not
    fetched."""
    to_fetch, unchanged = dict(index.todo), []
    listed = {entry.key for entry in listing.changed}
    for entry in listing.changed:
        row = index.cards.get(entry.key)
        if row is None or _is_changed(row, entry):
            to_fetch[entry.key] = entry
        else:
            unchanged.append(row)
    gone = index.cards.keys() - listed if listing.is_full else {entry.key for entry in listing.removed} - listed
    missing = {key: index.cards[key] for key in sorted(gone) if key in index.cards}
    # A card in Todo that has vanished meanwhile must not be fetched again in every run.
    for key in gone | ({*index.todo} - listed if listing.is_full else set()):
        to_fetch.pop(key, None)
    return ListingDiff(to_fetch, missing, unchanged)


def _is_changed(row: IndexRow, entry: ListingEntry) -> bool:
    if row.kind == "mapping" and row.state == MappingStatus.HELD:
        return True  # its deletion is held as a conflict: the card is back
    return entry.etag is None or not same_etag(row.etag, entry.etag)
