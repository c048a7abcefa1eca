"""The known cards of the book by the key of their href, and how a listing differs from them."""

import datetime as dt
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import QuerySet

from carddav.client import Changes, Entry, same_etag
from carddav.models import Connection, Mapping, MappingStatus, OtherCard, PendingImport, Todo, Tombstone, TombstoneState


@dataclass(frozen=True, slots=True)
class KnownCard:
    """A card that was in the book before. `kind` is mapping, pending, tombstone or other; `state` is the row's own."""

    kind: str
    row_id: UUID
    href: str
    etag: str | None
    state: str = ""
    person_id: UUID | None = None
    written_at: dt.datetime | None = None


@dataclass(slots=True)
class Index:
    """All known cards. `todo` are cards that a listing named and that were not fetched yet."""

    cards: dict[str, KnownCard] = field(default_factory=dict)
    todo: dict[str, Entry] = field(default_factory=dict)
    other_keys: set[str] = field(default_factory=set)

    @property
    def mapped(self) -> list[KnownCard]:
        return [known for known in self.cards.values() if known.kind == "mapping"]


_COLUMNS = ("href_key", "pk", "href", "etag")


def load_index(connection: Connection) -> Index:
    """Read the index, without the texts of the cards."""
    index, of_book = Index(), {"connection": connection.pk}
    owner = connection.owner_id
    tombstones = Tombstone.objects.owned_by(owner).filter(**of_book).exclude(state=TombstoneState.GONE)
    others = OtherCard.objects.owned_by(owner).filter(**of_book)
    pending = PendingImport.objects.owned_by(owner).filter(**of_book)
    mappings = Mapping.objects.owned_by(owner).filter(**of_book).exclude(remote_raw="")
    found = (
        ("tombstone", tombstones.values_list(*_COLUMNS, "state", "person_id")),
        ("other", others.values_list(*_COLUMNS, "kind")),
        ("pending", pending.values_list(*_COLUMNS)),
        # Last: a mapped card may also have a row of another kind, and the mapping wins.
        ("mapping", mappings.values_list(*_COLUMNS, "status", "person_id", "updated_at")),
    )
    for kind, rows in found:
        for key, row_id, href, etag, *rest in rows:
            index.cards[key] = KnownCard(kind, row_id, href or "", etag, *rest)
            if kind == "other":
                index.other_keys.add(key)
    listed = _todo(connection).values_list("href_key", "href", "etag")
    index.todo = {key: Entry(href, key, etag) for key, href, etag in listed}
    return index


def has_todo(connection: Connection) -> bool:
    """Whether cards that an earlier listing named are still to be fetched."""
    return _todo(connection).exists()


def _todo(connection: Connection) -> QuerySet[Todo]:
    return Todo.objects.owned_by(connection.owner_id).filter(connection=connection.pk)


@dataclass(slots=True)
class ListingDiff:
    """A listing compared with the index, by key: cards to fetch, known cards that are missing, and known cards that are
    listed with their known ETag."""

    to_fetch: dict[str, Entry]
    missing: dict[str, KnownCard]
    unchanged: list[KnownCard]

    def is_undeclared_full_listing(self, since: dt.datetime | None) -> bool:
        """Whether a card is listed as changed though nobody has touched it since `since`: the server has forgotten the
        token and lists everything without saying so."""
        return since is not None and any(known.written_at and known.written_at < since for known in self.unchanged)


def diff_listing(index: Index, changes: Changes) -> ListingDiff:
    """Compare a listing with the index. Cards with their known ETag, such as our own writes, are not fetched."""
    to_fetch, unchanged = dict(index.todo), []
    listed = {entry.key for entry in changes.changed}
    for entry in changes.changed:
        known = index.cards.get(entry.key)
        if known is None or _is_changed(known, entry):
            to_fetch[entry.key] = entry
        else:
            unchanged.append(known)
    gone = index.cards.keys() - listed if changes.is_full else {entry.key for entry in changes.removed} - listed
    missing = {key: index.cards[key] for key in sorted(gone) if key in index.cards}
    # A card in Todo that has vanished meanwhile must not be fetched again in every run.
    for key in gone | ({*index.todo} - listed if changes.is_full else set()):
        to_fetch.pop(key, None)
    return ListingDiff(to_fetch, missing, unchanged)


def _is_changed(known: KnownCard, entry: Entry) -> bool:
    if known.kind == "mapping" and known.state == MappingStatus.HELD:
        return True  # its deletion is held as a conflict: the card is back
    return entry.etag is None or not same_etag(known.etag, entry.etag)
